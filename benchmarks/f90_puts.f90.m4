m4_changequote([,])m4_changecom([/*],[*/])m4_divert(-1)
/* Processed by `m4 -P -D PART=loops` and, for the program, with `-D PART=main`. The loops
 * are in a separate file so that they are not inlined. foreach_case([body]) expands the
 * body once for each row:
 *     C_TAG    name of the case
 *     C_TYPE   type in names of nfmpi_; T_DECL, T_BIND, T_C, T_NC depend on it
 *     C_FORM   vara, vars or varm
 *     C_SHAPE  shape of 1 KiB of values; C_COUNT: the same in C order */
m4_define([case_row], [m4_define([C_TAG], [$2])m4_define([C_TYPE], [$3])m4_dnl
m4_define([C_FORM], [$4])m4_define([C_SHAPE], [$5])m4_define([C_COUNT], [$6])m4_dnl
m4_indir([TYPE_$3])$1])
m4_define([foreach_case], [m4_dnl
case_row([$1], [rank_1], [real],   [vara], [256], [256])m4_dnl
case_row([$1], [rank_2], [real],   [vara], [32, 8], [8, 32])m4_dnl
case_row([$1], [rank_3], [real],   [vara], [16, 4, 4], [4, 4, 16])m4_dnl
case_row([$1], [rank_4], [real],   [vara], [8, 4, 4, 2], [2, 4, 4, 8])m4_dnl
case_row([$1], [int1],   [int1],   [vara], [128, 8], [8, 128])m4_dnl
case_row([$1], [int2],   [int2],   [vara], [64, 8], [8, 64])m4_dnl
case_row([$1], [int],    [int],    [vara], [32, 8], [8, 32])m4_dnl
case_row([$1], [int8],   [int8],   [vara], [16, 8], [8, 16])m4_dnl
case_row([$1], [double], [double], [vara], [16, 8], [8, 16])m4_dnl
case_row([$1], [stride], [real],   [vars], [32, 8], [8, 32])m4_dnl
case_row([$1], [map],    [real],   [varm], [32, 8], [8, 32])])

/* TYPE(declaration, the same for C, name in C, external type) */
m4_define([TYPE], [m4_define([T_DECL], [$1])m4_define([T_BIND], [$2])m4_dnl
m4_define([T_C], [$3])m4_define([T_NC], [$4])])
m4_define([TYPE_int1],   [TYPE([integer(c_signed_char)], [T_DECL], [schar], [nf90_byte])])
m4_define([TYPE_int2],   [TYPE([integer(c_short)], [T_DECL], [short], [nf90_short])])
m4_define([TYPE_int],    [TYPE([integer(c_int)], [T_DECL], [int], [nf90_int])])
m4_define([TYPE_int8],   [TYPE([integer(c_long_long)], [T_DECL], [longlong], [nf90_int64])])
m4_define([TYPE_real],   [TYPE([real(c_float)], [T_DECL], [float], [nf90_float])])
m4_define([TYPE_double], [TYPE([real(c_double)], [T_DECL], [double], [nf90_double])])

/* The arguments after start and count, in C and Fortran 77, and by keyword. */
m4_define([MORE_vara], [])
m4_define([MORE_vars], [two, ])
m4_define([MORE_varm], [two, $1, ])
m4_define([MORE], [m4_indir([MORE_]C_FORM, [$1])])
m4_define([NAMED_vara], [])
m4_define([NAMED_vars], [[, stride=two]])
m4_define([NAMED_varm], [[, stride=two, map=columns]])
m4_define([NAMED], [m4_indir([NAMED_]C_FORM)])

/* SUBROUTINE(language, call): defines a subroutine that repeats the call. */
m4_define([SUBROUTINE], [
  subroutine in_$1_[]C_TAG[](ncid, varid, a, status)
    integer, intent(in) :: ncid, varid
    T_DECL, intent(in) :: a(C_SHAPE)
    integer, intent(inout) :: status
    integer :: i
    do i = 1, times
      status = min(status, $2)
    end do
  end subroutine
])
m4_divert[]m4_dnl
m4_ifelse(PART, [loops], [m4_dnl
! Generated from f90_puts.f90.m4: repeats a put of 1 KiB from C, Fortran 77 and Fortran 90, for each
! type, rank and form.
module f90_puts_loops
  use, intrinsic :: iso_c_binding
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer :: times = 1000
  integer(kind=offset) :: zeros(4) = 0, ones(4) = 1, two(2) = 2
  integer(kind=offset) :: rows(2) = (/ 1, 8 /), columns(2) = (/ 8, 1 /)

  interface
foreach_case([m4_dnl
    function c_put_[]C_TAG[](ncid, varid, start, count, MORE([map])values) &
        bind(C, name='ncmpi_put_[]C_FORM[]_[]T_C[]_all')
      import
      integer(c_int) :: c_put_[]C_TAG
      integer(c_int), value :: ncid, varid
      integer(c_int64_t), dimension(*), intent(in) :: start, count[]m4_ifelse(C_FORM, [vara], [],
          C_FORM, [vars], [[, two]], [[, two, map]])
      T_BIND, dimension(*), intent(in) :: values
    end function
])m4_dnl
  end interface

contains
foreach_case([m4_dnl
SUBROUTINE([c], [c_put_[]C_TAG[](ncid, varid - 1, zeros, &
        int((/ C_COUNT /), offset), MORE([rows])a)])m4_dnl
SUBROUTINE([f77], [nfmpi_put_[]C_FORM[]_[]C_TYPE[]_all(ncid, varid, ones, &
        int((/ C_SHAPE /), offset), MORE([columns])a)])m4_dnl
SUBROUTINE([f90], [nf90mpi_put_var_all(ncid, varid, a, &
        start=ones(:size(shape(a))), count=int((/ C_SHAPE /), offset)NAMED)])m4_dnl
])
end module
], [m4_dnl
! Generated from f90_puts.f90.m4: measures a put of 1 KiB from C, Fortran 77 and Fortran 90, for
! each type, rank and form. Prints the minimum time of many alternating rounds, in microseconds.
!
!     f90_puts FILE ROUNDS TIMES
program f90_puts
  use f90_puts_loops
  implicit none
  character(len=500) :: path = 'f90_puts.nc', word
  integer :: rounds = 101, ncid, varid, ierr

  call MPI_Init(ierr)
  if (command_argument_count() > 0) call get_command_argument(1, path)
  if (command_argument_count() > 1) then
    call get_command_argument(2, word)
    read (word, *) rounds
  end if
  if (command_argument_count() > 2) then
    call get_command_argument(3, word)
    read (word, *) times
  end if
  call check(nf90mpi_create(MPI_COMM_SELF, path, nf90_64bit_data, MPI_INFO_NULL, ncid))
foreach_case([m4_dnl
  call define('C_TAG', T_NC, m4_ifelse(C_FORM, [vara], [], [2 * ])[](/ C_SHAPE /))
])m4_dnl
  call check(nf90mpi_enddef(ncid))
  print '(a8, 5a9)', 'case', 'C, us', 'F77, us', 'F90, us', 'F77/C', 'F90/C'
foreach_case([m4_dnl
  call time_[]C_TAG
])m4_dnl
  call check(nf90mpi_close(ncid))
  call check(nf90mpi_delete(path, MPI_INFO_NULL))
  call MPI_Finalize(ierr)

contains

  subroutine check(status)
    integer, intent(in) :: status
    if (status == nf90_noerr) return
    print *, trim(nf90mpi_strerror(status))
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine define(name, xtype, lengths)
    character(len=*), intent(in) :: name
    integer, intent(in) :: xtype, lengths(:)
    integer :: dims(size(lengths)), i
    do i = 1, size(lengths)
      call check(nf90mpi_def_dim(ncid, name // achar(48 + i), int(lengths(i), offset), dims(i)))
    end do
    call check(nf90mpi_def_var(ncid, name, xtype, dims, varid))
  end subroutine
foreach_case([
  subroutine time_[]C_TAG
    T_DECL :: a(C_SHAPE)
    double precision :: t(4), best(3)
    integer :: round, status
    a = 1
    best = huge(best)
    status = nf90mpi_inq_varid(ncid, 'C_TAG', varid)
    do round = 1, rounds
      t(1) = MPI_Wtime()
      call in_c_[]C_TAG[](ncid, varid, a, status)
      t(2) = MPI_Wtime()
      call in_f77_[]C_TAG[](ncid, varid, a, status)
      t(3) = MPI_Wtime()
      call in_f90_[]C_TAG[](ncid, varid, a, status)
      t(4) = MPI_Wtime()
      best = min(best, t(2:) - t(:3))
    end do
    call check(status)
    print '(a8, 3f9.3, 2f9.3)', 'C_TAG', best * 1e6 / times, best(2:) / best(1)
  end subroutine
])
end program
])m4_dnl
