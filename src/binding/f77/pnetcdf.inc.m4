m4_include(`tables.m4')m4_include([f77_tables.m4])m4_divert(-1)
m4_define([DECLARE], [      $1 nfmpi_$2
      external nfmpi_$2
])
m4_define([INTEGER], [DECLARE([integer], m4_regexp([$1], [^\([^:]*\)], [\1]))])
m4_divert[]m4_dnl
! functions
DECLARE([character*80], [inq_libvers])m4_dnl
DECLARE([character*80], [strerror])m4_dnl
DECLARE([character*80], [strerrno])m4_dnl
DECLARE([logical], [issyserr])m4_dnl
foreach_f77_other([INTEGER])m4_dnl
foreach_f77_plain([INTEGER])m4_dnl
foreach_f77_mode([foreach_f77_function([INTEGER(F77_DATA_NAME)])])m4_dnl
