/* What CDL and other tools call types and formats. */
#ifndef UTIL_TYPE_H
#define UTIL_TYPE_H

/* "byte" ... "uint64" for NC_BYTE ... NC_UINT64. */
const char *util_type_name(int type);

/* What CDL puts behind a number of an attribute: "" or a letter or more. */
const char *util_type_suffix(int type);

/* The kind of a file of format 1, 2 or 5, as ncgen -k takes it. */
const char *util_format_name(int format);

/* The reverse; "1", "2", "5" and other names in use are understood too. 0: none. */
int util_format_of(const char *name);

#endif
