! Compresses a model's output while it is written: each process has some columns of a grid, which
! are compressed and stored in a subfile. One variable is also rounded to the digits that carry
! information; the other is exact. Then part of the data is read as if from an ordinary dataset. The
! program differs from an ordinary one only in its hints, which can also be set in the environment:
! PNETCDF_HINTS="nc_blob=enable;nc_compress=zstd".
!
!     mpif90 -o compression compression.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./compression model.nc
!     ncmpijoin --remove model.nc whole.nc    # join it into one ordinary file
program compression
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: nrows = 480, ncolumns = 720, steps = 6
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'compression.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  call write_steps()
  call read_rows()
  call print_sizes()
  call MPI_Finalize(ierr)

contains

  subroutine write_steps()
    integer :: file, dims(3), warm, press, info, first, last, step, row, i
    integer(kind=offset) :: start(3), count(3)
    real, allocatable :: t(:, :), p(:, :)

    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'nc_blob', 'enable', ierr)
    call MPI_Info_set(info, 'nc_num_subfiles', '1', ierr) ! default: one for each node
    call MPI_Info_set(info, 'nc_compress', 'zstd', ierr)
    call MPI_Info_set(info, 'nc_quantize', 'bitround:10@temperature', ierr) ! three digits
    call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), &
      info, file))
    call MPI_Info_free(info, ierr)
    call check(nf90mpi_def_dim(file, 'time', nf90mpi_unlimited, dims(3)))
    call check(nf90mpi_def_dim(file, 'y', int(nrows, offset), dims(2)))
    call check(nf90mpi_def_dim(file, 'x', int(ncolumns, offset), dims(1)))
    call check(nf90mpi_def_var(file, 'temperature', nf90_float, dims, warm))
    call check(nf90mpi_def_var(file, 'pressure', nf90_float, dims, press))
    call check(nf90mpi_enddef(file))

    ! In each step, each process puts all its values in one collective call. They are compressed
    ! together.
    first = ncolumns * rank / nprocs
    last = ncolumns * (rank + 1) / nprocs - 1
    allocate (t(first:last, 0:nrows - 1), p(first:last, 0:nrows - 1))
    do step = 0, steps - 1
      start = (/ first + 1, 1, step + 1 /)
      count = (/ last - first + 1, nrows, 1 /)
      do row = 0, nrows - 1
        do i = first, last
          t(i, row) = temperature(step, row, i)
          p(i, row) = pressure(step, row, i)
        end do
      end do
      call check(nf90mpi_put_var_all(file, warm, t, start, count))
      call check(nf90mpi_put_var_all(file, press, p, start, count))
    end do
    call check(nf90mpi_close(file))
  end subroutine

  ! Readers need not know about the compression. Any number of processes can read any part. Here
  ! each reads rows of the last step, which extend over all blobs.
  subroutine read_rows()
    integer :: file, warm, press, first, last, row, i
    integer(kind=offset) :: start(3), count(3)
    real :: largest, is
    real, allocatable :: t(:, :), p(:, :)

    first = nrows * rank / nprocs
    last = nrows * (rank + 1) / nprocs - 1
    allocate (t(0:ncolumns - 1, first:last), p(0:ncolumns - 1, first:last))
    call check(nf90mpi_open(MPI_COMM_WORLD, path, nf90_nowrite, MPI_INFO_NULL, file))
    call check(nf90mpi_inq_varid(file, 'temperature', warm))
    call check(nf90mpi_inq_varid(file, 'pressure', press))
    start = (/ 1, first + 1, steps /)
    count = (/ ncolumns, last - first + 1, 1 /)
    call check(nf90mpi_get_var_all(file, warm, t, start, count))
    call check(nf90mpi_get_var_all(file, press, p, start, count))
    largest = 0
    do row = first, last
      do i = 0, ncolumns - 1
        is = temperature(steps - 1, row, i)
        largest = max(largest, abs(t(i, row) - is) / is)
        if (p(i, row) /= pressure(steps - 1, row, i)) call check(nf90_eread)
      end do
    end do
    call check(nf90mpi_close(file))
    if (largest > 2.0**(-11)) call check(nf90_eread)
    print '(a, i0, a, i0, a, es7.1)', 'process ', rank, ' read ', last - first + 1, &
      ' rows, temperature within ', largest
  end subroutine

  ! Prints the number of bytes written and the length of the subfile. The subfile reserves 1 MiB
  ! for its header, most of which takes no space on disk.
  subroutine print_sizes()
    integer(kind=offset) :: length
    if (rank /= 0) return
    inquire (file=trim(path)//'.0000', size=length)
    print '(i0, a, i0, a)', 2 * steps * nrows * ncolumns * 4, ' bytes of values, ', length, &
      ' in the subfile'
  end subroutine

  ! Returns a temperature in kelvins: warm in the middle, with variations that a few bits can
  ! represent.
  real function temperature(step, row, column)
    integer, intent(in) :: step, row, column
    temperature = real(250000 + row * (nrows - 1 - row) + &
      mod((step * 31 + row * 17 + column * 13) * 7919, 100)) / 1024
  end function

  ! Returns a pressure in whole pascals.
  real function pressure(step, row, column)
    integer, intent(in) :: step, row, column
    pressure = real(101000 + 10 * step + row + mod(column, 8))
  end function

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
