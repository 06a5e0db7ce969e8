m4_include(`tables.m4')m4_include([serial_tables.m4])m4_divert(-1)
m4_define([DECLARE], [      $1 nf_$2
      external nf_$2
])
m4_define([INTEGER], [DECLARE([integer], m4_regexp([$1], [^\([^:]*\)], [\1]))])
m4_divert[]m4_dnl
! functions of netCDF-Fortran for classic files
      external nf_serial_comm
DECLARE([character*80], [inq_libvers])m4_dnl
DECLARE([character*80], [strerror])m4_dnl
DECLARE([logical], [issyserr])m4_dnl
INTEGER([create])INTEGER([open])INTEGER([delete])INTEGER([set_fill])m4_dnl
foreach_serial_nf([INTEGER])m4_dnl
foreach_serial_direction([foreach_serial_kind([foreach_serial_nf_type([m4_dnl
INTEGER(D_NAME[]_[]K_NAME[]S_SUFFIX)])])])m4_dnl
