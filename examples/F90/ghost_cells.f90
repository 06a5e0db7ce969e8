! Writes an array without its ghost cells, a frame around it that contains copies of the
! neighbours' elements and must not be written. The elements in memory are selected by a section
! of the array or by an MPI datatype.
!
!     mpif90 -o ghost_cells ghost_cells.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./ghost_cells
program ghost_cells
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: ny = 12, nx = 6, ghost = 2
  integer :: file, dims(2), var, low, high, x, y, type
  integer, allocatable :: band(:, :), other(:, :)
  integer(kind=offset) :: start(2)
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'ghost_cells.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  low = ny * rank / nprocs + 1
  high = ny * (rank + 1) / nprocs
  start = int((/ 1, low /), offset)
  call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), &
    MPI_INFO_NULL, file))
  call check(nf90mpi_def_dim(file, 'y', int(ny, offset), dims(2)))
  call check(nf90mpi_def_dim(file, 'x', int(nx, offset), dims(1)))
  call check(nf90mpi_def_var(file, 'cell', nf90_short, dims, var))
  call check(nf90mpi_enddef(file))

  allocate (band(1 - ghost:nx + ghost, low - ghost:high + ghost))
  band = -1
  do y = low, high
    do x = 1, nx
      band(x, y) = 10 * (y - 1) + x - 1
    end do
  end do
  ! The section is used in place. Values are converted, here from integer to short.
  call check(nf90mpi_put_var_all(file, var, band(1:nx, low:high), start=start))

  ! Reading does not change the frame either. With a datatype, pass the whole array; count is the
  ! shape in the file. No datatype exists for 0 rows.
  allocate (other, mold=band)
  other = -1
  if (high >= low) then
    call MPI_Type_create_subarray(2, shape(other), (/ nx, high - low + 1 /), &
      (/ ghost, ghost /), MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    call check(nf90mpi_get_var_all(file, var, other, start=start, &
      count=int((/ nx, high - low + 1 /), offset), bufcount=1_offset, buftype=type))
    call MPI_Type_free(type, ierr)
  else
    call check(nf90mpi_get_var_all(file, var, other, start=(/ 1_offset, 1_offset /), &
      count=(/ 0_offset, 0_offset /)))
  end if
  if (any(other /= band)) call check(nf90_eread)
  call check(nf90mpi_close(file))
  print '(a, i0, a, i0, a)', 'process ', rank, ' wrote ', high - low + 1, &
    ' rows from the middle of its array'
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

end program
