/* Computes checksums of blobs (see subfile_sum.h). */
#include "subfile_sum.h"

#include <stdio.h>

#include "base_error.h"
#include "conv.h"
#include "subfile_names.h"

uint64_t subfile_sum_add(uint64_t seed, const void *bytes, int64_t n)
{
    const char *at = bytes;
    for (int64_t done = 0, m; done < n; done += m) {
        m = n - done < SUBFILE_SUM_TILE ? n - done : SUBFILE_SUM_TILE;
        seed = base_sum(at + done, (size_t)m, seed);
    }
    return seed;
}

/* Converts external values to little-endian. */
static void turn_values(unsigned char *bytes, int xsize, int64_t n)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        conv_get_in_place(bytes, xsize, (size_t)(n / xsize));
        return;
    }
    for (unsigned char *p = bytes; p < bytes + n; p += xsize)
        for (int i = 0; i < xsize / 2; i++) {
            unsigned char last = p[xsize - 1 - i];
            p[xsize - 1 - i] = p[i];
            p[i] = last;
        }
}

uint64_t subfile_sum_add_external(uint64_t seed, void *bytes, int xsize, int64_t n)
{
    turn_values(bytes, xsize, n);
    return subfile_sum_add(seed, bytes, n);
}

int subfile_sum_var(const struct cdf_header *h, int64_t decomposition, int varid)
{
    char name[64];
    int id;
    snprintf(name, sizeof name, SUBFILE_VAR_SUMS, (long long)decomposition, varid);
    if (cdf_find_var(h, name, &id) != NC_NOERR) return -1;
    const struct cdf_var *v = &h->vars[id];
    return v->type == NC_INT64 && v->ndims == 1 + v->is_record ? id : -1;
}
