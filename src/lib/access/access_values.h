/* Moves a request's values between user memory and external form, in the order of the
 * request and in parts of any size. */
#ifndef ACCESS_VALUES_H
#define ACCESS_VALUES_H

#include "access_request.h"

struct access_values {
    struct access_request *req; /* its status becomes NC_ERANGE if a value does not fit */
    struct region_cursor *memory; /* NULL if the values at req->buf are contiguous */
    int64_t done;                 /* number of elements moved so far */
    int xtype, xsize;
    bool copied; /* external values have the same bytes as those in memory */
    unsigned char fill[8];
};

/* Returns whether the values are transferred directly between the file and user memory,
 * which is possible if both forms are the same. In a get, equal sizes suffice, because
 * values can be converted in place. */
bool access_values_are_in_place(const struct cdf_header *h,
                                const struct access_request *req, bool put);

/* Begins moving values, starting with the first. NC_ENOMEM. */
int access_values_begin(struct access_values *v, const struct cdf_header *h,
                        struct access_request *req, bool put);
static inline void access_values_end(struct access_values *v)
{
    if (v->memory != NULL) region_cursor_free(v->memory);
    v->memory = NULL;
}

/* Continues with value number `first`. */
void access_values_seek(struct access_values *v, int64_t first);

/* Returns the address of the next values if they are contiguous, otherwise NULL. */
static inline unsigned char *access_values_buf(const struct access_values *v)
{
    const struct access_request *r = v->req;
    if (v->memory != NULL || r->buf == NULL) return NULL;
    return (unsigned char *)r->buf + v->done * conv_size(r->type);
}

/* Converts the next n values of a put to the variable's type, in memory. Values of
 * another type are converted through the external form, which checks their range and sets
 * the request's status. */
void access_values_convert(struct access_values *v, int type, unsigned char *to,
                           int64_t n);

/* Convert the next n values to or from external form. In-place conversion is allowed. */
int access_values_put(struct access_values *v, unsigned char *external, int64_t n);
int access_values_get(struct access_values *v, const unsigned char *external, int64_t n);

#endif
