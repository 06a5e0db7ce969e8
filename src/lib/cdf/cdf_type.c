/* The table of external types, and fill values. */
#include "cdf_impl.h"

#include "base_error.h"

static const struct {
    unsigned char fill[8]; /* the default fill value, big-endian */
    const char *name;
} types[] = {
    [NC_BYTE] = {{0x81}, "NC_BYTE"},
    [NC_CHAR] = {{0}, "NC_CHAR"},
    [NC_SHORT] = {{0x80, 0x01}, "NC_SHORT"},
    [NC_INT] = {{0x80, 0, 0, 0x01}, "NC_INT"},
    [NC_FLOAT] = {{0x7c, 0xf0, 0, 0}, "NC_FLOAT"},
    [NC_DOUBLE] = {{0x47, 0x9e, 0, 0, 0, 0, 0, 0}, "NC_DOUBLE"},
    [NC_UBYTE] = {{0xff}, "NC_UBYTE"},
    [NC_USHORT] = {{0xff, 0xff}, "NC_USHORT"},
    [NC_UINT] = {{0xff, 0xff, 0xff, 0xff}, "NC_UINT"},
    [NC_INT64] = {{0x80, 0, 0, 0, 0, 0, 0, 0x02}, "NC_INT64"},
    [NC_UINT64] = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}, "NC_UINT64"},
};

int cdf_type_size(int type)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type < NC_BYTE || type > NC_UINT64 ? 0 : sizes[type];
}

const char *cdf_type_name(int type)
{
    return cdf_type_size(type) == 0 ? "unknown" : types[type].name;
}

int cdf_check_type(int format, int type)
{
    if (cdf_type_size(type) == 0)
        return base_error_set(NC_EBADTYPE, "%d is not an external type", type);
    if (format != 5 && type > NC_DOUBLE)
        return base_error_set(NC_ESTRICTCDF2,
                              "type %d needs a file in CDF-5 format, or in netCDF-4 "
                              "format without NC_CLASSIC_MODEL",
                              type);
    return NC_NOERR;
}

void cdf_default_fill(int type, void *xvalue)
{
    memcpy(xvalue, types[type].fill, (size_t)cdf_type_size(type));
}
