! Reads a file in three ways: on one process, collectively, and independently.
!
!     mpif90 -o ways_to_read ways_to_read.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./ways_to_read
program ways_to_read
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: length = 20
  integer :: file, var, first, last
  double precision :: alone, together, at_will
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'ways_to_read.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  first = length * rank / nprocs + 1
  last = length * (rank + 1) / nprocs
  call create()
  if (rank == 0) call read_alone()
  call MPI_Bcast(alone, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)

  call check(nf90mpi_open(MPI_COMM_WORLD, path, nf90_nowrite, MPI_INFO_NULL, file))
  call check(nf90mpi_inq_varid(file, 'v', var))
  call read_together()
  call read_at_will()
  call check(nf90mpi_close(file))
  if (rank == 0) print '(a, 3(1x, f0.1))', 'sums:', alone, together, at_will
  if (abs(together - alone) > 0 .or. abs(at_will - alone) > 0) call check(nf90_eread)
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

  subroutine create()
    integer :: dim, i
    call check(nf90mpi_create(MPI_COMM_WORLD, path, nf90_clobber, MPI_INFO_NULL, file))
    call check(nf90mpi_def_dim(file, 'x', int(length, offset), dim))
    call check(nf90mpi_def_var(file, 'v', nf90_double, dim, var))
    call check(nf90mpi_enddef(file))
    call check(nf90mpi_put_var_all(file, var, (/ (0.5d0 * dble(i - 1), i = first, last) /), &
      start=(/ int(first, offset) /)))
    call check(nf90mpi_close(file))
  end subroutine

  ! On a communicator with one process, no call waits for other processes.
  subroutine read_alone()
    double precision :: values(length)
    call check(nf90mpi_open(MPI_COMM_SELF, path, nf90_nowrite, MPI_INFO_NULL, file))
    call check(nf90mpi_inq_varid(file, 'v', var))
    call check(nf90mpi_get_var_all(file, var, values)) ! the whole variable
    call check(nf90mpi_close(file))
    alone = sum(values)
  end subroutine

  ! All processes read their parts in one call, which is the fastest way for large files.
  subroutine read_together()
    double precision :: values(first:last)
    call check(nf90mpi_get_var_all(file, var, values, start=(/ int(first, offset) /)))
    call MPI_Allreduce(sum(values), together, 1, MPI_DOUBLE_PRECISION, MPI_SUM, &
      MPI_COMM_WORLD, ierr)
  end subroutine

  ! Reads in independent mode, in which each process may read any data at any time. Only switching
  ! the mode is collective.
  subroutine read_at_will()
    double precision :: value
    integer :: i
    at_will = 0
    call check(nf90mpi_begin_indep_data(file))
    do i = 1, merge(length, 0, rank == nprocs - 1)
      call check(nf90mpi_get_var(file, var, value, start=(/ int(i, offset) /)))
      at_will = at_will + value
    end do
    call check(nf90mpi_end_indep_data(file))
    call MPI_Bcast(at_will, 1, MPI_DOUBLE_PRECISION, nprocs - 1, MPI_COMM_WORLD, ierr)
  end subroutine

end program
