/* Checksums of blobs. */
#include "blob_sum.h"

#include <stdio.h>

#include "base_error.h"
#include "blob_names.h"
#include "conv.h"

uint64_t blob_sum_add(uint64_t seed, const void *bytes, int64_t n)
{
    const char *at = bytes;
    for (int64_t done = 0, m; done < n; done += m) {
        m = n - done < BLOB_SUM_TILE ? n - done : BLOB_SUM_TILE;
        seed = base_sum(at + done, (size_t)m, seed);
    }
    return seed;
}

/* Between external and little-endian values. */
static void turn_values(unsigned char *bytes, int xsize, int64_t n)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        conv_get_here(bytes, xsize, (size_t)(n / xsize));
        return;
    }
    for (unsigned char *p = bytes; p < bytes + n; p += xsize)
        for (int i = 0; i < xsize / 2; i++) {
            unsigned char last = p[xsize - 1 - i];
            p[xsize - 1 - i] = p[i];
            p[i] = last;
        }
}

uint64_t blob_sum_add_external(uint64_t seed, void *bytes, int xsize, int64_t n)
{
    turn_values(bytes, xsize, n);
    return blob_sum_add(seed, bytes, n);
}

int blob_sum_var(const struct cdf_header *h, int64_t decomposition, int varid)
{
    char name[64];
    int id;
    snprintf(name, sizeof name, BLOB_SUMS_NAME, (long long)decomposition, varid);
    if (cdf_find_var(h, name, &id) != NC_NOERR) return -1;
    const struct cdf_var *v = &h->vars[id];
    return v->type == NC_INT64 && v->ndims == 1 + v->is_record ? id : -1;
}
