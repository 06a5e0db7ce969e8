! Appends data over time: writes a record at each step, and a later run continues where
! the previous one ended.
!
!     mpif90 -o time_series time_series.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./time_series
program time_series
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: length = 10, steps = 3
  integer :: file
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'time_series.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  call create()
  call append()
  call check(nf90mpi_close(file))

  call check(nf90mpi_open(MPI_COMM_WORLD, path, nf90_write, MPI_INFO_NULL, file))
  call append()
  call check(nf90mpi_sync(file))
  call read_series(mod(rank, length) + 1)
  call check(nf90mpi_close(file))
  call MPI_Finalize(ierr)

contains

  ! Checks the error code that a library call returned. If only one process exited, the others
  ! would wait forever, so an error aborts all of them.
  subroutine check(status)
    integer, intent(in) :: status
    integer :: ierr
    if (status == nf90_noerr) return
    print *, trim(nf90mpi_strerror(status))
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  elemental real function temperature(step, x)
    integer, intent(in) :: step, x
    temperature = (280. + real(step - 1)) + 0.1 * real(x - 1)
  end function

  subroutine create()
    integer :: time, x, var
    call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_offset), &
      MPI_INFO_NULL, file))
    ! The unlimited dimension comes last. Variables that use it are stored record by
    ! record.
    call check(nf90mpi_def_dim(file, 'time', nf90mpi_unlimited, time))
    call check(nf90mpi_def_dim(file, 'x', int(length, offset), x))
    call check(nf90mpi_def_var(file, 'time', nf90_double, time, var))
    call check(nf90mpi_put_att(file, var, 'units', 'hours since 2000-01-01 00:00'))
    call check(nf90mpi_def_var(file, 'temperature', nf90_float, (/ x, time /), var))
    call check(nf90mpi_put_att(file, var, 'units', 'K'))
    call check(nf90mpi_enddef(file))
  end subroutine

  ! Writes the same number of records after the existing ones.
  subroutine append()
    integer :: dim, time, var, step, first, last, i
    integer(kind=offset) :: records
    first = length * rank / nprocs + 1
    last = length * (rank + 1) / nprocs
    call check(nf90mpi_inquire(file, unlimitedDimId=dim))
    call check(nf90mpi_inquire_dimension(file, dim, len=records))
    call check(nf90mpi_inq_varid(file, 'time', time))
    call check(nf90mpi_inq_varid(file, 'temperature', var))
    do step = int(records) + 1, int(records) + steps
      ! Process 0 writes the time; the others put no elements.
      call check(nf90mpi_put_var_all(file, time, 6d0 * dble(step - 1), &
        start=(/ int(step, offset) /), count=(/ merge(1_offset, 0_offset, rank == 0) /)))
      call check(nf90mpi_put_var_all(file, var, &
        temperature(step, (/ (i, i = first, last) /)), start=int((/ first, step /), offset)))
    end do
  end subroutine

  ! Reads all steps at one location.
  subroutine read_series(x)
    integer, intent(in) :: x
    integer :: var, i
    real :: values(2 * steps)
    call check(nf90mpi_inq_varid(file, 'temperature', var))
    call check(nf90mpi_get_var_all(file, var, values, start=int((/ x, 1 /), offset), &
      count=int((/ 1, 2 * steps /), offset)))
    if (any(abs(values - temperature((/ (i, i = 1, 2 * steps) /), x)) > 1e-4)) &
      call check(nf90_eread)
    print '(a, i0, 2(a, f5.1), a, i0)', 'process ', rank, ': from ', values(1), ' to ', &
      values(2 * steps), ' at x = ', x
  end subroutine

end program
