/* One put or get of a program, of any kind. */
#ifndef DIFFER_ACCESS_H
#define DIFFER_ACCESS_H

#include "differ.h"

enum kind { VAR, VAR1, VARA, VARS, VARM, VARN, VARD, NKINDS };
enum mode { ALONE, TOGETHER, POSTED, BUFFERED, NMODES };

/* How the memory is described. */
enum shape { TYPED, PLAIN, NO_TYPE, CONTIGUOUS, GAPS, IGNORED, WRONG, MIXED, NSHAPES };

enum { NEVER_SET = -77 }; /* a request's id */

struct access {
    int ncid, varid;
    struct differ_var *v;
    bool put;
    enum kind kind;
    enum mode mode;
    enum shape shape;
    int memory;
    MPI_Offset start[MAX_RANK], count[MAX_RANK], stride[MAX_RANK], imap[MAX_RANK];
    const MPI_Offset *pstart, *pcount, *pstride, *pimap;
    int num; /* of a list */
    MPI_Offset part[MOST][2][MAX_RANK], *starts[MOST], *counts[MOST];
    bool has_counts;
    bool odd; /* something is wrong with it */
    bool wild;
    int n, element[MOST], place[MOST];
    MPI_Offset bufcount;
    MPI_Datatype buftype, filetype;
    int request;
    unsigned char *buf, room[8 * (8 * MOST + 16)];
};

/* A random one, NULL if there is none to be had; freed with access_free. */
struct access *access_draw(bool put, bool posted);
void access_free(struct access *a);

/* Calls the function and writes that down. */
int access_run(struct access *a);

/* What a get has got, of elements for which `skip`, if given, is 0. */
void access_show(const struct access *a, const unsigned char *skip);

/* A put that returned `err` has reached the file. All processes. */
void access_written(struct access *a, int err);
void differ_records(void); /* asks for their number */

/* Writes down what a call or request returned. */
void access_came(const struct access *a, int err, const unsigned char *skip);

bool requests_pending(void);
bool requests_any(void);
bool requests_full(void);
/* Does it overlap one that is posted? There is no order between processes, and
 * PnetCDF 1.12 mixes up those of one. */
bool requests_overlap(const struct access *a);
void requests_mark(void);            /* all processes: brings `pending` up to date */
void requests_add(struct access *a); /* keeps it */

#endif
