m4_include([f77_tables.m4])m4_divert(-1)
/* Tables for libpnetcdf_serial. They are read after tables.m4. */

/* Kinds of access. S_FLAG: enumerator. S_DECL: declarations of the list parameters in C.
 * S_INIT: initializers of a serial_slab for these lists. S_FDECL, S_FINIT: the same for
 * Fortran. */
m4_define([serial_kind_row], [m4_define([K_NAME], [$2])m4_define([S_FLAG], [$3])m4_dnl
m4_define([S_DECL], [$4])m4_define([S_INIT], [$5])m4_dnl
m4_define([S_FDECL], [$6])m4_define([S_FINIT], [$7])$1])
m4_define([foreach_serial_kind], [m4_dnl
serial_kind_row([$1], [var], [SERIAL_VAR], [], [NULL, NULL, NULL, NULL],
    [], [NULL, NULL, NULL, NULL])m4_dnl
serial_kind_row([$1], [var1], [SERIAL_VAR1], [ const size_t *start,],
    [(const MPI_Offset *)start, NULL, NULL, NULL],
    [ const int *start,], [start, NULL, NULL, NULL])m4_dnl
serial_kind_row([$1], [vara], [SERIAL_VARA], [ const size_t *start, const size_t *count,],
    [(const MPI_Offset *)start, (const MPI_Offset *)count, NULL, NULL],
    [ const int *start, const int *count,], [start, count, NULL, NULL])m4_dnl
serial_kind_row([$1], [vars], [SERIAL_VARS],
    [ const size_t *start, const size_t *count, const ptrdiff_t *stride,],
    [(const MPI_Offset *)start, (const MPI_Offset *)count, (const MPI_Offset *)stride, NULL],
    [ const int *start, const int *count, const int *stride,],
    [start, count, stride, NULL])m4_dnl
serial_kind_row([$1], [varm], [SERIAL_VARM],
    [ const size_t *start, const size_t *count, const ptrdiff_t *stride, const ptrdiff_t *imap,],
    [(const MPI_Offset *)start, (const MPI_Offset *)count, (const MPI_Offset *)stride,
        (const MPI_Offset *)imap],
    [ const int *start, const int *count, const int *stride, const int *imap,],
    [start, count, stride, imap])])

/* Types in C: S_SUFFIX, S_C, S_MPI. A type without a suffix means the variable's type. */
m4_define([serial_type_row],
[m4_define([S_SUFFIX], [$2])m4_define([S_C], [$3])m4_define([S_MPI], [$4])$1])
m4_define([foreach_serial_type], [m4_dnl
serial_type_row([$1], [], [void], [MPI_DATATYPE_NULL])m4_dnl
foreach_type([serial_type_row([$1], [_]T_NAME, T_C, T_MPI)])m4_dnl
serial_type_row([$1], [_ubyte], [unsigned char], [MPI_UNSIGNED_CHAR])])

/* Types in Fortran. */
m4_define([foreach_serial_nf_type], [m4_dnl
serial_type_row([$1], [],        [void],        [MPI_DATATYPE_NULL])m4_dnl
serial_type_row([$1], [_text],   [char],        [MPI_CHAR])m4_dnl
serial_type_row([$1], [_int1],   [signed char], [MPI_SIGNED_CHAR])m4_dnl
serial_type_row([$1], [_int2],   [short],       [MPI_SHORT])m4_dnl
serial_type_row([$1], [_int],    [int],         [MPI_INT])m4_dnl
serial_type_row([$1], [_int64],  [long long],   [MPI_LONG_LONG_INT])m4_dnl
serial_type_row([$1], [_real],   [float],       [MPI_FLOAT])m4_dnl
serial_type_row([$1], [_double], [double],      [MPI_DOUBLE])])

/* The name that a type has in libpnetcdf. */
m4_define([S_CNAME], [m4_ifelse(S_SUFFIX, [_int1], [_schar], S_SUFFIX, [_int2], [_short],
    S_SUFFIX, [_int64], [_longlong], S_SUFFIX, [_real], [_float], S_SUFFIX)])

m4_define([foreach_serial_direction], [m4_dnl
m4_define([D_NAME], [put])m4_define([D_CONST], [const ])$1[]m4_dnl
m4_define([D_NAME], [get])m4_define([D_CONST], [])$1])

/* NetCDF functions that differ from libpnetcdf's only in their names. */
m4_define([foreach_serial_same], [m4_dnl
$1([abort])$1([close])$1([copy_att])$1([def_dim])$1([def_var])$1([def_var_fill])$1([del_att])m4_dnl
$1([enddef])$1([get_att])$1([inq])$1([inq_attid])$1([inq_attname])$1([inq_atttype])m4_dnl
$1([inq_dimid])$1([inq_dimname])$1([inq_format])$1([inq_libvers])$1([inq_natts])m4_dnl
$1([inq_ndims])$1([inq_nvars])$1([inq_unlimdim])$1([inq_var])m4_dnl
$1([inq_vardimid])$1([inq_varid])$1([inq_varname])$1([inq_varnatts])$1([inq_varndims])m4_dnl
$1([inq_vartype])$1([put_att])$1([rename_att])$1([rename_dim])$1([rename_var])m4_dnl
$1([set_default_format])$1([strerror])$1([sync])m4_dnl
foreach_type([$1([put_att_]T_NAME)$1([get_att_]T_NAME)])m4_dnl
$1([put_att_ubyte])$1([get_att_ubyte])])

/* Functions without a counterpart in libpnetcdf, with their parameters: functions that
 * fill, and functions that succeed for classic files in netCDF even though such files
 * lack the feature (serial_more.c). Pointer arguments that are only read are const. */
m4_define([foreach_serial_more], [m4_dnl
$1([redef], [int ncid])m4_dnl
$1([inq_var_fill], [int ncid, int varid, int *no_fillp, void *fill_valuep])m4_dnl
$1([inq_var_chunking], [int ncid, int varid, int *storagep, const size_t *chunksizesp])m4_dnl
$1([inq_var_deflate], [int ncid, int varid, int *shufflep, int *deflatep, int *levelp])m4_dnl
$1([inq_var_fletcher32], [int ncid, int varid, int *fletcher32p])m4_dnl
$1([inq_var_szip], [int ncid, int varid, int *optionsp, int *pixelsp])m4_dnl
$1([inq_var_filter], [int ncid, int varid, unsigned int *idp, const size_t *nparams, const unsigned int *params])m4_dnl
$1([inq_grps], [int ncid, int *ngroups, const int *ncids])m4_dnl
$1([inq_typeids], [int ncid, int *ntypes, const int *typeids])m4_dnl
$1([inq_grpname], [int ncid, char *name])m4_dnl
$1([inq_grpname_full], [int ncid, size_t *lenp, char *name])m4_dnl
$1([inq_grpname_len], [int ncid, size_t *lenp])m4_dnl
$1([inq_grp_parent], [int ncid, const int *parent])m4_dnl
$1([inq_grp_full_ncid], [int ncid, const char *name, const int *group])m4_dnl
$1([inq_grp_ncid], [int ncid, const char *name, int *group])m4_dnl
$1([inq_ncid], [int ncid, const char *name, int *group])m4_dnl
$1([inq_dimids], [int ncid, int *ndims, int *ids, int parents])m4_dnl
$1([inq_varids], [int ncid, int *nvars, int *ids])m4_dnl
$1([inq_unlimdims], [int ncid, int *n, int *ids])m4_dnl
$1([inq_path], [int ncid, size_t *lenp, char *path])m4_dnl
$1([inq_format_extended], [int ncid, int *formatp, int *modep])m4_dnl
$1([inq_type], [int ncid, nc_type type, char *name, size_t *sizep])m4_dnl
$1([inq_typeid], [int ncid, const char *name, nc_type *typep])m4_dnl
$1([inq_type_equal], [int ncid1, nc_type type1, int ncid2, nc_type type2, int *equal])m4_dnl
$1([inq_base_pe], [int ncid, int *pe])m4_dnl
$1([set_base_pe], [int ncid, int pe])m4_dnl
$1([_create_mp], [const char *path, int cmode, size_t size, int pe, const size_t *chunk, int *ncidp])m4_dnl
$1([_open_mp], [const char *path, int omode, int pe, const size_t *chunk, int *ncidp])m4_dnl
$1([delete_mp], [const char *path, int pe])m4_dnl
$1([copy_var], [int ncid_in, int varid, int ncid_out])])

/* Functions for which netCDF returns NC_ENOTNC4 if the file is classic. */
m4_define([foreach_serial_not4], [m4_dnl
$1([def_var_chunking])$1([def_var_deflate])$1([def_var_endian])$1([def_var_filter])m4_dnl
$1([def_var_fletcher32])$1([def_var_quantize])$1([def_var_szip])m4_dnl
$1([set_var_chunk_cache])$1([get_var_chunk_cache])$1([inq_var_endian])m4_dnl
$1([inq_var_quantize])$1([rename_grp])])

/* Functions that tune netCDF's implementation and do not affect results. */
m4_define([foreach_serial_nothing], [m4_dnl
$1([initialize])$1([finalize])$1([set_log_level])$1([set_chunk_cache])$1([set_alignment])m4_dnl
$1([show_metadata])])

/* Functions that work only on netCDF-4 files. Compiling a program that calls them is an
 * error. */
m4_define([foreach_serial_missing], [m4_dnl
$1([advise])$1([copy_data])$1([copy_data_all])$1([def_compound])$1([def_enum])$1([def_grp])m4_dnl
$1([def_opaque])$1([def_user_format])$1([def_vlen])$1([dump_data])$1([free_string])m4_dnl
$1([free_vlen])$1([free_vlens])$1([get_alignment])$1([get_att_string])$1([get_chunk_cache])m4_dnl
$1([get_var1_string])$1([get_var_string])$1([get_vara_string])$1([get_varm_string])m4_dnl
$1([get_vars_string])$1([get_vlen_element])$1([inq_compound])$1([inq_compound_field])m4_dnl
$1([inq_compound_fielddim_sizes])$1([inq_compound_fieldindex])$1([inq_compound_fieldname])m4_dnl
$1([inq_compound_fieldndims])$1([inq_compound_fieldoffset])$1([inq_compound_fieldtype])m4_dnl
$1([inq_compound_name])$1([inq_compound_nfields])$1([inq_compound_size])$1([inq_enum])m4_dnl
$1([inq_enum_ident])$1([inq_enum_member])$1([inq_opaque])m4_dnl
$1([inq_user_format])$1([inq_user_type])$1([inq_vlen])$1([insert_array_compound])m4_dnl
$1([insert_compound])$1([insert_enum])$1([put_att_string])$1([put_var1_string])m4_dnl
$1([put_var_string])$1([put_vara_string])$1([put_varm_string])$1([put_vars_string])m4_dnl
$1([put_vlen_element])$1([reclaim_data])$1([reclaim_data_all])])

/* NetCDF-Fortran functions that correspond to an nfmpi_ function, with the kinds of their
 * arguments. The kinds length and length_out are default integers in netCDF-Fortran, but
 * 8 bytes wide in the nfmpi_ function. The length of a text is the last argument. All
 * other arguments are passed on unchanged: integers, both in and out, characters, TYPE
 * and TYPE_out. If the names differ, the name of the nfmpi_ function follows after a
 * colon. */
m4_define([foreach_serial_nf], [m4_dnl
$1([abort], num, ncid)m4_dnl
$1([close], num, ncid)m4_dnl
$1([copy_att], num, ncid_in, num, varid_in, text, name, num, ncid_out, num, varid_out)m4_dnl
$1([def_dim], num, ncid, text, name, length, len, int_out, dimid)m4_dnl
$1([def_var], num, ncid, text, name, num, xtype, num, ndims, num, dimids, int_out, varid)m4_dnl
$1([del_att], num, ncid, num, varid, text, name)m4_dnl
$1([enddef], num, ncid)m4_dnl
$1([get_att_text], num, ncid, num, varid, text, name, char_out, ip)m4_dnl
$1([inq], num, ncid, int_out, ndims, int_out, nvars, int_out, ngatts, int_out, unlimdimid)m4_dnl
$1([inq_att], num, ncid, num, varid, text, name, int_out, xtype, length_out, len)m4_dnl
$1([inq_attid], num, ncid, num, varid, text, name, int_out, attid)m4_dnl
$1([inq_attlen], num, ncid, num, varid, text, name, length_out, len)m4_dnl
$1([inq_attname], num, ncid, num, varid, num, attid, text_out, name)m4_dnl
$1([inq_atttype], num, ncid, num, varid, text, name, int_out, xtype)m4_dnl
$1([inq_dim], num, ncid, num, dimid, text_out, name, length_out, len)m4_dnl
$1([inq_dimid], num, ncid, text, name, int_out, dimid)m4_dnl
$1([inq_dimlen], num, ncid, num, dimid, length_out, len)m4_dnl
$1([inq_dimname], num, ncid, num, dimid, text_out, name)m4_dnl
$1([inq_format], num, ncid, int_out, format)m4_dnl
$1([inq_natts], num, ncid, int_out, ngatts)m4_dnl
$1([inq_path], num, ncid, int_out, pathlen, text_out, path)m4_dnl
$1([def_var_fill], num, ncid, num, varid, num, no_fill, char, fill_value)m4_dnl
$1([put_att], num, ncid, num, varid, text, name, num, xtype, length, len, char, op)m4_dnl
$1([get_att], num, ncid, num, varid, text, name, char_out, ip)m4_dnl
$1([inq_ndims], num, ncid, int_out, ndims)m4_dnl
$1([inq_nvars], num, ncid, int_out, nvars)m4_dnl
$1([inq_unlimdim], num, ncid, int_out, unlimdimid)m4_dnl
$1([inq_var], num, ncid, num, varid, text_out, name, int_out, xtype, int_out, ndims, int_out, dimids, int_out, natts)m4_dnl
$1([inq_vardimid], num, ncid, num, varid, int_out, dimids)m4_dnl
$1([inq_varid], num, ncid, text, name, int_out, varid)m4_dnl
$1([inq_varname], num, ncid, num, varid, text_out, name)m4_dnl
$1([inq_varnatts], num, ncid, num, varid, int_out, natts)m4_dnl
$1([inq_varndims], num, ncid, num, varid, int_out, ndims)m4_dnl
$1([inq_vartype], num, ncid, num, varid, int_out, xtype)m4_dnl
$1([put_att_text], num, ncid, num, varid, text, name, length, len, char, op)m4_dnl
$1([rename_att], num, ncid, num, varid, text, curname, text, newname)m4_dnl
$1([rename_dim], num, ncid, num, dimid, text, name)m4_dnl
$1([rename_var], num, ncid, num, varid, text, name)m4_dnl
$1([set_default_format], num, format, int_out, old_format)m4_dnl
$1([sync], num, ncid)m4_dnl
foreach_f77_number_type([m4_dnl
$1(get_att_[]NF_NAME:get_att_[]T_NAME, num, ncid, num, varid, text, name, T_CNAME[]_out, ip)m4_dnl
$1(put_att_[]NF_NAME:put_att_[]T_NAME, num, ncid, num, varid, text, name, num, xtype, length, len, T_CNAME, op)m4_dnl
])])
/* Other netCDF-Fortran functions: those written by hand, and those that netCDF rejects
 * for classic files. */
m4_define([foreach_serial_nf_more], [m4_dnl
$1([redef])$1([inq_var_fill])m4_dnl
$1([_create])$1([_open])$1([_enddef])$1([_create_mp])$1([_open_mp])$1([inq_base_pe])m4_dnl
$1([set_base_pe])$1([copy_var])$1([inq_dimids])$1([inq_varids])$1([inq_var_chunking])m4_dnl
$1([inq_var_deflate])$1([inq_var_fletcher32])$1([inq_var_szip])$1([set_chunk_cache])m4_dnl
$1([set_log_level])$1([delete_mp])$1([inq_grps])$1([inq_grpname])m4_dnl
$1([inq_grpname_full])$1([inq_grpname_len])$1([inq_grp_parent])$1([inq_ncid])m4_dnl
$1([inq_grp_ncid])$1([inq_grp_full_ncid])$1([inq_typeids])$1([inq_typeid])$1([inq_type])m4_dnl
$1([inq_var_filter])$1([get_chunk_cache])$1([free_vlen])$1([create_par])$1([open_par])m4_dnl
$1([var_par_access])])
m4_define([foreach_serial_nf_not4], [m4_dnl
$1([def_var_chunking])$1([def_var_deflate])$1([def_var_endian])$1([def_var_filter])m4_dnl
$1([def_var_fletcher32])$1([def_var_szip])$1([set_var_chunk_cache])m4_dnl
$1([get_var_chunk_cache])$1([inq_var_endian])$1([rename_grp])$1([def_grp])m4_dnl
$1([def_compound])$1([insert_compound])$1([insert_array_compound])$1([inq_compound])m4_dnl
$1([inq_compound_name])$1([inq_compound_size])$1([inq_compound_nfields])m4_dnl
$1([inq_compound_field])$1([inq_compound_fieldname])$1([inq_compound_fieldindex])m4_dnl
$1([inq_compound_fieldoffset])$1([inq_compound_fieldtype])$1([inq_compound_fieldndims])m4_dnl
$1([inq_compound_fielddim_sizes])$1([def_enum])$1([insert_enum])$1([inq_enum])m4_dnl
$1([inq_enum_member])$1([inq_enum_ident])$1([def_opaque])$1([inq_opaque])$1([def_vlen])m4_dnl
$1([inq_vlen])$1([get_vlen_element])$1([put_vlen_element])$1([inq_user_type])])
m4_define([NF_NAME], [m4_ifelse(T_NAME, [int8], [int64], T_NAME)])
m4_divert[]m4_dnl
