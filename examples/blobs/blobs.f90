! Writes a model's output in blobs: the cells of a process are scattered over the grid, and each
! process writes its cells contiguously to one of a few subfiles. Then blocks of rows are read as
! if all data were in one file. The program differs from an ordinary one only in its hints, which
! can also be set in the environment: PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2".
!
!     mpif90 -o blobs blobs.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./blobs ocean.nc
!     ncmpijoin --remove ocean.nc whole.nc    # join it into one ordinary file
program blobs
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: rows = 6, ncolumns = 12, width = 3, steps = 2
  integer, parameter :: npieces = rows * ncolumns / width
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'blobs.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  call write_steps()
  call read_rows()
  call MPI_Finalize(ierr)

contains

  subroutine write_steps()
    integer :: file, dims(3), var, depth, info, step, n, piece, i
    integer(kind=offset) :: starts(3, npieces), counts(3, npieces)
    real :: values(width, npieces)

    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'nc_blob', 'enable', ierr)
    call MPI_Info_set(info, 'nc_num_subfiles', '2', ierr) ! default: one for each node
    call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), &
      info, file))
    call MPI_Info_free(info, ierr)
    call check(nf90mpi_def_dim(file, 'time', nf90mpi_unlimited, dims(3)))
    call check(nf90mpi_def_dim(file, 'y', int(rows, offset), dims(2)))
    call check(nf90mpi_def_dim(file, 'x', int(ncolumns, offset), dims(1)))
    call check(nf90mpi_def_var(file, 'temperature', nf90_float, dims, var))
    call check(nf90mpi_def_var(file, 'depth', nf90_float, varid=depth))
    call check(nf90mpi_enddef(file))

    ! Data that one process writes, or that all processes write identically, are stored in
    ! the main file.
    call check(nf90mpi_put_var_all(file, depth, 12.5))

    ! Pieces of a row are assigned to the processes round-robin. The library records the
    ! decomposition in the first step. Later steps use the same positions in the blobs.
    do step = 1, steps
      n = 0
      do piece = rank, npieces - 1, nprocs
        n = n + 1
        starts(:, n) = (/ mod(piece * width, ncolumns) + 1, piece * width / ncolumns + 1, step /)
        counts(:, n) = (/ width, 1, 1 /)
        values(:, n) = (/ (temperature(step, piece * width + i), i = 0, width - 1) /)
      end do
      call check(nf90mpi_put_varn_all(file, var, values, n, starts, counts))
    end do
    call check(nf90mpi_close(file))
  end subroutine

  ! Readers need not know about blobs. Any number of processes can read any part of the
  ! grid.
  subroutine read_rows()
    integer :: file, var, first, last, step, row, i
    real, allocatable :: values(:, :, :)

    first = rows * rank / nprocs + 1
    last = rows * (rank + 1) / nprocs
    allocate (values(ncolumns, first:last, steps))
    call check(nf90mpi_open(MPI_COMM_WORLD, path, nf90_nowrite, MPI_INFO_NULL, file))
    call check(nf90mpi_inq_varid(file, 'temperature', var))
    call check(nf90mpi_get_var_all(file, var, values, &
      start=(/ 1_offset, int(first, offset), 1_offset /), &
      count=(/ int(ncolumns, offset), int(last - first + 1, offset), int(steps, offset) /)))
    do step = 1, steps
      do row = first, last
        do i = 1, ncolumns
          if (values(i, row, step) /= temperature(step, (row - 1) * ncolumns + i - 1)) &
            call check(nf90_eread)
        end do
      end do
    end do
    call check(nf90mpi_close(file))
    print '(a, i0, a, i0, a)', 'process ', rank, ' read ', last - first + 1, ' rows'
  end subroutine

  real function temperature(step, cell)
    integer, intent(in) :: step, cell
    temperature = real(100 * (step - 1) + cell)
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
