/* Declares functions for random puts and gets of any kind, and for pending requests. Used
 * by differ_access.c and differ_requests.c. */
#ifndef DIFFER_ACCESS_H
#define DIFFER_ACCESS_H

#include "differ.h"

enum kind { VAR, VAR1, VARA, VARS, VARM, VARN, VARD, NKINDS };
enum mode { ALONE, TOGETHER, POSTED, BUFFERED, NMODES };

/* Describes how the buffer is specified: by the type of the function, or by an MPI type
 * and a count. */
enum shape { TYPED, PLAIN, NO_TYPE, CONTIGUOUS, GAPS, IGNORED, WRONG, MIXED, NSHAPES };

enum { NEVER_SET = -77 }; /* initial value of the request id */

struct access {
    int ncid, varid;
    struct differ_var *v;
    bool put;
    enum kind kind;
    enum mode mode;
    enum shape shape;
    int memory;
    int exact; /* type in memory that represents all values, unless they are wild; -1 if
                * every numeric type does */
    struct plan_slab slab;
    int64_t imap[PLAN_RANK];
    bool no_start, no_count, no_stride, no_imap; /* whether to pass NULL */
    int num;                                     /* number of pieces of a varn call */
    MPI_Offset part[MOST][2][MAX_RANK], *starts[MOST], *counts[MOST];
    bool has_counts;
    bool odd;  /* whether an argument is wrong, or the effect is not tracked */
    bool wild; /* whether some values are out of range */
    int n, element[MOST], place[MOST];
    MPI_Offset bufcount;
    MPI_Datatype buftype, filetype;
    int request;
    unsigned char *buf, room[8 * (8 * MOST + 16)];
};

/* Chooses a random access, which the caller must release with access_free. Returns NULL
 * if the variable that was chosen cannot be accessed. */
struct access *access_draw(bool put, bool posted);
void access_free(struct access *a);

/* Calls the function. Prints the call and its error code. */
int access_run(struct access *a);

/* Prints the known elements that a get returned. If `skip` is not NULL, omits the
 * elements for which skip is set. */
void access_show(const struct access *a, const unsigned char *skip);

/* Marks the elements that a put wrote as known. `err` is the put's result. Collective. */
void access_written(struct access *a, int err);
void differ_records(void); /* queries the number of records */

/* Prints the result of a call or request. */
void access_came(const struct access *a, int err, const unsigned char *skip);

bool requests_pending(void);
bool requests_any(void);
bool requests_full(void);
/* Returns whether an access overlaps a posted one. Requests from different processes are
 * not ordered, and PnetCDF 1.12 confuses overlapping requests from one process. */
bool requests_overlap(const struct access *a);
void requests_mark(void);            /* updates `pending`; collective */
void requests_add(struct access *a); /* takes ownership */

#endif
