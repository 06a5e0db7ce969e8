/* Random programs of ncmpi_ calls, valid and invalid, that record each call and its
 * results in a transcript. Linked with another library, the same program should write the
 * same transcript. dev/differ compares the transcripts. The steps of a program depend
 * only on the seed and on the results of its calls, so they are the same until the first
 * difference.
 *
 * differ.c has the main program and the steps that change the dataset's state. Other
 * steps are in differ_define.c (definitions and inquiries), differ_access.c (puts and
 * gets) and differ_requests.c (pending requests). differ_memory.c converts values, and
 * differ_file.c prints the file. */
#ifndef DIFFER_H
#define DIFFER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "api_calls.h"
#include "plan_slab.h"
#include "plan_value.h"
#include "pnetcdf.h"

enum {
    MAX_DIMS = 8,
    MAX_VARS = 10,
    MAX_RANK = 3, /* maximum number of dimensions per variable */
    MAX_RECORDS = 6,
    MOST = 6 * 6 * 6, /* maximum size of a variable whose values are tracked */
    MAX_REQUESTS = 8
};

enum state { CLOSED, DEFINE, COLLECTIVE, INDEPENDENT, NSTATES };

/* A variable. `known` marks the elements whose values in the file are determined by the
 * calls so far. It is the same on all processes. */
struct differ_var {
    nc_type type;
    int ndims, dimids[MAX_RANK];
    int64_t shape[MAX_RANK]; /* MAX_RECORDS for the unlimited dimension */
    bool is_record, fresh;   /* `fresh`: the definition is not in the file yet */
    int nelems;              /* 0 if there are too many elements to track */
    unsigned char known[MOST];
    unsigned char pending[MOST]; /* marks elements with pending puts by any process */
};

struct differ {
    int rank, nprocs;
    uint64_t shared, own; /* states of the random number generators */
    FILE *out;
    enum state state;
    int ncid, format;
    bool writable, safe;
    char path[512], where[256];
    int ndims, nvars, natts, unlimited;
    MPI_Offset length[MAX_DIMS], numrecs; /* numrecs is the minimum over all processes */
    struct differ_var vars[MAX_VARS];
    int epoch; /* counter from which put values are derived */
};
extern struct differ d;

/* ---- random numbers ---- */
uint64_t draw(uint64_t n);     /* returns a number below n that is the same on all
                                * processes */
uint64_t draw_own(uint64_t n); /* returns a number below n; differs between processes */
bool once_in(uint64_t n);      /* true with probability 1/n; same result on all
                                * processes */

/* ---- the transcript ---- */
void call(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the error code that a call returned, and returns the code. */
int came(int err);
void put_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
void put_name(const char *name);
void done(void);
int simple(int err);      /* calls came() and done() */
bool everywhere(int err); /* returns whether err is NC_NOERR on all processes */

/* ---- values in memory ---- */
/* Returns a value of a type in the file, which `memory` can represent exactly, or every
 * numeric type if `memory` is -1. It depends on `seed`, and is never NaN, which PnetCDF
 * converts to arbitrary integers. */
uint64_t value_draw(nc_type type, int memory, uint64_t seed);
/* Stores a value that value_draw has returned, or, if `wild` is set, sometimes a value
 * near the limits of integer types, which depends on `seed`. */
void memory_put(void *to, int memory, int at, nc_type type, uint64_t value, uint64_t seed,
                bool wild);
void memory_show(const void *from, int memory, int at);
void external_show(const void *from, nc_type type, int n);
int external_size(nc_type type); /* 0 if there is no such type */

/* Return the library's function ncmpi_NAME, or the attribute functions for a numeric type
 * in memory. */
const struct calls_row *function(const char *name);
const struct calls_att *att_function(int memory);

/* ---- arguments, some of which are invalid ---- */
int an_id(void); /* returns the dataset's id, or sometimes a wrong one */
int a_varid(bool global);
int a_dimid(void);
const char *a_name(const char *what);

void look_records(MPI_Offset length); /* sets d.numrecs and the shapes' lengths */
void look(void);                      /* queries all definitions and updates `d` */

/* ---- program steps ---- */
typedef void differ_step(void);
differ_step define_dim, define_var, define_fill, set_fill, fill_record, rename_dim,
    rename_var, put_att, get_att, other_att, end_define, again_define, ask_dataset,
    ask_var, ask_dim;
differ_step access_put, access_get, access_post, access_many, requests_wait,
    requests_cancel, requests_buffer, requests_ask;
void requests_forget(void);
void differ_file(const char *path); /* prints the contents of the file */

#endif
