m4_include(`tables.m4')m4_include([f77_tables.m4])m4_divert(-1)
/* Kinds of arguments: the declaration (DECL), the conversion before the call, if any, the
 * expression that is passed (PASS), and the conversion after the call, if any. */
m4_define([DECL_num], [const int *$1])
m4_define([PASS_num], [*$1])
m4_define([DECL_offset], [const MPI_Offset *$1])
m4_define([PASS_offset], [*$1])
m4_define([DECL_id], [const int *$1])
m4_define([PASS_id], [f77_id(*$1)])
m4_define([DECL_record], [const MPI_Offset *$1])
m4_define([PASS_record], [f77_index(*$1)])
m4_define([DECL_text], [const char *$1])
m4_define([BEFORE_text], [    char c_$1[[F77_NAME_ROOM]];
    f77_name_in(c_$1, $1, $1_len);
])
m4_define([PASS_text], [c_$1])
m4_define([LENGTH_text], [, F77_STRLEN $1_len])
m4_define([DECL_type], [const MPI_Fint *$1])
m4_define([PASS_type], [MPI_Type_f2c(*$1)])

m4_define([DECL_id_out], [int *$1])
m4_define([AFTER_id_out], [    if (err == NC_NOERR) ++*$1;
])
m4_define([DECL_dim_out], [int *$1])
m4_define([AFTER_dim_out], [    if (err == NC_NOERR && *$1 >= 0) ++*$1;
])
m4_define([DECL_name_out], [char *$1])
m4_define([BEFORE_name_out], [    char c_$1[[NC_MAX_NAME + 1]] = "";
])
m4_define([PASS_name_out], [c_$1])
m4_define([AFTER_name_out], [    if (err == NC_NOERR) f77_text_out($1, $1_len, c_$1);
])
m4_define([LENGTH_name_out], [, F77_STRLEN $1_len])
m4_define([DECL_info_out], [MPI_Fint *$1])
m4_define([BEFORE_info_out], [    MPI_Info c_$1 = MPI_INFO_NULL;
])
m4_define([PASS_info_out], [&c_$1])
m4_define([AFTER_info_out], [    *$1 = MPI_Info_c2f(c_$1);
])
m4_define([DECL_bytes], [const void *$1])
m4_define([DECL_data_out], [void *$1])
m4_define([DECL_int_out], [int *$1])
m4_define([DECL_offset_out], [MPI_Offset *$1])
m4_define([DECL_char], [const char *$1])
m4_define([DECL_char_out], [char *$1])
foreach_f77_number_type([
    m4_define([DECL_]T_CNAME, [const ]T_C[ *$][1])
    m4_define([DECL_]T_CNAME[_out], T_C[ *$][1])
])

/* EACH(aspect, kind, name, ...): expands one aspect, such as DECL, of every argument that
 * has it. */
m4_define([EACH], [m4_ifelse([$2], [], [],
    [m4_ifdef([$1_$2], [m4_indir([$1_$2], [$3])])[]EACH([$1], m4_shift(m4_shift(m4_shift($@))))])])
/* LIST: same as EACH, but separates the expansions by commas. An argument that needs no
 * conversion is passed unchanged. */
m4_define([LIST], [m4_ifelse([$2], [], [],
    [m4_ifdef([$1_$2], [m4_indir([$1_$2], [$3])], [$3])[]m4_ifelse([$#], [3], [],
        [, LIST([$1], m4_shift(m4_shift(m4_shift($@))))])])])

m4_define([FORTRAN_NAME], [m4_regexp([$1], [^\([^:]*\)], [\1])])
m4_define([C_NAME], [m4_regexp([$1], [\([^:]*\)$], [\1])])

m4_define([STUB], [
int F77_NAME(nfmpi_[]FORTRAN_NAME([$1]), NFMPI_[]UPPER(FORTRAN_NAME([$1])))(m4_dnl
m4_ifelse([$#], [1], [void], [LIST([DECL], m4_shift($@))EACH([LENGTH], m4_shift($@))]))
{
EACH([BEFORE], m4_shift($@))m4_dnl
    int err = ncmpi_[]C_NAME([$1])(LIST([PASS], m4_shift($@)));
EACH([AFTER], m4_shift($@))m4_dnl
    return err;
}
])
m4_divert[]m4_dnl
/* Generated from f77_plain.c.m4: functions whose arguments are converted to C
 * individually. */
#include "f77.h"
foreach_f77_plain([STUB])
