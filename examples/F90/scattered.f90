! Writes elements that are scattered over a variable. A single varn call writes all of these
! pieces.
!
!     mpif90 -o scattered scattered.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./scattered
program scattered
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: ny = 6, nx = 12, width = 3, npieces = ny * nx / width
  integer :: file, dims(2), var, n, piece, i, values(width, npieces), corners(4)
  integer(kind=offset) :: starts(2, npieces), counts(2, npieces), corner(2, 4)
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'scattered.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), &
    MPI_INFO_NULL, file))
  call check(nf90mpi_def_dim(file, 'y', int(ny, offset), dims(2)))
  call check(nf90mpi_def_dim(file, 'x', int(nx, offset), dims(1)))
  call check(nf90mpi_def_var(file, 'cards', nf90_int, dims, var))
  call check(nf90mpi_enddef(file))

  ! Pieces of width elements of a row are assigned to the processes round-robin. One array
  ! contains the values of all pieces, one after another. Processes may have different numbers of
  ! pieces, or none.
  n = 0
  do piece = rank, npieces - 1, nprocs
    n = n + 1
    starts(:, n) = (/ mod(piece * width, nx) + 1, piece * width / nx + 1 /)
    counts(:, n) = (/ width, 1 /)
    values(:, n) = (/ (piece * width + i, i = 0, width - 1) /)
  end do
  call check(nf90mpi_put_varn_all(file, var, values, n, starts, counts))
  call check(nf90mpi_sync(file))

  ! To write single elements, omit the counts.
  corner = reshape(int((/ 1, 1, nx, 1, 1, ny, nx, ny /), offset), (/ 2, 4 /))
  call check(nf90mpi_get_varn_all(file, var, corners, 4, corner))
  if (any(corners /= (corner(2, :) - 1) * nx + corner(1, :) - 1)) call check(nf90_eread)
  call check(nf90mpi_close(file))
  print '(a, i0, a, i0, a)', 'process ', rank, ' wrote ', n, ' pieces'
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
