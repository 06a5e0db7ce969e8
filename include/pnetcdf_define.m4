/** @defgroup dimensions Dimensions
 * @{ */

/** Defines a dimension. Collective, in define mode.
 * @param ncid the file
 * @param name its name, not yet taken by another dimension
 * @param len its length in elements, or #NC_UNLIMITED for the one that grows
 * @param idp gets its id
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_EBADNAME, #NC_EMAXNAME, #NC_ENAMEINUSE,
 * #NC_EDIMSIZE (negative, or too long for CDF-1 and CDF-2), #NC_EUNLIMIT, #NC_EMAXDIMS,
 * #NC_ENOMEM */
int ncmpi_def_dim(int ncid, const char *name, MPI_Offset len, int *idp);

/** Finds a dimension by name. Local.
 * @param ncid the file
 * @param name its name
 * @param idp gets its id
 * @return #NC_NOERR, #NC_EBADDIM */
int ncmpi_inq_dimid(int ncid, const char *name, int *idp);

/** Describes a dimension. Local.
 * @param ncid the file
 * @param dimid the dimension
 * @param name gets its name: room for #NC_MAX_NAME + 1 bytes
 * @param lenp gets its length in elements; of the unlimited one the number of records
 * @return #NC_NOERR, #NC_EBADDIM */
int ncmpi_inq_dim(int ncid, int dimid, char *name, MPI_Offset *lenp);

/** Tells a dimension's name. Local.
 * @param ncid the file
 * @param dimid the dimension
 * @param name gets its name: room for #NC_MAX_NAME + 1 bytes
 * @return #NC_NOERR, #NC_EBADDIM */
int ncmpi_inq_dimname(int ncid, int dimid, char *name);

/** Tells a dimension's length. Local.
 * @param ncid the file
 * @param dimid the dimension
 * @param lenp gets its length in elements; of the unlimited one the number of records
 * @return #NC_NOERR, #NC_EBADDIM */
int ncmpi_inq_dimlen(int ncid, int dimid, MPI_Offset *lenp);

/** Renames a dimension. Collective; in data mode the new name must not be longer.
 * @param ncid the file
 * @param dimid the dimension
 * @param name its new name
 * @return #NC_NOERR, #NC_EBADDIM, #NC_EBADNAME, #NC_EMAXNAME, #NC_ENAMEINUSE,
 * #NC_ENOTINDEFINE (longer, in data mode), #NC_EFILE (in data mode: see
 * ncmpi_enddef()) */
int ncmpi_rename_dim(int ncid, int dimid, const char *name);

/** @} */

/** @defgroup variables Variables
 * @{ */

/** Defines a variable. Collective, in define mode.
 * @param ncid the file
 * @param name its name, not yet taken by another variable
 * @param xtype its external type; those above #NC_DOUBLE need CDF-5
 * @param ndims the number of its dimensions, 0 for a scalar
 * @param dimidsp their ids, slowest first; the unlimited one may only be the first
 * @param varidp gets its id
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_EBADNAME, #NC_EMAXNAME, #NC_ENAMEINUSE,
 * #NC_EBADTYPE, #NC_ESTRICTCDF2, #NC_EINVAL, #NC_EBADDIM, #NC_EUNLIMPOS, #NC_EMAXVARS,
 * #NC_ENOMEM */
int ncmpi_def_var(int ncid, const char *name, nc_type xtype, int ndims,
    const int *dimidsp, int *varidp);

/** Sets fill mode and fill value of a variable. Collective, in define mode.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL for the mode of all
 * @param no_fill 1 to leave unwritten elements alone, 0 to fill them
 * @param fill_value one value of the variable's external type, kept as its attribute
 *        _FillValue; NULL leaves the value as it is
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_ENOTVAR, #NC_EGLOBAL, #NC_ELATEFILL */
int ncmpi_def_var_fill(int ncid, int varid, int no_fill, const void *fill_value);

/** Tells fill mode and fill value of a variable. Local. A file does not tell fill modes:
 * after it was opened, all its variables are in fill mode.
 * @param ncid the file
 * @param varid the variable
 * @param no_fill gets 1 where unwritten elements are left alone, 0 where filled
 * @param fill_value gets one value of the variable's external type: its _FillValue, or
 *        the default of the type
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_var_fill(int ncid, int varid, int *no_fill, void *fill_value);

/** Fills one record of a record variable, which is in fill mode or has a _FillValue, with
 * its fill value. Collective, in data mode.
 * @param ncid the file
 * @param varid the variable
 * @param recno the record, from 0
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EINDEP, #NC_ENOTVAR, #NC_ENOTRECVAR,
 * #NC_ENOTFILL, #NC_EINVAL, #NC_EWRITE */
int ncmpi_fill_var_rec(int ncid, int varid, MPI_Offset recno);

/** Finds a variable by name. Local.
 * @param ncid the file
 * @param name its name
 * @param varidp gets its id
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varid(int ncid, const char *name, int *varidp);

/** Describes a variable. Local.
 * @param ncid the file
 * @param varid the variable
 * @param name gets its name: room for #NC_MAX_NAME + 1 bytes
 * @param xtypep gets its external type
 * @param ndimsp gets the number of its dimensions
 * @param dimidsp gets their ids, slowest first: room for all of them
 * @param nattsp gets the number of its attributes
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_var(int ncid, int varid, char *name, nc_type *xtypep, int *ndimsp,
    int *dimidsp, int *nattsp);

/** Tells a variable's name. Local.
 * @param ncid the file
 * @param varid the variable
 * @param name gets its name: room for #NC_MAX_NAME + 1 bytes
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varname(int ncid, int varid, char *name);

/** Tells a variable's type. Local.
 * @param ncid the file
 * @param varid the variable
 * @param xtypep gets its external type
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_vartype(int ncid, int varid, nc_type *xtypep);

/** Counts a variable's dimensions. Local.
 * @param ncid the file
 * @param varid the variable
 * @param ndimsp gets the number
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varndims(int ncid, int varid, int *ndimsp);

/** Tells a variable's dimensions. Local.
 * @param ncid the file
 * @param varid the variable
 * @param dimidsp gets their ids, slowest first: room for all of them
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_vardimid(int ncid, int varid, int *dimidsp);

/** Counts a variable's attributes. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param nattsp gets the number
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varnatts(int ncid, int varid, int *nattsp);

/** Tells where a variable begins in the file. Local.
 * @param ncid the file
 * @param varid the variable
 * @param offset gets the distance from the file's beginning, in bytes; 0 for a variable
 *   that has no place before ncmpi_enddef()
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varoffset(int ncid, int varid, MPI_Offset *offset);

/** Renames a variable. Collective; in data mode the new name must not be longer.
 * @param ncid the file
 * @param varid the variable
 * @param name its new name
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_EMAXNAME, #NC_ENAMEINUSE,
 * #NC_ENOTINDEFINE (longer, in data mode), #NC_EFILE (in data mode: see
 * ncmpi_enddef()) */
int ncmpi_rename_var(int ncid, int varid, const char *name);

/** @} */

/** @defgroup attributes Attributes
 * An attribute belongs to a variable or, with #NC_GLOBAL for varid, to the file.
 *
 * The typed functions convert between the C type in memory and the external type:
 * #NC_ERANGE where a value does not fit, the others being converted all the same. Text
 * and numbers do not mix: #NC_ECHAR.
 * @{ */

/** Writes an attribute: makes it, or replaces all of it. Collective, in define mode; in
 * data mode where it exists and does not become larger.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param xtype its external type
 * @param nelems the number of values, 0 or more
 * @param value the values, in the C type that corresponds to xtype
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_EMAXNAME, #NC_EBADTYPE,
 * #NC_ESTRICTCDF2, #NC_EINVAL, #NC_ENOTINDEFINE, #NC_EMAXATTS, #NC_ENOMEM; for _FillValue
 * also #NC_EBADTYPE (not of the variable's type), #NC_EINVAL (not one value),
 * #NC_ELATEFILL; in data mode also #NC_EFILE: see ncmpi_enddef() */
int ncmpi_put_att(int ncid, int varid, const char *name, nc_type xtype,
    MPI_Offset nelems, const void *value);

/** Writes an attribute of type #NC_CHAR; else as ncmpi_put_att().
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param len the number of bytes; a final NUL is text only if it is counted
 * @param op the text
 * @return as ncmpi_put_att() */
int ncmpi_put_att_text(int ncid, int varid, const char *name, MPI_Offset len,
    const char *op);

/** @name ncmpi_put_att_
 * @{ */
/** Writes an attribute from values of the C type that the name tells; else as
 * ncmpi_put_att().
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param xtype its external type
 * @param len the number of values, 0 or more
 * @param op the values
 * @return as ncmpi_put_att(); #NC_ECHAR, #NC_ERANGE */
foreach_number_att_type([m4_dnl
int ncmpi_put_att_[]T_NAME[](int ncid, int varid, const char *name,
    nc_type xtype, MPI_Offset len, const T_C *op);
])m4_dnl
/** @} */

/** Reads an attribute. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param value gets all its values, in the C type that corresponds to its external type
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_get_att(int ncid, int varid, const char *name, void *value);

/** @name ncmpi_get_att_
 * @{ */
/** Reads an attribute as values of the C type that the name tells. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param ip gets all its values; no NUL is added to text
 * @return as ncmpi_get_att(); #NC_ECHAR, #NC_ERANGE */
int ncmpi_get_att_text(int ncid, int varid, const char *name, char *ip);
foreach_number_att_type([m4_dnl
int ncmpi_get_att_[]T_NAME[](int ncid, int varid, const char *name,
    T_C *ip);
])m4_dnl
/** @} */

/** Describes an attribute. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param xtypep gets its external type
 * @param lenp gets the number of its values
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_inq_att(int ncid, int varid, const char *name, nc_type *xtypep,
    MPI_Offset *lenp);

/** Tells an attribute's type. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param xtypep gets its external type
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_inq_atttype(int ncid, int varid, const char *name, nc_type *xtypep);

/** Tells an attribute's length. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param lenp gets the number of its values
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_inq_attlen(int ncid, int varid, const char *name, MPI_Offset *lenp);

/** Finds an attribute by name. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @param idp gets its place among the attributes, from 0
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_inq_attid(int ncid, int varid, const char *name, int *idp);

/** Tells an attribute's name. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param attnum its place among the attributes, from 0
 * @param name gets its name: room for #NC_MAX_NAME + 1 bytes
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_ENOTATT */
int ncmpi_inq_attname(int ncid, int varid, int attnum, char *name);

/** Copies an attribute, from one file to another or within one. Collective, in define
 * mode of the second file; in data mode where it exists there and does not become larger.
 * @param ncid_in the file to copy from
 * @param varid_in its variable, or #NC_GLOBAL
 * @param name the attribute's name
 * @param ncid_out the file to copy to
 * @param varid_out its variable, or #NC_GLOBAL
 * @return as ncmpi_put_att(); #NC_ENOTATT */
int ncmpi_copy_att(int ncid_in, int varid_in, const char *name, int ncid_out,
    int varid_out);

/** Renames an attribute. Collective; in data mode the new name must not be longer.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name so far
 * @param newname its new name
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_ENOTATT, #NC_EBADNAME, #NC_EMAXNAME,
 * #NC_ENAMEINUSE, #NC_ENOTINDEFINE (longer, in data mode), #NC_EFILE (in data mode: see
 * ncmpi_enddef()) */
int ncmpi_rename_att(int ncid, int varid, const char *name, const char *newname);

/** Removes an attribute. Collective, in define mode.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name its name
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_ENOTVAR, #NC_ENOTATT */
int ncmpi_del_att(int ncid, int varid, const char *name);

/** @} */
