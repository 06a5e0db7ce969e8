/* Converts types and formats to names and back. */
#include "util_type.h"

#include <stddef.h>
#include <strings.h>

#include "pnetcdf_constants.h"

static const struct {
    const char *name, *suffix;
} types[] = {
    [NC_BYTE] = {"byte", "b"},       [NC_CHAR] = {"char", ""},
    [NC_SHORT] = {"short", "s"},     [NC_INT] = {"int", ""},
    [NC_FLOAT] = {"float", "f"},     [NC_DOUBLE] = {"double", ""},
    [NC_UBYTE] = {"ubyte", "UB"},    [NC_USHORT] = {"ushort", "US"},
    [NC_UINT] = {"uint", "U"},       [NC_INT64] = {"int64", "LL"},
    [NC_UINT64] = {"uint64", "ULL"},
};

/* If a format has several names, the first one is printed. */
static const struct {
    const char *name;
    int format;
} formats[] = {
    {"classic", 1},
    {"64-bit offset", 2},
    {"cdf5", 5},
    {"netCDF-4", UTIL_NC4},
    {"netCDF-4 classic model", UTIL_NC7},
    {"nc4", UTIL_NC4},
    {"nc7", UTIL_NC7},
    {"4", UTIL_NC4},
    {"7", UTIL_NC7},
    {"netCDF-4-classic", UTIL_NC7},
    {"1", 1},
    {"2", 2},
    {"5", 5},
    {"cdf1", 1},
    {"cdf-1", 1},
    {"cdf2", 2},
    {"cdf-2", 2},
    {"cdf-5", 5},
    {"nc3", 1},
    {"64-bit-offset", 2},
    {"nc6", 2},
    {"nc5", 5},
    {"3", 1},
    {"6", 2},
    {"64-bit data", 5},
    {"64-bit-data", 5},
};

const char *util_type_name(int type)
{
    return types[type].name;
}

const char *util_type_suffix(int type)
{
    return types[type].suffix;
}

const char *util_format_name(int format)
{
    size_t i = 0;
    while (formats[i].format != format)
        i++;
    return formats[i].name;
}

int util_format_of(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcasecmp(name, formats[i].name) == 0) return formats[i].format;
    return 0;
}
