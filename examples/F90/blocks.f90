! A grid of two dimensions is cut into blocks, one for every process; each writes its
! block with one call.
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
  ! The dimension that varies fastest is the first, as in Fortran's arrays; other programs,
  ! ncdump among them, name it last.
  call check(nf90mpi_def_dim(file, 'y', int(ny, offset), dims(2)))
  call check(nf90mpi_def_dim(file, 'x', int(nx, offset), dims(1)))
  call check(nf90mpi_def_var(file, 'field', nf90_double, dims, var))
  call check(nf90mpi_enddef(file))

  call find_block(rank)
  call check(nf90mpi_put_var_all(file, var, block(), start=int(low, offset)))
  print '(4(a, i0), a, i0, a)', 'process ', rank, ' wrote ', high(2) - low(2) + 1, ' x ', &
    high(1) - low(1) + 1, ' elements from (', low(2), ', ', low(1), ')'

  ! What others wrote can be read from the same open file after a sync. How a file is cut
  ! for reading need not be how it was cut for writing.
  call check(nf90mpi_sync(file))
  call find_block(nprocs - 1 - rank)
  allocate (values(low(1):high(1), low(2):high(2)))
  call check(nf90mpi_get_var_all(file, var, values, start=int(low, offset)))
  if (any(abs(values - block()) > 0)) call check(nf90_eread)
  call check(nf90mpi_close(file))
  call MPI_Finalize(ierr)

contains

  ! Every function tells by its result whether it did what it should. One process that
  ! stops would leave the others waiting, so all are stopped.
  subroutine check(status)
    integer, intent(in) :: status
    integer :: ierr
    if (status == nf90_noerr) return
    print *, trim(nf90mpi_strerror(status))
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  ! Where a process's block begins and ends in the grid.
  subroutine find_block(process)
    integer, intent(in) :: process
    integer :: parts(2), place(2)
    ! As many rows and columns of blocks as MPI thinks best: 4 processes are 2 x 2.
    parts = 0
    call MPI_Dims_create(nprocs, 2, parts, ierr)
    place = (/ mod(process, parts(2)), process / parts(2) /)
    parts = (/ parts(2), parts(1) /)
    low = (/ nx, ny /) * place / parts + 1
    high = (/ nx, ny /) * (place + 1) / parts
  end subroutine

  ! What the grid has there.
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
