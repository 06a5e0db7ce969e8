! A simulation that regularly writes its state to a new file, as a checkpoint. With the burst
! buffer and deferred closes, nf90mpi_close returns as soon as all data are in the log. The file
! itself is written while the simulation continues, and is completed by the next call to
! nf90mpi_create.
!
!     mpif90 -o checkpoints checkpoints.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./checkpoints state /local/scratch
program checkpoints
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: length = 24000, files = 10, steps = 20
  integer :: info, rank, nprocs, ierr, first, cells, i, k
  double precision, allocatable :: heat(:), next(:) ! with one cell from each neighbor
  character(len=500) :: name, directory

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  name = 'checkpoint'
  directory = '/tmp'
  if (command_argument_count() > 0) call get_command_argument(1, name)
  if (command_argument_count() > 1) call get_command_argument(2, directory)
  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'nc_burst_buf', 'enable', ierr)
  call MPI_Info_set(info, 'nc_burst_buf_dirname', trim(directory), ierr)
  call MPI_Info_set(info, 'nc_deferred_close', 'enable', ierr)

  first = length * rank / nprocs
  cells = length * (rank + 1) / nprocs - first
  allocate (heat(0:cells + 1), next(0:cells + 1))
  heat = 0
  do i = 1, cells
    if (mod(first + i - 1, 600) < 300) heat(i) = 1
  end do
  do i = 1, files
    do k = 1, steps
      call step()
    end do
    call write_checkpoint()
  end do
  ! Complete the last file before another program reads it.
  call check(nf90mpix_wait_closed())
  call read_checkpoint(files)
  if (rank == 0) print '(i0, a)', files, ' checkpoints'

  call MPI_Info_free(info, ierr)
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

  ! Computes one step of heat conduction.
  subroutine step()
    integer :: left, right
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
    call MPI_Sendrecv(heat(1), 1, MPI_DOUBLE_PRECISION, left, 0, heat(cells + 1), 1, &
      MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(heat(cells), 1, MPI_DOUBLE_PRECISION, right, 0, heat(0), 1, &
      MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    next(1:cells) = heat(1:cells) + 0.25d0 * (heat(0:cells - 1) - 2 * heat(1:cells) + heat(2:cells + 1))
    heat(1:cells) = next(1:cells)
  end subroutine

  function path_of(checkpoint)
    integer, intent(in) :: checkpoint
    character(len=510) :: path_of
    write (path_of, '(a, a, i2.2, a)') trim(name), '.', checkpoint, '.nc'
  end function

  ! Writes a checkpoint. The simulation waits only for the log. If the previous checkpoint
  ! failed, nf90mpi_create returns the error, and its message names that checkpoint.
  subroutine write_checkpoint()
    integer :: file, dim, var
    call check(nf90mpi_create(MPI_COMM_WORLD, path_of(i), ior(nf90_clobber, nf90_64bit_data), info, file))
    call check(nf90mpi_def_dim(file, 'x', int(length, offset), dim))
    call check(nf90mpi_def_var(file, 'heat', nf90_double, (/ dim /), var))
    call check(nf90mpi_put_att(file, nf90_global, 'steps', i * steps))
    call check(nf90mpi_enddef(file))
    call check(nf90mpi_put_var_all(file, var, heat(1:cells), start=int((/ first + 1 /), offset), &
      count=int((/ cells /), offset)))
    call check(nf90mpi_close(file))
  end subroutine

  ! Reads a checkpoint as the next run would, and compares it with the current state.
  subroutine read_checkpoint(checkpoint)
    integer, intent(in) :: checkpoint
    integer :: file, var, done
    call check(nf90mpi_open(MPI_COMM_WORLD, path_of(checkpoint), nf90_nowrite, MPI_INFO_NULL, file))
    call check(nf90mpi_get_att(file, nf90_global, 'steps', done))
    call check(nf90mpi_inq_varid(file, 'heat', var))
    call check(nf90mpi_get_var_all(file, var, next(1:cells), start=int((/ first + 1 /), offset), &
      count=int((/ cells /), offset)))
    call check(nf90mpi_close(file))
    if (done /= checkpoint * steps .or. any(next(1:cells) < heat(1:cells)) .or. &
        any(next(1:cells) > heat(1:cells))) call check(nf90_eread)
  end subroutine

end program
