! Handles errors, and continues after them.
!
!     mpif90 -o errors errors.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./errors
program errors
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer :: file, dim, var, status, values(4)
  integer(kind=offset) :: start(1), count(1)
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'errors.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  call expect(nf90_enoent, nf90mpi_open(MPI_COMM_WORLD, 'no such file', nf90_nowrite, &
    MPI_INFO_NULL, file), 'opening what is not there:')

  call check(nf90mpi_create(MPI_COMM_WORLD, path, nf90_clobber, MPI_INFO_NULL, file))
  call check(nf90mpi_def_dim(file, 'x', 4_offset, dim))
  call check(nf90mpi_def_var(file, 'v', nf90_short, dim, var))
  call expect(nf90_enameinuse, nf90mpi_def_var(file, 'v', nf90_int, dim, var), &
    'a name taken already:')
  call check(nf90mpi_inq_varid(file, 'v', var))

  ! Data can be written only in data mode.
  start = 1
  count = merge(4, 0, rank == 0)
  values = (/ 1, 2, 100000, 4 /)
  call expect(nf90_eindefine, nf90mpi_put_var_all(file, var, values, start, count), &
    'data before nf90mpi_enddef:')
  call check(nf90mpi_enddef(file))
  call expect(nf90_enotindep, nf90mpi_put_var(file, var, values, start, count), &
    'independent in collective mode:')

  ! 100000 is out of range for a short. The call stores the fill value in its place, and still
  ! writes the other elements.
  status = nf90mpi_put_var_all(file, var, values, start, count)
  call expect(nf90_erange, worst_of_all(status), 'a value out of range:')

  ! One process reads beyond the end of the variable; the others succeed.
  start = merge(4, 1, rank == 0)
  count = 2
  status = nf90mpi_get_var_all(file, var, values, start, count)
  call expect(nf90_eedge, worst_of_all(status), 'over the end of a dimension:')
  call check(nf90mpi_close(file))

  call expect(nf90_ebadid, nf90mpi_close(file), 'closing twice:')
  call expect(nf90_eexist, nf90mpi_create(MPI_COMM_WORLD, path, nf90_noclobber, &
    MPI_INFO_NULL, file), 'creating what is there:')
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

  ! Checks that a call returned the error that this program provoked. Any other result is a
  ! failure. Error codes are negative, and each has a name and a message.
  subroutine expect(code, status, what)
    integer, intent(in) :: code, status
    character(len=*), intent(in) :: what
    if (rank == 0) print '(a32, 1x, a, 1x, a)', what, trim(nf90mpi_strerrno(status)), &
      trim(nf90mpi_strerror(status))
    if (status /= code) call check(merge(status, nf90_einval, status /= nf90_noerr))
  end subroutine

  ! A process with a local error must still make every collective call, or the others would wait
  ! forever. So such a process continues, and all processes agree on the result afterwards.
  integer function worst_of_all(status)
    integer, intent(in) :: status
    call MPI_Allreduce(status, worst_of_all, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierr)
  end function

end program
