! Makes nonblocking calls: posts many requests, each for a small piece of a variable, and completes
! all of them with one wait.
!
!     mpif90 -o nonblocking nonblocking.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./nonblocking
program nonblocking
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: nvars = 5, length = 8
  integer :: file, vars(nvars), requests(nvars), first, last, v, i
  integer(kind=offset) :: start(1)
  real, allocatable, asynchronous :: values(:, :) ! requests may change it until the wait
  real, allocatable :: one(:)
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'nonblocking.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  first = length * rank / nprocs + 1
  last = length * (rank + 1) / nprocs
  start = first
  allocate (values(first:last, nvars), one(first:last))
  call check(nf90mpi_create(MPI_COMM_WORLD, path, nf90_clobber, MPI_INFO_NULL, file))
  call define()

  ! iput: the program must not change the values before the wait.
  do v = 1, nvars
    values(:, v) = (/ (real(100 * (v - 1) + i - 1), i = first, last) /)
    call check(nf90mpi_iput_var(file, vars(v), values(:, v), requests(v), start))
  end do
  call wait_for(nvars)

  ! bput: copies the values to a buffer, which must be attached beforehand and large enough, so
  ! the array can be reused immediately. These values overwrite those of the last variable.
  call check(nf90mpi_buffer_attach(file, int(4 * length, offset)))
  one = (/ (real(1 - i), i = first, last) /)
  call check(nf90mpi_bput_var(file, vars(nvars), one, requests(1), start))
  one = 0
  call wait_for(1)
  call check(nf90mpi_buffer_detach(file))

  ! iget: the values are available after the wait.
  values = -1000
  do v = 1, nvars
    call check(nf90mpi_iget_var(file, vars(v), values(:, v), requests(v), start))
  end do
  call wait_for(nvars)
  do v = 1, nvars
    do i = first, last
      if (nint(values(i, v)) /= merge(100 * (v - 1) + i - 1, 1 - i, v < nvars)) &
        call check(nf90_eread)
    end do
  end do
  call check(nf90mpi_close(file))
  print '(3(a, i0), a)', 'process ', rank, ': ', nvars, ' variables, ', last - first + 1, &
    ' elements of each'
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

  ! Completes the first n requests. Each has its own status.
  subroutine wait_for(n)
    integer, intent(in) :: n
    integer :: statuses(nvars), k
    call check(nf90mpi_wait_all(file, n, requests, statuses))
    do k = 1, n
      call check(statuses(k))
    end do
  end subroutine

  subroutine define()
    integer :: dim
    call check(nf90mpi_def_dim(file, 'x', int(length, offset), dim))
    do v = 1, nvars
      call check(nf90mpi_def_var(file, 'tracer_' // achar(47 + v), nf90_float, dim, vars(v)))
    end do
    call check(nf90mpi_enddef(file))
  end subroutine

end program
