! Writes columns of a table, first with strides, then from an array whose order in memory differs
! from the order in the file.
!
!     mpif90 -o columns columns.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./columns
program columns
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: rows = 6, ncolumns = 10
  integer :: file, dims(2), vars(2), n, first, last, row, i, v, column(rows)
  integer, allocatable :: values(:, :)
  integer(kind=offset) :: start(2)
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'columns.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), &
    MPI_INFO_NULL, file))
  call check(nf90mpi_def_dim(file, 'row', int(rows, offset), dims(2)))
  call check(nf90mpi_def_dim(file, 'column', int(ncolumns, offset), dims(1)))
  call check(nf90mpi_def_var(file, 'by_turns', nf90_int, dims, vars(1)))
  call check(nf90mpi_def_var(file, 'in_blocks', nf90_int, dims, vars(2)))
  call check(nf90mpi_enddef(file))

  ! Every nprocs-th column, starting with the one whose index is the rank. The order in memory is
  ! that of the file, row by row.
  n = 0
  if (rank < ncolumns) n = (ncolumns - rank - 1) / nprocs + 1
  start = (/ merge(rank + 1, 1, n > 0), 1 /)
  allocate (values(n, rows))
  do row = 1, rows
    values(:, row) = (/ (element(row, rank + 1 + (i - 1) * nprocs), i = 1, n) /)
  end do
  call check(nf90mpi_put_var_all(file, vars(1), values, start=start, &
    stride=(/ int(nprocs, offset), 1_offset /)))
  deallocate (values)

  ! A block of columns, each of which is contiguous in memory. For each dimension, map is
  ! the distance between neighbouring elements in memory, and count is their number in the
  ! file.
  first = ncolumns * rank / nprocs + 1
  last = ncolumns * (rank + 1) / nprocs
  allocate (values(rows, first:last))
  do i = first, last
    values(:, i) = (/ (element(row, i), row = 1, rows) /)
  end do
  start(1) = first
  call check(nf90mpi_put_var_all(file, vars(2), values, start=start, &
    count=(/ int(last - first + 1, offset), int(rows, offset) /), &
    map=(/ int(rows, offset), 1_offset /)))
  call check(nf90mpi_sync(file))

  ! All processes read one whole column.
  do v = 1, 2
    call check(nf90mpi_get_var_all(file, vars(v), column, &
      start=(/ int(ncolumns, offset), 1_offset /), count=(/ 1_offset, int(rows, offset) /)))
    if (any(column /= (/ (element(row, ncolumns), row = 1, rows) /))) call check(nf90_eread)
  end do
  call check(nf90mpi_close(file))
  print '(a, i0, a, i0, a)', 'process ', rank, ' wrote ', last - first + 1, &
    ' columns in a block'
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

  integer function element(row, column)
    integer, intent(in) :: row, column
    element = 100 * (row - 1) + column - 1
  end function

end program
