/* Random programs of ncmpi_ calls, valid and not, that write down every call and what
 * came of it. The same program, linked with another library, should write the same:
 * dev/differ compares them. What the programs do depends on the seed and on what the
 * calls returned, and so is the same until the first difference. */
#ifndef DIFFER_H
#define DIFFER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pnetcdf.h"

enum {
    MAX_DIMS = 8,
    MAX_VARS = 10,
    MAX_RANK = 3, /* dimensions of a variable */
    MAX_RECORDS = 6,
    MOST = 6 * 6 * 6, /* elements of a variable whose values are followed */
    MAX_REQUESTS = 8
};

enum state { CLOSED, DEFINE, COLLECTIVE, INDEPENDENT, NSTATES };

/* A variable; `known` are the elements whose value in the file follows from the calls,
 * the same on all processes. */
struct differ_var {
    nc_type type;
    int ndims, dimids[MAX_RANK];
    MPI_Offset shape[MAX_RANK]; /* MAX_RECORDS where the dimension is unlimited */
    bool is_record, fresh;      /* not in the file yet? */
    int nelems;                 /* 0: too many to follow */
    unsigned char known[MOST];
    unsigned char pending[MOST]; /* puts that are posted */
};

struct differ {
    int rank, nprocs;
    uint64_t shared, own; /* the random numbers' states */
    FILE *out;
    enum state state;
    int ncid, format;
    bool writable, safe;
    char path[512], where[256];
    int ndims, nvars, natts, unlimited;
    MPI_Offset length[MAX_DIMS], numrecs; /* the least of all processes' */
    struct differ_var vars[MAX_VARS];
    int epoch;
};
extern struct differ d;

/* ---- random numbers: those all processes share, and this process's own ---- */
uint64_t draw(uint64_t n);
uint64_t draw_own(uint64_t n);
bool once_in(uint64_t n); /* shared */

/* ---- the transcript ---- */
void call(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the call returned. Returns it. */
int came(int err);
void put_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
void put_name(const char *name);
void done(void);
int simple(int err);      /* came() and done() */
bool everywhere(int err); /* NC_NOERR on all processes? */

/* ---- memory of a type ---- */
struct memory {
    const char *name; /* in the functions' names */
    MPI_Datatype type;
    int size;
};
enum { TEXT, NMEMORY = 12 };
extern const struct memory memories[NMEMORY];
void memory_put(void *to, int memory, int at, int value, bool wild);
void memory_show(const void *from, int memory, int at);
void external_show(const void *from, nc_type type, int n);
int memory_of(nc_type type); /* that holds it exactly; -1 for no type */
int external_size(nc_type type);

/* The function ncmpi_NAME; if there is none, the program ends. */
typedef void differ_function(void);
differ_function *function(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- arguments ---- */
int an_id(void);          /* of the dataset; at times a bad one */
int a_varid(bool global); /* at times a bad one */
int a_dimid(void);
const char *a_name(const char *what); /* at times one that may not be */

void look_records(MPI_Offset length); /* of the unlimited dimension */
void look(void);                      /* inquires everything and brings `d` up to date */

/* ---- what programs do ---- */
typedef void differ_step(void);
differ_step define_dim, define_var, define_fill, set_fill, fill_record, rename_dim,
    rename_var, put_att, get_att, other_att, end_define, again_define, ask_dataset,
    ask_var, ask_dim;
differ_step access_put, access_get, access_post, access_many, requests_wait,
    requests_cancel, requests_buffer, requests_ask;
void requests_forget(void);
void differ_file(const char *path); /* writes down what the file holds */

#endif
