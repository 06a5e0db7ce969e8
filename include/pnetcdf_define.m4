/** @defgroup dimensions Dimensions
 * @{ */

/** Defines a dimension. Collective, in define mode.
 * @param ncid the file
 * @param name name, which no other dimension may have
 * @param len length in elements, or #NC_UNLIMITED for the unlimited dimension
 * @param idp receives the id
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_EBADNAME, #NC_EMAXNAME, #NC_ENAMEINUSE,
 * #NC_EDIMSIZE (negative, or too long for CDF-1 and CDF-2), #NC_EUNLIMIT, #NC_EMAXDIMS,
 * #NC_ENOMEM */
int ncmpi_def_dim(int ncid, const char *name, MPI_Offset len, int *idp);

/** Finds a dimension by name. Local.
 * @param ncid the file
 * @param name name of the dimension
 * @param idp receives the id
 * @return #NC_NOERR, #NC_EBADDIM */
int ncmpi_inq_dimid(int ncid, const char *name, int *idp);

/** Describes a dimension. Local.
 * @param ncid the file
 * @param dimid the dimension
 * @param name receives the name; must have space for #NC_MAX_NAME + 1 bytes
 * @param lenp receives the length in elements; for the unlimited dimension, the number of
 *        records
 * @return #NC_NOERR, #NC_EBADDIM */
int ncmpi_inq_dim(int ncid, int dimid, char *name, MPI_Offset *lenp);

/** Gets a dimension's name. Local.
 * @param ncid the file
 * @param dimid the dimension
 * @param name receives the name; must have space for #NC_MAX_NAME + 1 bytes
 * @return #NC_NOERR, #NC_EBADDIM */
int ncmpi_inq_dimname(int ncid, int dimid, char *name);

/** Gets a dimension's length. Local.
 * @param ncid the file
 * @param dimid the dimension
 * @param lenp receives the length in elements; for the unlimited dimension, the number of
 *        records
 * @return #NC_NOERR, #NC_EBADDIM */
int ncmpi_inq_dimlen(int ncid, int dimid, MPI_Offset *lenp);

/** Renames a dimension. Collective; in data mode the new name must not be longer.
 * @param ncid the file
 * @param dimid the dimension
 * @param name new name
 * @return #NC_NOERR, #NC_EBADDIM, #NC_EBADNAME, #NC_EMAXNAME, #NC_ENAMEINUSE,
 * #NC_ENOTINDEFINE (longer, in data mode), #NC_EFILE (in data mode: see
 * ncmpi_enddef()) */
int ncmpi_rename_dim(int ncid, int dimid, const char *name);

/** @} */

/** @defgroup variables Variables
 * @{ */

/** Defines a variable. Collective, in define mode.
 * @param ncid the file
 * @param name name, which no other variable may have
 * @param xtype external type; types above #NC_DOUBLE require CDF-5
 * @param ndims number of dimensions, 0 for a scalar
 * @param dimidsp ids of the dimensions, slowest first; only the first may be unlimited
 * @param varidp receives the id
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_EBADNAME, #NC_EMAXNAME, #NC_ENAMEINUSE,
 * #NC_EBADTYPE, #NC_ESTRICTCDF2, #NC_EINVAL, #NC_EBADDIM, #NC_EUNLIMPOS, #NC_EMAXVARS,
 * #NC_ENOMEM */
int ncmpi_def_var(int ncid, const char *name, nc_type xtype, int ndims,
    const int *dimidsp, int *varidp);

/** Sets the fill mode and the fill value of a variable. Collective, in define mode.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL to set the mode of all variables
 * @param no_fill 1 to leave unwritten elements unfilled, 0 to fill them
 * @param fill_value one value of the variable's external type, which becomes its
 *        attribute _FillValue; NULL does not change the value
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_ENOTVAR, #NC_EGLOBAL, #NC_ELATEFILL */
int ncmpi_def_var_fill(int ncid, int varid, int no_fill, const void *fill_value);

/** Gets the fill mode and the fill value of a variable. Local. A file does not store fill
 * modes: all variables of an opened file are in fill mode.
 * @param ncid the file
 * @param varid the variable
 * @param no_fill receives 1 if unwritten elements are not filled, 0 if they are
 * @param fill_value receives one value of the variable's external type: its _FillValue,
 *        or the type's default
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_var_fill(int ncid, int varid, int *no_fill, void *fill_value);

/** Fills one record of a record variable with its fill value. The variable must be in
 * fill mode or have a _FillValue. Collective, in data mode.
 * @param ncid the file
 * @param varid the variable
 * @param recno index of the record, starting at 0
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EINDEP, #NC_ENOTVAR, #NC_ENOTRECVAR,
 * #NC_ENOTFILL, #NC_EINVAL, #NC_EWRITE */
int ncmpi_fill_var_rec(int ncid, int varid, MPI_Offset recno);

/** Finds a variable by name. Local.
 * @param ncid the file
 * @param name name of the variable
 * @param varidp receives the id
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varid(int ncid, const char *name, int *varidp);

/** Describes a variable. Local.
 * @param ncid the file
 * @param varid the variable
 * @param name receives the name; must have space for #NC_MAX_NAME + 1 bytes
 * @param xtypep receives the external type
 * @param ndimsp receives the number of dimensions
 * @param dimidsp receives the ids of the dimensions, slowest first; must have space for
 *        all of them
 * @param nattsp receives the number of attributes
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_var(int ncid, int varid, char *name, nc_type *xtypep, int *ndimsp,
    int *dimidsp, int *nattsp);

/** Gets a variable's name. Local.
 * @param ncid the file
 * @param varid the variable
 * @param name receives the name; must have space for #NC_MAX_NAME + 1 bytes
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varname(int ncid, int varid, char *name);

/** Gets a variable's type. Local.
 * @param ncid the file
 * @param varid the variable
 * @param xtypep receives the external type
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_vartype(int ncid, int varid, nc_type *xtypep);

/** Gets the number of a variable's dimensions. Local.
 * @param ncid the file
 * @param varid the variable
 * @param ndimsp receives the number
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varndims(int ncid, int varid, int *ndimsp);

/** Gets a variable's dimensions. Local.
 * @param ncid the file
 * @param varid the variable
 * @param dimidsp receives the ids of the dimensions, slowest first; must have space for
 *        all of them
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_vardimid(int ncid, int varid, int *dimidsp);

/** Gets the number of a variable's attributes. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param nattsp receives the number
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varnatts(int ncid, int varid, int *nattsp);

/** Gets the offset of a variable in the file. Local.
 * @param ncid the file
 * @param varid the variable
 * @param offset receives the offset in bytes from the start of the file; 0 for a variable
 *        that has none before ncmpi_enddef()
 * @return #NC_NOERR, #NC_ENOTVAR */
int ncmpi_inq_varoffset(int ncid, int varid, MPI_Offset *offset);

/** Renames a variable. Collective; in data mode the new name must not be longer.
 * @param ncid the file
 * @param varid the variable
 * @param name new name
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_EMAXNAME, #NC_ENAMEINUSE,
 * #NC_ENOTINDEFINE (longer, in data mode), #NC_EFILE (in data mode: see
 * ncmpi_enddef()) */
int ncmpi_rename_var(int ncid, int varid, const char *name);

/** @} */

/** @defgroup attributes Attributes
 * An attribute belongs to a variable or, if varid is #NC_GLOBAL, to the file.
 *
 * The typed functions convert between the C type in memory and the external type. They
 * return #NC_ERANGE if a value is out of range; the other values are still converted.
 * Text cannot be converted to numbers, nor numbers to text: #NC_ECHAR.
 * @{ */

/** Creates an attribute, or replaces it completely. Collective, in define mode; also in
 * data mode if the attribute exists and does not grow.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param xtype external type
 * @param nelems number of values, 0 or more
 * @param value the values, in the C type that corresponds to xtype
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_EMAXNAME, #NC_EBADTYPE,
 * #NC_ESTRICTCDF2, #NC_EINVAL, #NC_ENOTINDEFINE, #NC_EMAXATTS, #NC_ENOMEM; for _FillValue
 * also #NC_EBADTYPE (not the variable's type), #NC_EINVAL (not exactly one value),
 * #NC_ELATEFILL; in data mode also #NC_EFILE: see ncmpi_enddef() */
int ncmpi_put_att(int ncid, int varid, const char *name, nc_type xtype,
    MPI_Offset nelems, const void *value);

/** Writes an attribute of type #NC_CHAR. Otherwise like ncmpi_put_att().
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param len number of bytes; a final NUL is stored only if len includes it
 * @param op the text
 * @return Same as ncmpi_put_att() */
int ncmpi_put_att_text(int ncid, int varid, const char *name, MPI_Offset len,
    const char *op);

/** @name ncmpi_put_att_
 * @{ */
/** Writes an attribute from values of the C type in the function's name. Otherwise like
 * ncmpi_put_att().
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param xtype external type
 * @param len number of values, 0 or more
 * @param op the values
 * @return Same as ncmpi_put_att(); #NC_ECHAR, #NC_ERANGE */
foreach_number_att_type([m4_dnl
int ncmpi_put_att_[]T_NAME[](int ncid, int varid, const char *name,
    nc_type xtype, MPI_Offset len, const T_C *op);
])m4_dnl
/** @} */

/** Reads an attribute. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param value receives all values, in the C type that corresponds to the external type
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_get_att(int ncid, int varid, const char *name, void *value);

/** @name ncmpi_get_att_
 * @{ */
/** Reads an attribute as values of the C type in the function's name. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param ip receives all values; no NUL is added to text
 * @return Same as ncmpi_get_att(); #NC_ECHAR, #NC_ERANGE */
int ncmpi_get_att_text(int ncid, int varid, const char *name, char *ip);
foreach_number_att_type([m4_dnl
int ncmpi_get_att_[]T_NAME[](int ncid, int varid, const char *name,
    T_C *ip);
])m4_dnl
/** @} */

/** Describes an attribute. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param xtypep receives the external type
 * @param lenp receives the number of values
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_inq_att(int ncid, int varid, const char *name, nc_type *xtypep,
    MPI_Offset *lenp);

/** Gets an attribute's type. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param xtypep receives the external type
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_inq_atttype(int ncid, int varid, const char *name, nc_type *xtypep);

/** Gets an attribute's length. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param lenp receives the number of values
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_inq_attlen(int ncid, int varid, const char *name, MPI_Offset *lenp);

/** Finds an attribute by name. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @param idp receives the index of the attribute, starting at 0
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_EBADNAME, #NC_ENOTATT */
int ncmpi_inq_attid(int ncid, int varid, const char *name, int *idp);

/** Gets an attribute's name. Local.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param attnum index of the attribute, starting at 0
 * @param name receives the name; must have space for #NC_MAX_NAME + 1 bytes
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_ENOTATT */
int ncmpi_inq_attname(int ncid, int varid, int attnum, char *name);

/** Copies an attribute from one file to another, or within a file. Collective; the second
 * file must be in define mode, or in data mode if the attribute exists there and does not
 * grow.
 * @param ncid_in the file to copy from
 * @param varid_in variable in that file, or #NC_GLOBAL
 * @param name name of the attribute
 * @param ncid_out the file to copy to
 * @param varid_out variable in that file, or #NC_GLOBAL
 * @return Same as ncmpi_put_att(), but a _FillValue may have any type; #NC_ENOTATT */
int ncmpi_copy_att(int ncid_in, int varid_in, const char *name, int ncid_out,
    int varid_out);

/** Renames an attribute. Collective; in data mode the new name must not be longer.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name current name
 * @param newname new name
 * @return #NC_NOERR, #NC_ENOTVAR, #NC_ENOTATT, #NC_EBADNAME, #NC_EMAXNAME,
 * #NC_ENAMEINUSE, #NC_ENOTINDEFINE (longer, in data mode), #NC_EFILE (in data mode: see
 * ncmpi_enddef()) */
int ncmpi_rename_att(int ncid, int varid, const char *name, const char *newname);

/** Removes an attribute. Collective, in define mode.
 * @param ncid the file
 * @param varid the variable, or #NC_GLOBAL
 * @param name name of the attribute
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_ENOTVAR, #NC_ENOTATT */
int ncmpi_del_att(int ncid, int varid, const char *name);

/** @} */
