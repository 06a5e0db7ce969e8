/* Reports API errors. Each function records a message that names the object concerned and
 * returns the code. */
#ifndef API_ERRORS_H
#define API_ERRORS_H

#include "api_dataset.h"

/* Reports that the dataset is in the wrong mode for the call, or is read-only. */
int api_refuse(const struct api_dataset *d, int code);

/* Report that an object does not exist. NC_EBADDIM, NC_ENOTATT, NC_ENOTVAR, or NC_EGLOBAL
 * if NC_GLOBAL was passed instead of a variable. */
int api_no_var(const struct api_dataset *d, int varid);
int api_no_dim(const struct cdf_header *h, int dimid);
int api_no_att(const struct cdf_header *h, int varid, const char *name);

/* After a failed look-up by name, extends the message if the netCDF-4 file contains the
 * object but the library skipped it because the classic model cannot represent it. `what`
 * is "variable " or "attribute v:". Returns code. */
int api_explain_omitted(const struct api_dataset *d, int code, const char *what,
                        const char *name);

/* Reports that a new name is longer than the old one, which is an error in data mode. */
int api_longer_name(const char *old, const char *name);

/* Reports that an argument is NULL. */
int api_null(int code, const char *argument);

/* Checks that values in memory can be converted to the type of a variable or attribute.
 * NC_EBADTYPE, NC_ECHAR. */
int api_check_values(const char *what, const char *name, int xtype, enum conv_type type);

/* Reports that a value is out of range for a variable: NC_ERANGE. */
int api_range(const struct api_dataset *d, int varid);

/* Reports that an MPI type has no corresponding netCDF type: NC_EUNSPTETYPE. */
int api_no_type(MPI_Datatype type);

#ifdef __clang_analyzer__ /* the analyzer cannot see that these functions return an      \
                           * error */
#define api_refuse(d, code)        ((void)(api_refuse)(d, code), (code))
#define api_no_var(d, varid)       ((void)(api_no_var)(d, varid), NC_ENOTVAR)
#define api_no_att(h, varid, name) ((void)(api_no_att)(h, varid, name), NC_ENOTATT)
#endif

#endif
