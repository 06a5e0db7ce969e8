! The program heat_serial.f90, ported to PnetCDF. Each process owns some rows of the plate, and
! has copies of its neighbours' adjacent rows. The file is the same for any number of processes.
!
!     mpiexec -n 4 heat_parallel FILE STEPS
program heat_parallel
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: nx = 30, ny = 40, offset = MPI_OFFSET_KIND
  real, parameter :: none = -999.
  real, allocatable :: t(:, :)
  integer :: ncid, time_id, field_id, peak_id
  integer :: steps, step
  integer(kind=offset) :: record
  double precision :: now
  character(len=500) :: path, word
  integer :: rank, nprocs, ierr, low, high ! this process owns the rows low to high

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  low = ny * rank / nprocs + 1
  high = ny * (rank + 1) / nprocs
  allocate (t(nx, low - 1:high + 1))
  t = none

  call get_command_argument(1, path)
  call get_command_argument(2, word)
  read (word, *) steps

  if (nf90mpi_open(MPI_COMM_WORLD, path, nf90_write, MPI_INFO_NULL, ncid) == nf90_noerr) then
    call resume()
  else
    call create()
  end if
  do step = 1, steps
    call advance()
    now = now + 0.5d0
    if (mod(step, 10) == 0) call output()
  end do
  call check(nf90mpi_close(ncid))
  call MPI_Finalize(ierr)

contains

  subroutine check(status)
    integer, intent(in) :: status
    if (status == nf90_noerr) return
    print *, trim(nf90mpi_strerror(status))
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  logical function hole(x, y)
    integer, intent(in) :: x, y
    hole = x > 10 .and. x <= 14 .and. y > 15 .and. y <= 25
  end function

  ! Returns how many of n elements this process writes if all processes have the same data: n on
  ! process 0, and 0 on the others.
  integer(kind=offset) function mine(n)
    integer, intent(in) :: n
    mine = merge(n, 0, rank == 0)
  end function

  subroutine create()
    integer :: time_dim, x_dim, y_dim, x_id, y_id, material_id, name_id, letters
    integer :: mode, i, y, x
    integer :: kind_of(nx, low:high)
    call check(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_offset), &
      MPI_INFO_NULL, ncid))
    call check(nf90mpi_set_fill(ncid, nf90_nofill, mode))
    call check(nf90mpi_def_dim(ncid, 'x', int(nx, offset), x_dim))
    call check(nf90mpi_def_dim(ncid, 'y', int(ny, offset), y_dim))
    call check(nf90mpi_def_dim(ncid, 'letters', 8_offset, letters))
    call check(nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, time_dim))
    call check(nf90mpi_def_var(ncid, 'x', nf90_float, x_dim, x_id))
    call check(nf90mpi_def_var(ncid, 'y', nf90_float, y_dim, y_id))
    call check(nf90mpi_def_var(ncid, 'material', nf90_byte, (/ x_dim, y_dim /), material_id))
    call check(nf90mpi_def_var(ncid, 'name', nf90_char, letters, name_id))
    call check(nf90mpi_def_var(ncid, 'time', nf90_double, time_dim, time_id))
    call check(nf90mpi_def_var(ncid, 'peak', nf90_double, time_dim, peak_id))
    call check(nf90mpi_def_var(ncid, 'temperature', nf90_float, &
      (/ x_dim, y_dim, time_dim /), field_id))
    call check(nf90mpi_put_att(ncid, x_id, 'units', 'cm'))
    call check(nf90mpi_put_att(ncid, y_id, 'units', 'cm'))
    call check(nf90mpi_put_att(ncid, time_id, 'units', 's'))
    call check(nf90mpi_put_att(ncid, field_id, 'units', 'degC'))
    call check(nf90mpi_put_att(ncid, field_id, '_FillValue', none))
    call check(nf90mpi_put_att(ncid, field_id, 'valid_range', (/ 0., 500. /)))
    call check(nf90mpi_put_att(ncid, nf90_global, 'title', 'heat in a plate with a hole'))
    call check(nf90mpi_put_att(ncid, nf90_global, 'version', 2))
    call check(nf90mpi_enddef(ncid))

    call check(nf90mpi_put_var_all(ncid, x_id, (/ (0.5 * i, i = 1, nx) /), &
      count=(/ mine(nx) /)))
    call check(nf90mpi_put_var_all(ncid, y_id, (/ (0.25 * i, i = low, high) /), &
      start=(/ int(low, offset) /)))
    call check(nf90mpi_put_var_all(ncid, name_id, 'platinum', count=(/ mine(8) /)))
    do y = low, high
      do x = 1, nx
        kind_of(x, y) = merge(0, 1, hole(x, y))
        t(x, y) = merge(none, 20. + 7. * x + merge(100., 0., y < 6), hole(x, y))
      end do
    end do
    call check(nf90mpi_put_var_all(ncid, material_id, kind_of, &
      start=(/ 1_offset, int(low, offset) /)))
    now = 0
    record = 0
    call output()
  end subroutine

  subroutine resume()
    integer :: time_dim
    call check(nf90mpi_inq_dimid(ncid, 'time', time_dim))
    call check(nf90mpi_inquire_dimension(ncid, time_dim, len=record))
    call check(nf90mpi_inq_varid(ncid, 'time', time_id))
    call check(nf90mpi_inq_varid(ncid, 'peak', peak_id))
    call check(nf90mpi_inq_varid(ncid, 'temperature', field_id))
    call check(nf90mpi_get_var_all(ncid, time_id, now, start=(/ record /)))
    call check(nf90mpi_get_var_all(ncid, field_id, t(:, low:high), &
      start=(/ 1_offset, int(low, offset), record /)))
  end subroutine

  subroutine output()
    double precision :: peak
    record = record + 1
    call MPI_Allreduce(dble(maxval(t(:, low:high))), peak, 1, MPI_DOUBLE_PRECISION, MPI_MAX, &
      MPI_COMM_WORLD, ierr)
    call check(nf90mpi_put_var_all(ncid, time_id, now, start=(/ record /), &
      count=(/ mine(1) /)))
    call check(nf90mpi_put_var_all(ncid, field_id, t(:, low:high), &
      start=(/ 1_offset, int(low, offset), record /)))
    call check(nf90mpi_put_var_all(ncid, peak_id, peak, start=(/ record /), &
      count=(/ mine(1) /)))
  end subroutine

  ! Receives the adjacent rows from the neighbours.
  subroutine exchange()
    integer :: below, above
    below = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    above = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
    call MPI_Sendrecv(t(:, high), nx, MPI_REAL, above, 1, t(:, low - 1), nx, MPI_REAL, below, &
      1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(t(:, low), nx, MPI_REAL, below, 2, t(:, high + 1), nx, MPI_REAL, above, &
      2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  ! Computes one step. The edges of the plate and of the hole have constant temperature.
  subroutine advance()
    real :: old(nx, low - 1:high + 1)
    integer :: x, y
    call exchange()
    old = t
    do y = max(2, low), min(ny - 1, high)
      do x = 2, nx - 1
        if (hole(x, y) .or. hole(x + 1, y) .or. hole(x - 1, y) .or. hole(x, y + 1) .or. &
          hole(x, y - 1)) cycle
        t(x, y) = old(x, y) + 0.125 * (old(x + 1, y) + old(x - 1, y) + old(x, y + 1) + &
          old(x, y - 1) - 4. * old(x, y))
      end do
    end do
  end subroutine

end program
