! Divides a two-dimensional grid into blocks, one for each process. Each process writes
! its block with one call.
!
!     mpif90 -o blocks blocks.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./blocks
program blocks
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: ny = 12, nx = 10
  integer :: file, dims(2), var, low(2), high(2)
  double precision, allocatable :: values(:, :)
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'blocks.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_offset), &
    MPI_INFO_NULL, file))
  ! The first dimension varies fastest, as in Fortran arrays. ncdump and C programs list
  ! it last.
  call check(nf90mpi_def_dim(file, 'y', int(ny, offset), dims(2)))
  call check(nf90mpi_def_dim(file, 'x', int(nx, offset), dims(1)))
  call check(nf90mpi_def_var(file, 'field', nf90_double, dims, var))
  call check(nf90mpi_enddef(file))

  call find_block(rank)
  call check(nf90mpi_put_var_all(file, var, block(), start=int(low, offset)))
  print '(4(a, i0), a, i0, a)', 'process ', rank, ' wrote ', high(2) - low(2) + 1, ' x ', &
    high(1) - low(1) + 1, ' elements from (', low(2), ', ', low(1), ')'

  ! After a sync, each process can read what the others wrote through the same open file. The
  ! processes may divide the grid differently for reading and for writing.
  call check(nf90mpi_sync(file))
  call find_block(nprocs - 1 - rank)
  allocate (values(low(1):high(1), low(2):high(2)))
  call check(nf90mpi_get_var_all(file, var, values, start=int(low, offset)))
  if (any(abs(values - block()) > 0)) call check(nf90_eread)
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

  ! Sets the bounds of a process's block in the grid.
  subroutine find_block(process)
    integer, intent(in) :: process
    integer :: parts(2), place(2)
    ! MPI chooses how to arrange the processes in rows and columns: 4 processes form 2 x 2.
    parts = 0
    call MPI_Dims_create(nprocs, 2, parts, ierr)
    place = (/ mod(process, parts(2)), process / parts(2) /)
    parts = (/ parts(2), parts(1) /)
    low = (/ nx, ny /) * place / parts + 1
    high = (/ nx, ny /) * (place + 1) / parts
  end subroutine

  ! Returns the values of the grid in this block.
  function block()
    double precision :: block(low(1):high(1), low(2):high(2))
    integer :: x, y
    do y = low(2), high(2)
      do x = low(1), high(1)
        block(x, y) = dble(y - 1) + 0.01d0 * dble(x - 1)
      end do
    end do
  end function

end program
