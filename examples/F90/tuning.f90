! Sets hints, which control how the library and MPI-IO access a file. A program passes them when
! it creates or opens the file. They never change its contents. The environment can set hints for
! an unmodified program:
!
!     PNETCDF_HINTS="nc_var_align_size=1048576;romio_cb_write=enable" mpiexec ...
!
!     mpif90 -o tuning tuning.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./tuning
program tuning
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: length = 16
  integer :: file, dim, vars(2), first, last, v, i
  integer(kind=offset) :: place
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'tuning.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  first = length * rank / nprocs + 1
  last = length * (rank + 1) / nprocs
  call create()
  call check(nf90mpi_def_dim(file, 'x', int(length, offset), dim))
  call check(nf90mpi_def_var(file, 'one', nf90_int, dim, vars(1)))
  call check(nf90mpi_def_var(file, 'two', nf90_int, dim, vars(2)))
  call check(nf90mpi_enddef(file))
  do v = 1, 2
    call check(nf90mpi_put_var_all(file, vars(v), (/ (i - 1, i = first, last) /), &
      start=(/ int(first, offset) /)))
  end do
  if (rank == 0) call print_hints()
  call check(nf90mpi_inq_varoffset(file, vars(1), place))
  if (rank == 0) print '(a, i0)', 'variable one starts at byte ', place
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

  subroutine create()
    integer :: info
    call MPI_Info_create(info, ierr)
    ! Aligns the first variable to a multiple of 4096 bytes in the file. On a parallel file
    ! system, use its stripe size. The header can grow into the padding when definitions are added
    ! later.
    call MPI_Info_set(info, 'nc_var_align_size', '4096', ierr)
    ! A hint for MPI-IO: collective buffering. Unknown hints are ignored.
    call MPI_Info_set(info, 'romio_cb_write', 'enable', ierr)
    call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), &
      info, file))
    call MPI_Info_free(info, ierr) ! the library has its own copy
  end subroutine

  ! Prints the hints in effect, which may differ from those requested.
  subroutine print_hints()
    integer :: info, n, k
    logical :: set
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=MPI_MAX_INFO_VAL) :: value
    call check(nf90mpi_inq_file_info(file, info))
    call MPI_Info_get_nkeys(info, n, ierr)
    do k = 0, n - 1
      call MPI_Info_get_nthkey(info, k, key, ierr)
      call MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, set, ierr)
      if (set) print '(3a)', trim(key), ' = ', trim(value)
    end do
    call MPI_Info_free(info, ierr)
  end subroutine

end program
