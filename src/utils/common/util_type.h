/* What CDL and other tools call types and formats. */
#ifndef UTIL_TYPE_H
#define UTIL_TYPE_H

/* "byte" ... "uint64" for NC_BYTE ... NC_UINT64. */
const char *util_type_name(int type);

/* What CDL puts behind a number of an attribute: "" or a letter or more. */
const char *util_type_suffix(int type);

/* Beside formats 1, 2 and 5: the kinds that netCDF calls nc4 and nc7, its classic model.
 */
enum { UTIL_NC4 = 4, UTIL_NC7 = 7 };

/* The kind of a file of a format, as ncdump -k tells and ncgen -k takes it. */
const char *util_format_name(int format);

/* The reverse; "1", "2", "5", "nc4" and others in use are understood too. 0: none. */
int util_format_of(const char *name);

#endif
