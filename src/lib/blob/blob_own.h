/* Requests for elements of this process's own blob, carried out together; known to this
 * room only. */
#ifndef BLOB_OWN_H
#define BLOB_OWN_H

#include "blob.h"

struct blob_own {
    struct blob *b;
    bool put;
    struct blob_sub *sub;
    struct blob_own_part
        *parts; /* what they name; all before `closed` have been made ... */
    int64_t nparts, parts_room, closed;
    struct access_request **reqs; /* ... these of the subfile, from the arena */
    struct blob_own_made *made;   /* of each of them: of which parts */
    int64_t n, room, copied;
    struct base_key *keys;    /* to sort by: twice keys_room, and as many parts */
    int64_t keys_room, nkeys; /* so many have been sorted */
    struct base_arena arena;
};

void blob_own_begin(struct blob_own *o, struct blob *b, bool put);
void blob_own_end(struct blob_own *o);

/* Adds a request, if all its elements are in the own blob. False: they are not, or (*err)
 * it failed. */
bool blob_own_add(struct blob_own *o, struct blob_decomp *d, struct access_request *r,
                  int *err);

/* Should they be carried out before more are added? */
bool blob_own_is_full(const struct blob_own *o);

/* Carries out what was added, each request's result goes to it, and there is nothing
 * again. The first error. Local; of the other all of the group take part. */
int blob_own_carry_out(struct blob_own *o);
int blob_own_carry_out_all(struct blob_own *o);

/* How many elements from `at` on lie side by side in the own blob, and where in the
 * subfile; 0: it has not that one. */
int64_t blob_own_find(struct blob_decomp *d, int64_t at, int64_t *place);

/* The type in memory for the subfile's variable. Subfiles are CDF-5 whatever the master
 * is: what it takes for bytes from 0 to 255 stays as it is. */
unsigned char blob_own_type(const struct blob *b, const struct access_request *r);

#endif
