m4_include(`f90_tables.m4')m4_dnl
! Generated from pnetcdf.f90.m4.
!
! Module pnetcdf: the functions of pnetcdf.h for Fortran 90, with names that start with
! nf90mpi_.
!
! As in netCDF-Fortran, indices and ids of variables and dimensions start at 1, the
! fastest dimension comes first, and functions return nf90_noerr or an error code.
! pnetcdf.h documents everything else.
!
! Values may have type character, integer (1, 2, 4, 8 bytes) or real (4, 8 bytes) and any
! rank. Sections of arrays are used in place. start, count, stride and map are optional.
! By default an access starts at the first element, covers as many elements as there are
! values, has no stride, and uses contiguous memory. A get does not change values that it
! does not read.
!
! The arrays passed to iput and iget must exist, and the program must not change them,
! until it has waited for the request. Only an iput of at most 4 KiB of values copies them
! (see pnetcdf.h). Therefore do not pass large expressions, nor components of an array of
! structures (a%b): the compiler passes a temporary copy, which no longer exists when the
! call returns.
module pnetcdf
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
m4_ifdef([HAVE_MPI_F08], [m4_dnl
  use mpi_f08, only: f08_comm => MPI_Comm, f08_info => MPI_Info
])m4_dnl
  implicit none

  ! Kind as checked by configure. Module mpi would add common blocks to the library.
  integer, parameter, private :: MPI_OFFSET_KIND = c_int64_t

  include 'pnetcdf.inc'
  include 'pnetcdf_nf90.inc'

  integer, parameter :: nf90_noquantize = 0
  integer, parameter :: nf90_quantize_bitgroom = 1
  integer, parameter :: nf90_quantize_granularbr = 2
  integer, parameter :: nf90_quantize_bitround = 3
  integer, parameter :: int1 = selected_int_kind(2)
  integer, parameter :: int2 = selected_int_kind(4)
  integer, parameter :: int4 = selected_int_kind(9)
  integer, parameter :: int8 = selected_int_kind(18)
  integer, parameter :: real4 = selected_real_kind(6)
  integer, parameter :: real8 = selected_real_kind(13)
  integer(kind=MPI_OFFSET_KIND), parameter :: one_value = 1
  private :: c_char, c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
m4_ifdef([HAVE_MPI_F08], [m4_dnl
  private :: f08_comm, f08_info
])m4_dnl
  private :: int1, int2, int4, int8, real4, real8, one_value

m4_include([f90_generics.m4])m4_dnl
contains
m4_ifdef([HAVE_MPI_F08], [m4_include([f90_f08.m4])])m4_dnl
m4_include([f90_file.m4])m4_dnl
m4_include([f90_define.m4])m4_dnl
m4_include([f90_data.m4])m4_dnl
end module
