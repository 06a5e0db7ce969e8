m4_include(`tables.m4')m4_include([serial_tables.m4])m4_divert(-1)
m4_define([DECLARE], [      $1 nf_$2
      external nf_$2
])
m4_define([INTEGER], [DECLARE([integer], m4_regexp([$1], [^\([^:]*\)], [\1]))])
m4_define([PARAMETER], [      integer nf_$1
      parameter (nf_$1 = $2)
])
m4_divert[]m4_dnl
! storage in netCDF-4 files
PARAMETER([chunked], [0])PARAMETER([contiguous], [1])PARAMETER([compact], [2])m4_dnl
PARAMETER([nochecksum], [0])PARAMETER([fletcher32], [1])PARAMETER([noshuffle], [0])m4_dnl
PARAMETER([shuffle], [1])PARAMETER([endian_little], [1])m4_dnl
PARAMETER([endian_big], [2])PARAMETER([szip_ec_option_mask], [4])m4_dnl
PARAMETER([szip_nn_option_mask], [32])PARAMETER([chunk_seq], [0])PARAMETER([chunk_sub], [1])m4_dnl
PARAMETER([chunk_sizes], [2])PARAMETER([diskless], [8])PARAMETER([mmap], [16])m4_dnl
PARAMETER([mpiposix], [16384])PARAMETER([independent], [0])PARAMETER([collective], [1])m4_dnl
PARAMETER([string], [12])PARAMETER([vlen], [13])PARAMETER([opaque], [14])m4_dnl
PARAMETER([enum], [15])PARAMETER([compound], [16])m4_dnl
! functions of netCDF-Fortran for classic files
      external nf_serial_comm
DECLARE([character*80], [inq_libvers])m4_dnl
DECLARE([character*80], [strerror])m4_dnl
DECLARE([logical], [issyserr])m4_dnl
INTEGER([create])INTEGER([open])INTEGER([delete])INTEGER([set_fill])m4_dnl
foreach_serial_nf([INTEGER])m4_dnl
foreach_serial_nf_more([INTEGER])m4_dnl
foreach_serial_nf_not4([INTEGER])m4_dnl
foreach_serial_direction([foreach_serial_kind([foreach_serial_nf_type([m4_dnl
INTEGER(D_NAME[]_[]K_NAME[]S_SUFFIX)])])])m4_dnl
