m4_divert(-1)
/* The tables from which the nfmpi_ functions are generated: types in Fortran, kinds of
 * arguments, and all functions whose arguments can be converted separately. Read with `m4
 * -P`. */

/* Types in memory.
 *     T_NAME   suffix of a function's name
 *     T_CNAME  the same in C
 *     T_C      C type */
m4_define([f77_type_row],
[m4_define([T_NAME], [$2])m4_define([T_CNAME], [$3])m4_define([T_C], [$4])$1])

m4_define([foreach_f77_number_type], [m4_dnl
f77_type_row([$1], [int1],   [schar],    [signed char])m4_dnl
f77_type_row([$1], [int2],   [short],    [short])m4_dnl
f77_type_row([$1], [int],    [int],      [int])m4_dnl
f77_type_row([$1], [int8],   [longlong], [long long])m4_dnl
f77_type_row([$1], [real],   [float],    [float])m4_dnl
f77_type_row([$1], [double], [double],   [double])])

/* Forms of a function: flexible, for a buffer that an MPI datatype describes, and typed.
 *     F_SUFFIX, F_CSUFFIX  suffix of the name, in Fortran and in C
 *     F_C                  C type of the buffer
 *     F_DECL, F_PASS       bufcount and buftype: as parameters, as arguments */
m4_define([f77_form_row], [m4_define([F_SUFFIX], [$2])m4_define([F_CSUFFIX], [$3])m4_dnl
m4_define([F_C], [$4])m4_define([F_DECL], [$5])m4_define([F_PASS], [$6])$1])

m4_define([foreach_f77_form], [m4_dnl
f77_form_row([$1], [], [], [void],
    [, const MPI_Offset *bufcount, const MPI_Fint *buftype],
    [, *bufcount, MPI_Type_f2c(*buftype)])m4_dnl
f77_form_row([$1], [_text], [_text], [char], [], [])m4_dnl
foreach_f77_number_type([f77_form_row([$1], [_]T_NAME, [_]T_CNAME, T_C, [], [])])])

/* Kinds of access. W_DECL: declarations of the parameters that describe the hyperslab.
 * W_MAKE: their conversion to C. W_PASS: the converted arguments. */
m4_define([f77_kind_row], [m4_define([K_NAME], [$2])m4_define([W_DECL], [$3])m4_dnl
m4_define([W_MAKE], [$4])m4_define([W_PASS], [$5])$1])

m4_define([foreach_f77_kind], [m4_dnl
f77_kind_row([$1], [var], [], [f77_slab_make(&at, *ncid, *varid, NULL, NULL, NULL, NULL)],
    [])m4_dnl
f77_kind_row([$1], [var1], [
    const MPI_Offset *start,],
    [f77_slab_make(&at, *ncid, *varid, start, NULL, NULL, NULL)],
    [at.start, ])m4_dnl
f77_kind_row([$1], [vara], [
    const MPI_Offset *start, const MPI_Offset *count,],
    [f77_slab_make(&at, *ncid, *varid, start, count, NULL, NULL)],
    [at.start, at.count, ])m4_dnl
f77_kind_row([$1], [vars], [
    const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride,],
    [f77_slab_make(&at, *ncid, *varid, start, count, stride, NULL)],
    [at.start, at.count, at.stride, ])m4_dnl
f77_kind_row([$1], [varm], [
    const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride,
    const MPI_Offset *imap,],
    [f77_slab_make(&at, *ncid, *varid, start, count, stride, imap)],
    [at.start, at.count, at.stride, at.imap, ])m4_dnl
f77_kind_row([$1], [varn], [ const int *num,
    const MPI_Offset *starts, const MPI_Offset *counts,],
    [f77_list_make(&at, *ncid, *varid, *num, starts, counts)],
    [*num, at.starts, at.counts, ])])

/* Modes. M_CONST: "const" if the buffer is only read. M_DECL, M_PASS: the request id, as
 * a parameter and as an argument. */
m4_define([f77_mode_row], [m4_define([M_NAME], [$2])m4_define([M_SHARING], [[$3]])m4_dnl
m4_define([M_CONST], [$4])m4_define([M_DECL], [$5])m4_define([M_PASS], [$6])$1])

m4_define([foreach_f77_mode], [m4_dnl
f77_mode_row([$1], [put], [foreach_sharing], [const ], [], [])m4_dnl
f77_mode_row([$1], [get], [foreach_sharing], [], [], [])m4_dnl
f77_mode_row([$1], [iput], [only_independent], [const ], [, int *req], [, req])m4_dnl
f77_mode_row([$1], [iget], [only_independent], [], [, int *req], [, req])m4_dnl
f77_mode_row([$1], [bput], [only_independent], [const ], [, int *req], [, req])])

/* A data function's name without the prefix nfmpi_, and the C function's name. */
m4_define([F77_DATA_NAME], [M_NAME[]_[]K_NAME[]F_SUFFIX[]C_SUFFIX])
m4_define([F77_DATA_CNAME], [M_NAME[]_[]K_NAME[]F_CSUFFIX[]C_SUFFIX])

/* All data functions for a mode, except vard. */
m4_define([foreach_f77_function], [foreach_f77_kind([m4_indir(M_SHARING, [foreach_f77_form([$1])])])])

/* Functions whose arguments are converted to C individually. A row contains the name of
 * the function, followed by the kind and the name of every argument.
 * foreach_f77_plain(body) calls the macro `body` for each row. Kinds of input arguments:
 *       num, offset       integers
 *       id, record        integers that start at 1
 *       text              a string without its trailing blanks
 *       info, type        an MPI handle
 *       bytes, TYPE       an array, passed unchanged
 * Kinds of output arguments that are returned unchanged:
 *       int_out, offset_out, data_out, TYPE_out
 * Kinds of output arguments that are converted:
 *       id_out            starts at 1
 *       dim_out           starts at 1; -1 remains -1
 *       name_out          padded with blanks
 *       info_out          an MPI handle
 * If the C function has a different name, the row contains name_in_Fortran:name_in_C. */
m4_define([foreach_f77_plain], [m4_dnl
$1([_enddef], num, ncid, offset, h_minfree, offset, v_align, offset, v_minfree, offset, r_align)m4_dnl
$1([abort], num, ncid)m4_dnl
$1([begin_indep_data], num, ncid)m4_dnl
$1([buffer_attach], num, ncid, offset, bufsize)m4_dnl
$1([buffer_detach], num, ncid)m4_dnl
$1([cancel], num, ncid, num, count, int_out, req, int_out, status)m4_dnl
$1([close], num, ncid)m4_dnl
$1([copy_att], num, ncid_in, id, varid_in, text, name, num, ncid_out, id, varid_out)m4_dnl
$1([def_dim], num, ncid, text, name, offset, len, id_out, dimid)m4_dnl
$1([def_var_fill], num, ncid, id, varid, num, no_fill, bytes, fill_value)m4_dnl
$1([del_att], num, ncid, id, varid, text, name)m4_dnl
$1([end_indep_data], num, ncid)m4_dnl
$1([enddef], num, ncid)m4_dnl
$1([fill_var_rec], num, ncid, id, varid, record, recno)m4_dnl
$1([flush], num, ncid)m4_dnl
$1([get_att], num, ncid, id, varid, text, name, data_out, value)m4_dnl
$1([get_att_text], num, ncid, id, varid, text, name, char_out, ip)m4_dnl
$1([get_file_info], num, ncid, info_out, info)m4_dnl
$1([inq], num, ncid, int_out, ndims, int_out, nvars, int_out, ngatts, dim_out, unlimdimid)m4_dnl
$1([inq_att], num, ncid, id, varid, text, name, int_out, xtype, offset_out, len)m4_dnl
$1([inq_attid], num, ncid, id, varid, text, name, id_out, attid)m4_dnl
$1([inq_attlen], num, ncid, id, varid, text, name, offset_out, len)m4_dnl
$1([inq_attname], num, ncid, id, varid, id, attid, name_out, name)m4_dnl
$1([inq_atttype], num, ncid, id, varid, text, name, int_out, xtype)m4_dnl
$1([inq_buffer_size], num, ncid, offset_out, buf_size)m4_dnl
$1([inq_buffer_usage], num, ncid, offset_out, usage)m4_dnl
$1([inq_default_format], int_out, format)m4_dnl
$1([inq_dim], num, ncid, id, dimid, name_out, name, offset_out, len)m4_dnl
$1([inq_dimid], num, ncid, text, name, id_out, dimid)m4_dnl
$1([inq_dimlen], num, ncid, id, dimid, offset_out, len)m4_dnl
$1([inq_dimname], num, ncid, id, dimid, name_out, name)m4_dnl
$1([inq_file_info], num, ncid, info_out, info)m4_dnl
$1([inq_files_opened], int_out, nfiles, int_out, ncids)m4_dnl
$1([inq_format], num, ncid, int_out, format)m4_dnl
$1([inq_get_size], num, ncid, offset_out, size)m4_dnl
$1([inq_header_extent], num, ncid, offset_out, extent)m4_dnl
$1([inq_header_size], num, ncid, offset_out, size)m4_dnl
$1([inq_malloc_list])m4_dnl
$1([inq_malloc_max_size], offset_out, size)m4_dnl
$1([inq_malloc_size], offset_out, size)m4_dnl
$1([inq_natts], num, ncid, int_out, ngatts)m4_dnl
$1([inq_ndims], num, ncid, int_out, ndims)m4_dnl
$1([inq_nreqs], num, ncid, int_out, nreqs)m4_dnl
$1([inq_num_fix_vars], num, ncid, int_out, nvars)m4_dnl
$1([inq_num_rec_vars], num, ncid, int_out, nvars)m4_dnl
$1([inq_nvars], num, ncid, int_out, nvars)m4_dnl
$1([inq_put_size], num, ncid, offset_out, size)m4_dnl
$1([inq_recsize], num, ncid, offset_out, recsize)m4_dnl
$1([inq_striping], num, ncid, int_out, striping_size, int_out, striping_count)m4_dnl
$1([inq_unlimdim], num, ncid, dim_out, unlimdimid)m4_dnl
$1([inq_var_fill], num, ncid, id, varid, int_out, no_fill, data_out, fill_value)m4_dnl
$1([inq_varid], num, ncid, text, name, id_out, varid)m4_dnl
$1([inq_varname], num, ncid, id, varid, name_out, name)m4_dnl
$1([inq_varnatts], num, ncid, id, varid, int_out, natts)m4_dnl
$1([inq_varndims], num, ncid, id, varid, int_out, ndims)m4_dnl
$1([inq_varoffset], num, ncid, id, varid, offset_out, offset)m4_dnl
$1([inq_vartype], num, ncid, id, varid, int_out, xtype)m4_dnl
$1([put_att], num, ncid, id, varid, text, name, num, xtype, offset, nelems, bytes, value)m4_dnl
$1([put_att_text], num, ncid, id, varid, text, name, offset, len, char, op)m4_dnl
$1([redef], num, ncid)m4_dnl
$1([rename_att], num, ncid, id, varid, text, curname, text, newname)m4_dnl
$1([rename_dim], num, ncid, id, dimid, text, name)m4_dnl
$1([rename_var], num, ncid, id, varid, text, name)m4_dnl
$1([set_default_format], num, format, int_out, old_format)m4_dnl
$1([set_fill], num, ncid, num, fillmode, int_out, old_mode)m4_dnl
$1([sync], num, ncid)m4_dnl
$1([sync_numrecs], num, ncid)m4_dnl
$1([wait], num, ncid, num, count, int_out, req, int_out, status)m4_dnl
$1([wait_all], num, ncid, num, count, int_out, req, int_out, status)m4_dnl
$1([get_vard], num, ncid, id, varid, type, filetype, data_out, ip, offset, bufcount, type, buftype)m4_dnl
$1([get_vard_all], num, ncid, id, varid, type, filetype, data_out, ip, offset, bufcount, type, buftype)m4_dnl
$1([put_vard], num, ncid, id, varid, type, filetype, bytes, ip, offset, bufcount, type, buftype)m4_dnl
$1([put_vard_all], num, ncid, id, varid, type, filetype, bytes, ip, offset, bufcount, type, buftype)m4_dnl
foreach_f77_number_type([m4_dnl
$1(get_att_[]T_NAME:get_att_[]T_CNAME, num, ncid, id, varid, text, name, T_CNAME[]_out, ip)m4_dnl
$1(put_att_[]T_NAME:put_att_[]T_CNAME, num, ncid, id, varid, text, name, num, xtype, offset, len, T_CNAME, op)m4_dnl
])])

/* Functions that src/binding/f77 implements by hand. */
m4_define([foreach_f77_other], [m4_dnl
$1([create])m4_dnl
$1([def_var])m4_dnl
$1([delete])m4_dnl
$1([inq_file_format])m4_dnl
$1([inq_path])m4_dnl
$1([inq_var])m4_dnl
$1([inq_vardimid])m4_dnl
$1([open])])

m4_define([UPPER], [m4_translit([$1], [a-z], [A-Z])])
m4_divert[]m4_dnl
