/* Errors of the interface, with words that name what they are about. Each function
 * records the words and returns the code. */
#ifndef API_WORDS_H
#define API_WORDS_H

#include "api_dataset.h"

/* The dataset is in the wrong mode for the call, or may not be written: its path. */
int api_refuse(const struct api_dataset *d, int code);

/* There is no such object. NC_ENOTVAR, or NC_EGLOBAL where the global attributes are no
 * answer; NC_EBADDIM; NC_ENOTATT. */
int api_no_var(const struct api_dataset *d, int varid);
int api_no_dim(const struct cdf_header *h, int dimid);
int api_no_att(const struct cdf_header *h, int varid, const char *name);

/* The error of a look-up by name: adds to its words if a netCDF-4 file has that, and the
 * classic model has no place for it. what: "variable ", "attribute v:". Returns it. */
int api_left_out(const struct api_dataset *d, int code, const char *what,
                 const char *name);

/* A name in data mode would need more room in the header than the old one. */
int api_longer_name(const char *old, const char *name);

/* An argument that must not be NULL is: its name. */
int api_null(int code, const char *argument);

/* May values of a type in memory be those of a variable, or of an attribute?
 * NC_EBADTYPE, NC_ECHAR. */
int api_check_values(const char *what, const char *name, int xtype, enum conv_type type);

/* Values of a variable do not fit: NC_ERANGE. */
int api_range(const struct api_dataset *d, int varid);

/* NC_EUNSPTETYPE: an MPI type that has no counterpart. */
int api_no_type(MPI_Datatype type);

#ifdef __clang_analyzer__ /* it cannot see that these return an error */
#define api_refuse(d, code)        ((void)(api_refuse)(d, code), (code))
#define api_no_var(d, varid)       ((void)(api_no_var)(d, varid), NC_ENOTVAR)
#define api_no_att(h, varid, name) ((void)(api_no_att)(h, varid, name), NC_ENOTATT)
#endif

#endif
