/* Opens and reads netCDF-4 files through the nc4 module, so that the tools can use them
 * as struct util_classic. */
#include "util_nc4.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "nc4.h"
#include "util_message.h"
#include "util_type.h"

/* HDF5's signature is at offset 0, or at a power of two that is at least 512. */
bool util_nc4_is(const struct util_classic *c)
{
    unsigned char first[8];
    int format = NC_FORMAT_UNKNOWN;
    for (int64_t at = 0; at < c->size && format == NC_FORMAT_UNKNOWN;
         at = at == 0 ? 512 : 2 * at) {
        if (util_classic_read(c, at, first, sizeof first) != (int64_t)sizeof first) break;
        format = cdf_signature(first, sizeof first);
    }
    return format == NC_FORMAT_NETCDF4;
}

static int complain(const struct util_classic *c, int err)
{
    util_message(c->tool, c->path, -1, "%s", base_error_text(err));
    return -1;
}

int util_nc4_open(struct util_classic *c)
{
    c->nc4 = base_malloc(sizeof *c->nc4);
    if (c->nc4 == NULL) return complain(c, NC_ENOMEM);
    int err = nc4_open(c->nc4, c->path, false);
    if (err != NC_NOERR) {
        base_free(c->nc4);
        c->nc4 = NULL;
        return complain(c, err);
    }
    err = nc4_read_header(c->nc4, &c->header);
    if (err != NC_NOERR) return complain(c, err);
    const char *left = c->nc4->omitted;
    for (size_t n; left != NULL && *left != '\0'; left += n + 1) {
        n = strcspn(left, "\n");
        util_message(c->tool, c->path, -1,
                     "omitted, as the classic model does not support it: %.*s", (int)n,
                     left);
    }
    return 0;
}

void util_nc4_close(struct util_classic *c)
{
    if (c->nc4 != NULL) nc4_close(c->nc4); /* cannot fail: the file was only read */
    base_free(c->nc4);
}

int util_nc4_format(const struct util_classic *c)
{
    return c->nc4->classic ? UTIL_NC7 : UTIL_NC4;
}

int util_nc4_read(const struct util_classic *c, int varid, const struct util_piece *p,
                  void *external)
{
    int err = nc4_get(c->nc4, &c->header, varid, p->start, p->count, NULL, external);
    if (err == NC_NOERR) return 0;
    util_message(c->tool, c->path, -1, "variable '%s': %s", c->header.vars[varid].name,
                 base_error_text(err));
    return -1;
}
