/* Translates the names of types and formats in CDL and on command lines. */
#ifndef UTIL_TYPE_H
#define UTIL_TYPE_H

/* Returns "byte" ... "uint64" for NC_BYTE ... NC_UINT64. */
const char *util_type_name(int type);

/* Returns the CDL suffix for attribute values of this type: "" or one or more letters. */
const char *util_type_suffix(int type);

/* Formats other than 1, 2 and 5: netCDF-4 (nc4), and netCDF-4 with the classic model
 * (nc7). */
enum { UTIL_NC4 = 4, UTIL_NC7 = 7 };

/* Returns the name of a format, as ncdump -k prints it and ncgen -k accepts it. */
const char *util_format_name(int format);

/* Returns the format with this name, such as "1", "2", "5" or "nc4". Returns 0 if the
 * name is unknown. */
int util_format_of(const char *name);

#endif
