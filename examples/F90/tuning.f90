! Hints tell the library and MPI-IO how to go about a file. They are given when it is created
! or opened, and never change what is in it. Without changing a program, they are given in
! the environment:
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

  ! Every function tells by its result whether it did what it should. One process that
  ! stops would leave the others waiting, so all are stopped.
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
    ! The variables start at a multiple of 4096 bytes in the file; on a parallel file system
    ! one would give the size of its stripes. What is left over behind the header is room
    ! for later definitions.
    call MPI_Info_set(info, 'nc_var_align_size', '4096', ierr)
    ! One for MPI-IO: collective buffering. What nobody knows is ignored.
    call MPI_Info_set(info, 'romio_cb_write', 'enable', ierr)
    call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), &
      info, file))
    call MPI_Info_free(info, ierr) ! the library has its own copy
  end subroutine

  ! The hints that are in force: those asked for may have been refused.
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
