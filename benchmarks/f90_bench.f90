! Compares the cost of a put through module pnetcdf with that of the same put in C. Runs on one
! process and reports the minimum time of many rounds.
!
!     f90_bench [FILE]
program f90_bench
  use, intrinsic :: iso_c_binding
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: nx = 256, ny = 4096, rounds = 41
  integer :: ierr, ncid, varid, x, y, w
  real, allocatable, target :: field(:, :)
  integer, parameter :: rows(4) = (/ 1, 16, 256, 4096 /), puts(4) = (/ 2000, 1000, 200, 20 /)
  double precision :: in_c, in_fortran
  character(len=500) :: path

  interface
    function put_in_c(ncid, varid, start, count, values) &
        bind(C, name='ncmpi_put_vara_float_all')
      import
      integer(c_int) :: put_in_c
      integer(c_int), value :: ncid, varid
      integer(c_int64_t), dimension(*), intent(in) :: start, count
      real(c_float), dimension(*), intent(in) :: values
    end function
  end interface

  call MPI_Init(ierr)
  path = 'f90_bench.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  allocate (field(nx, ny))
  call random_number(field)
  call check(nf90mpi_create(MPI_COMM_SELF, path, nf90_64bit_data, MPI_INFO_NULL, ncid))
  call check(nf90mpi_def_dim(ncid, 'x', int(nx, offset), x))
  call check(nf90mpi_def_dim(ncid, 'y', int(ny, offset), y))
  call check(nf90mpi_def_var(ncid, 'field', nf90_float, (/ x, y /), varid))
  call check(nf90mpi_enddef(ncid))
  call check(nf90mpi_put_var_all(ncid, varid, field))
  print '(a)', '     bytes   C, us  Fortran, us   ratio'
  do w = 1, size(rows)
    call compare(rows(w), puts(w))
    print '(i10, f8.2, f13.2, f8.3)', 4 * nx * rows(w), 1e6 * in_c, 1e6 * in_fortran, &
      in_fortran / in_c
  end do
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

  ! Rounds alternate, so that both run under the same conditions.
  subroutine compare(n, times)
    integer, intent(in) :: n, times
    integer :: round, i, status
    double precision :: since
    in_c = huge(in_c)
    in_fortran = in_c
    status = 0
    do round = 1, rounds
      since = MPI_Wtime()
      do i = 1, times
        status = min(status, put_in_c(ncid, varid - 1, (/ 0_c_int64_t, 0_c_int64_t /), &
          int((/ n, nx /), c_int64_t), field))
      end do
      in_c = min(in_c, (MPI_Wtime() - since) / times)
      since = MPI_Wtime()
      do i = 1, times
        status = min(status, nf90mpi_put_var_all(ncid, varid, field(:, :n), &
          start=(/ 1_offset, 1_offset /)))
      end do
      in_fortran = min(in_fortran, (MPI_Wtime() - since) / times)
    end do
    call check(status)
  end subroutine

end program
