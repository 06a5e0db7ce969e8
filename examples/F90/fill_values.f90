! Fills elements that no process writes: in fill mode they get a fill value, which readers
! interpret as "no data".
!
!     mpif90 -o fill_values fill_values.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./fill_values
program fill_values
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: length = 12
  integer :: file, vars(3), off, missing
  integer(kind=offset) :: record
  real :: none, values(length, 2)
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'fill_values.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  call check(nf90mpi_create(MPI_COMM_WORLD, path, nf90_clobber, MPI_INFO_NULL, file))
  call define()
  call write_half(vars(1))
  call write_half(vars(2))

  ! Each record must be filled explicitly, before any part of it is written.
  do record = 1, 2
    call check(nf90mpi_fill_var_rec(file, vars(3), record))
  end do
  call check(nf90mpi_put_var_all(file, vars(3), 1., &
    start=(/ int(length, offset), 2_offset /), &
    count=(/ merge(1_offset, 0_offset, rank == 0), 1_offset /)))
  call check(nf90mpi_sync(file))

  ! A reader can query the fill mode: `off` is 1 if the variable is not filled.
  call check(nf90mpi_inq_var_fill(file, vars(3), off, none))
  call check(nf90mpi_get_var_all(file, vars(3), values))
  missing = count(abs(values - none) < 1)
  print '(a, i0, a, i0, a, i0, a)', 'process ', rank, ': ', missing, ' of ', size(values), &
    ' elements have no data'
  if (off /= 0 .or. missing /= size(values) - 1) call check(nf90_eread)
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

  subroutine define()
    integer :: time, x
    call check(nf90mpi_def_dim(file, 'time', nf90mpi_unlimited, time))
    call check(nf90mpi_def_dim(file, 'x', int(length, offset), x))
    call check(nf90mpi_def_var(file, 'default_fill', nf90_int, x, vars(1)))
    call check(nf90mpi_def_var(file, 'own_fill', nf90_float, x, vars(2)))
    call check(nf90mpi_def_var(file, 'records', nf90_float, (/ x, time /), vars(3)))

    ! Filling costs an additional write, so it is off by default. It can be enabled for
    ! all variables with the default values of their types ...
    call check(nf90mpi_set_fill(file, nf90_fill, off))
    ! ... and for one variable with a given value, which becomes the variable's attribute
    ! _FillValue.
    call check(nf90mpi_def_var_fill(file, vars(2), 0, -999.))
    call check(nf90mpi_def_var_fill(file, vars(3), 0, -999.))
    call check(nf90mpi_enddef(file)) ! fills the fixed-size variables
  end subroutine

  ! Process r writes elements r + 1, r + 1 + nprocs ... of the first half. The rest is not
  ! written.
  subroutine write_half(var)
    integer, intent(in) :: var
    integer :: n, i
    n = 0
    if (rank < length / 2) n = (length / 2 - rank - 1) / nprocs + 1
    call check(nf90mpi_put_var_all(file, var, (/ (real(rank + (i - 1) * nprocs), i = 1, n) /), &
      start=(/ int(merge(rank + 1, 1, n > 0), offset) /), stride=(/ int(nprocs, offset) /)))
  end subroutine

end program
