m4_include(`tables.m4')m4_include([serial_tables.m4])m4_divert(-1)
/* Kinds of arguments. See serial_tables.m4. */
m4_define([DECL_num], [const int *$1])
m4_define([DECL_int_out], [int *$1])
m4_define([DECL_text], [const char *$1])
m4_define([LENGTH_text], [, F77_STRLEN $1_len])
m4_define([GIVE_text], [, $1_len])
m4_define([DECL_text_out], [char *$1])
m4_define([LENGTH_text_out], [, F77_STRLEN $1_len])
m4_define([GIVE_text_out], [, $1_len])
m4_define([DECL_char], [const char *$1])
m4_define([DECL_char_out], [char *$1])
m4_define([DECL_length], [const int *$1])
m4_define([WIDE_length], [const MPI_Offset *$1])
m4_define([BEFORE_length], [    MPI_Offset c_$1 = *$1;
])
m4_define([PASS_length], [&c_$1])
m4_define([DECL_length_out], [int *$1])
m4_define([WIDE_length_out], [MPI_Offset *$1])
m4_define([BEFORE_length_out], [    MPI_Offset c_$1 = 0;
])
m4_define([PASS_length_out], [&c_$1])
m4_define([AFTER_length_out], [    if (err == NC_NOERR) err = serial_length(c_$1, $1);
])
foreach_f77_number_type([
    m4_define([DECL_]T_CNAME, [const ]T_C[ *$][1])
    m4_define([DECL_]T_CNAME[_out], T_C[ *$][1])
])
m4_define([EACH], [m4_ifelse([$2], [], [],
    [m4_ifdef([$1_$2], [m4_indir([$1_$2], [$3])])[]EACH([$1], m4_shift(m4_shift(m4_shift($@))))])])
m4_define([LIST], [m4_ifelse([$2], [], [],
    [m4_ifdef([$1_$2], [m4_indir([$1_$2], [$3])], [m4_ifdef([$1_IS_WIDE], [m4_indir([DECL_$2], [$3])], [$3])])[]m4_ifelse([$#], [3], [],
        [, LIST([$1], m4_shift(m4_shift(m4_shift($@))))])])])
m4_define([WIDE_IS_WIDE])
m4_define([NF_OF], [m4_regexp([$1], [^\([^:]*\)], [\1])])
m4_define([NFMPI_OF], [m4_regexp([$1], [\([^:]*\)$], [\1])])
m4_define([TWIN], [F77_NAME(nfmpi_[]NFMPI_OF([$1]), NFMPI_[]UPPER(NFMPI_OF([$1])))])
m4_define([STUB], [
int TWIN([$1])(LIST([WIDE], m4_shift($@))EACH([LENGTH], m4_shift($@)));
int F77_NAME(nf_[]NF_OF([$1]), NF_[]UPPER(NF_OF([$1])))(LIST([DECL], m4_shift($@))EACH([LENGTH], m4_shift($@)))
{
EACH([BEFORE], m4_shift($@))m4_dnl
    int err = TWIN([$1])(LIST([PASS], m4_shift($@))EACH([GIVE], m4_shift($@)));
EACH([AFTER], m4_shift($@))m4_dnl
    return err;
}
])
m4_define([REFUSED], [
int F77_NAME(nf_$1, NF_[]UPPER([$1]))(const int *ncid)
{
    return ncserial_not4(*ncid);
}
])
m4_divert[]m4_dnl
/* Generated from serial_nf_typed.c.m4: netCDF-Fortran functions. */
#include "serial_nf.h"
foreach_serial_nf([STUB])m4_dnl

/* Ignores all arguments except the id. */
foreach_serial_nf_not4([REFUSED])m4_dnl
foreach_serial_direction([foreach_serial_kind([foreach_serial_nf_type([
int F77_NAME(nf_[]D_NAME[]_[]K_NAME[]S_SUFFIX, NF_[]UPPER(D_NAME[]_[]K_NAME[]S_SUFFIX))(
    const int *ncid, const int *varid,S_FDECL D_CONST[]S_C *buf)
{
    struct serial_nf_slab at;
    serial_nf_slab(&at, S_FLAG, *ncid, *varid, S_FINIT);
    return serial_[]D_NAME[](*ncid, at.varid, &at.slab, buf, S_MPI);
}
])])])m4_dnl
