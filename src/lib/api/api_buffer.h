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

#endif
