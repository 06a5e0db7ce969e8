/* Describes user buffers: converts an MPI datatype to a value type and a region of
 * memory. */
#ifndef API_BUFFER_H
#define API_BUFFER_H

#include "driver.h"

struct api_buffer {
    enum conv_type type;
    int64_t nelems;     /* number of elements; NC_COUNT_IGNORE if unlimited */
    struct region *mem; /* region of the elements; NULL if contiguous; the caller frees
                         * it */
};

/* Describes a buffer of bufcount items of buftype, for a variable of type xtype. Errors:
 * NC_EMULTITYPES, NC_EUNSPTETYPE, NC_EIOMISMATCH (negative bufcount), NC_ENOMEM. */
int api_describe_buffer(MPI_Datatype buftype, MPI_Offset bufcount, int xtype,
                        struct api_buffer *b);

/* Returns the elements of `user` that `map` selects: an offset in `map`, divided by
 * `size`, is the index of an element of `user`. Returns NULL if out of memory. */
struct region *api_compose(const struct region *map, const struct region *user,
                           int64_t size);

/* Stores the offset of each element of a region in *places, in the region's order. The
 * caller frees *places with base_free. NC_ENOMEM. */
int api_element_offsets(const struct region *user, int64_t size, int64_t **places);

/* Returns the region of the n elements at offsets places[]. Returns NULL if out of
 * memory. */
struct region *api_elements(const int64_t *places, int64_t n, int64_t size);

#endif
