! A first program. All processes create a file together, and each writes its part of one variable.
! Then they reopen the file, and each reads what its neighbour wrote.
!
!     mpif90 -o first_file first_file.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./first_file
program first_file
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: length = 24
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'first_file.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  call write_file()
  call read_file()
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

  ! Computes which elements belong to a process. All processes get nearly the same number.
  subroutine find_part(process, first, last)
    integer, intent(in) :: process
    integer, intent(out) :: first, last
    first = length * process / nprocs + 1
    last = length * (process + 1) / nprocs
  end subroutine

  subroutine write_file()
    integer :: file, dim, var, first, last, i
    ! nf90_clobber replaces an existing file. nf90_64bit_data selects the format CDF-5,
    ! which has no size limits. The default format is CDF-1.
    call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), &
      MPI_INFO_NULL, file))

    ! Definitions: all processes make the same calls.
    call check(nf90mpi_def_dim(file, 'x', int(length, offset), dim))
    call check(nf90mpi_def_var(file, 'square', nf90_int, dim, var))
    call check(nf90mpi_put_att(file, var, 'long_name', 'square of x'))
    call check(nf90mpi_enddef(file))

    ! Data: each process writes its own part. Functions whose names end in _all are
    ! collective: all processes call them together. Indices start at 1. Without count, the
    ! number of elements is the number of values.
    call find_part(rank, first, last)
    call check(nf90mpi_put_var_all(file, var, (/ ((i - 1)**2, i = first, last) /), &
      start=(/ int(first, offset) /)))
    call check(nf90mpi_close(file))
  end subroutine

  subroutine read_file()
    integer :: file, var, first, last, i
    integer, allocatable :: values(:)
    call check(nf90mpi_open(MPI_COMM_WORLD, path, nf90_nowrite, MPI_INFO_NULL, file))
    call check(nf90mpi_inq_varid(file, 'square', var))
    call find_part(mod(rank + 1, nprocs), first, last)
    allocate (values(first:last))
    call check(nf90mpi_get_var_all(file, var, values, start=(/ int(first, offset) /)))
    call check(nf90mpi_close(file))

    if (any(values /= (/ ((i - 1)**2, i = first, last) /))) call check(nf90_eread)
    print '(a, i0, a, i0, a)', 'process ', rank, ' read ', size(values), ' values'
  end subroutine

end program
