! Stages data near the processes. A training program reads the samples of a dataset in a
! different order in each epoch. Then a model reads its forcing record by record.
!
!     mpif90 -o epochs epochs.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./epochs samples.nc /local/scratch
program epochs
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: samples = 40, length = 2000, rounds = 3
  integer :: file, var, info, rank, nprocs, ierr, i
  character(len=500) :: path, directory
  double precision :: total

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'epochs.nc'
  directory = '/tmp'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  if (command_argument_count() > 1) call get_command_argument(2, directory)
  call create()

  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'nc_stage', 'enable', ierr)
  call MPI_Info_set(info, 'nc_stage_dirname', trim(directory), ierr)
  call check(nf90mpi_open(MPI_COMM_WORLD, path, nf90_nowrite, info, file))
  call MPI_Info_free(info, ierr)
  call check(nf90mpi_inq_varid(file, 'v', var))
  ! Stage the variable in the background; the first epoch does not wait for it.
  call check(nf90mpix_prefetch(file, var))
  call forcing()
  call check(nf90mpi_begin_indep_data(file))
  do i = 1, rounds
    total = epoch()
    if (rank == 0) print '(a, i0, a, f0.0)', 'epoch ', i, ': ', total
    if (abs(total - samples * (samples - 1) / 2) > 0.5d0) call check(nf90_eread)
  end do
  call check(nf90mpi_end_indep_data(file))
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
    integer :: dims(2), s, i
    integer(kind=offset) :: many
    call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_offset), &
      MPI_INFO_NULL, file))
    call check(nf90mpi_def_dim(file, 'sample', nf90mpi_unlimited, dims(2)))
    call check(nf90mpi_def_dim(file, 'x', int(length, offset), dims(1)))
    call check(nf90mpi_def_var(file, 'v', nf90_float, dims, var))
    call check(nf90mpi_enddef(file))
    do s = 1, samples
      many = merge(1_offset, 0_offset, rank == mod(s - 1, nprocs))
      call check(nf90mpi_put_var_all(file, var, (/ (real(s + i - 2), i = 1, length) /), &
        start=int((/ 1, s /), offset), count=(/ int(length, offset), many /)))
    end do
    call check(nf90mpi_close(file))
  end subroutine

  ! Reads the samples in an order on which all processes agree. Each process reads its share
  ! independently.
  double precision function epoch()
    integer :: s, n, by
    real :: sample(length)
    double precision :: mine
    by = 2 * i + 1
    if (mod(samples, by) == 0) by = 1
    mine = 0
    do n = rank, samples - 1, nprocs
      s = mod(n * by + i, samples) + 1
      call check(nf90mpi_get_var(file, var, sample, start=int((/ 1, s /), offset), &
        count=int((/ length, 1 /), offset)))
      mine = mine + sample(1)
    end do
    call MPI_Allreduce(mine, epoch, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end function

  ! After the second record, the library stages the next one while the model computes.
  subroutine forcing()
    integer :: s
    real :: field(length)
    do s = 1, samples
      call check(nf90mpi_get_var_all(file, var, field, start=int((/ 1, s /), offset), &
        count=int((/ length, 1 /), offset)))
      if (abs(field(1) - real(s - 1)) > 0.5) call check(nf90_eread)
    end do
  end subroutine

end program
