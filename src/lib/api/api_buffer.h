/* What a user's buffer holds. */
#ifndef API_BUFFER_H
#define API_BUFFER_H

#include "driver.h"

struct api_buffer {
    enum conv_type type;
    int64_t nelems;     /* NC_COUNT_IGNORE: as many as the access asks for */
    struct region *mem; /* where they lie; NULL: contiguous. The caller's to free */
};

/* Takes bufcount items of buftype apart, for a variable of type xtype. NC_EMULTITYPES,
 * NC_EUNSPTETYPE, NC_EINVAL (bufcount), NC_ENOMEM. */
int api_describe_buffer(MPI_Datatype buftype, MPI_Offset bufcount, int xtype,
                        struct api_buffer *b);

/* The bytes of `user` as `map` picks them: map's bytes count elements of `size` bytes in
 * the order that user has them. NULL when memory is short. */
struct region *api_compose(const struct region *map, const struct region *user,
                           int64_t size);

/* Where each element of a region starts, in its order; the caller frees *places with
 * base_free. NC_ENOMEM. */
int api_places(const struct region *user, int64_t size, int64_t **places);

/* The region of n elements at places[]. NULL when memory is short. */
struct region *api_elements(const int64_t *places, int64_t n, int64_t size);

#endif
