/* The values of one request, between the user's memory and their external form, in the
 * order of the request and in parts of any size. */
#ifndef ACCESS_VALUES_H
#define ACCESS_VALUES_H

#include "access_request.h"

struct access_values {
    struct access_request *req;   /* takes what is out of range as its status */
    struct region_cursor *memory; /* NULL: contiguous from req->buf */
    int64_t done;                 /* elements */
    int xtype, xsize;
    bool copied; /* external values are those in memory */
    unsigned char fill[8];
};

/* Are the request's values moved to or from the file where they lie in memory? Those that
 * are as in the file are, and those that are got and are as large: they can be turned
 * round there. */
bool access_values_stay(const struct cdf_header *h, const struct access_request *req,
                        bool put);

/* NC_ENOMEM. */
int access_values_begin(struct access_values *v, const struct cdf_header *h,
                        struct access_request *req, bool put);
static inline void access_values_end(struct access_values *v)
{
    if (v->memory != NULL) region_cursor_free(v->memory);
    v->memory = NULL;
}

/* Goes to value number `first`. */
void access_values_seek(struct access_values *v, int64_t first);

/* Where the next values are, if they are contiguous; else NULL. */
static inline unsigned char *access_values_buf(const struct access_values *v)
{
    const struct access_request *r = v->req;
    if (v->memory != NULL || r->buf == NULL) return NULL;
    return (unsigned char *)r->buf + v->done * conv_size(r->type);
}

/* The next n values of a put become elements in memory of the variable's own type. Those
 * of another type go through the external form, which says what fits, and the request's
 * status tells. */
void access_values_take(struct access_values *v, int type, unsigned char *to, int64_t n);

/* The next n values, to or from their external form. They may be in their place. */
int access_values_put(struct access_values *v, unsigned char *external, int64_t n);
int access_values_get(struct access_values *v, const unsigned char *external, int64_t n);

#endif
