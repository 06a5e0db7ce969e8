m4_include(`f90_tables.m4')m4_dnl
! Generated from pnetcdf.f90.m4.
!
! Module pnetcdf: the functions of pnetcdf.h for Fortran 90, under the names nf90mpi_.
!
! As in netCDF-Fortran, indices and ids of variables and dimensions count from 1, the
! fastest dimension comes first, and functions return nf90_noerr or an error code. What
! else is to know of them stands in pnetcdf.h.
!
! Values are of type character, integer (1, 2, 4, 8 bytes) or real (4, 8 bytes) and of any
! rank; a section of an array is used where it lies. start, count, stride and map are
! optional: from the first element, as many as there are values, each of them, in memory
! without gaps. What a get does not read keeps its value.
!
! What iput and iget are given must stay, unchanged by the program, until the request was
! waited for; but an iput takes at most 4 KiB of values at once (see pnetcdf.h). So do not
! pass them large expressions, nor components of an array of structures (a%b), of which the
! compiler makes a copy that is gone when the call returns.
module pnetcdf
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
m4_ifdef([HAVE_MPI_F08], [m4_dnl
  use mpi_f08, only: f08_comm => MPI_Comm, f08_info => MPI_Info
])m4_dnl
  implicit none

  ! As configure has seen to. Module mpi would leave common blocks of its own in the library.
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
  private :: c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
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
