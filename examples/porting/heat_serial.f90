! Simulates heat conduction in a plate with a hole, as a serial program that uses netCDF-Fortran.
! heat_parallel.f90 is the same program after porting it as described in doc/porting.md.
!
!     heat_serial FILE STEPS
!
! creates the file, or continues where the file ends, and writes a record every tenth step.
program heat_serial
  use netcdf
  implicit none
  integer, parameter :: nx = 30, ny = 40
  real, parameter :: none = -999.
  real :: t(nx, ny)
  integer :: ncid, time_id, field_id, peak_id
  integer :: steps, step, record
  double precision :: now
  character(len=500) :: path, word

  call get_command_argument(1, path)
  call get_command_argument(2, word)
  read (word, *) steps

  if (nf90_open(path, nf90_write, ncid) == nf90_noerr) then
    call resume()
  else
    call create()
  end if
  do step = 1, steps
    call advance()
    now = now + 0.5d0
    if (mod(step, 10) == 0) call output()
  end do
  call check(nf90_close(ncid))

contains

  subroutine check(status)
    integer, intent(in) :: status
    if (status == nf90_noerr) return
    print *, trim(nf90_strerror(status))
    stop 1
  end subroutine

  logical function hole(x, y)
    integer, intent(in) :: x, y
    hole = x > 10 .and. x <= 14 .and. y > 15 .and. y <= 25
  end function

  subroutine create()
    integer :: time_dim, x_dim, y_dim, x_id, y_id, material_id, name_id, letters
    integer :: mode, i, y, x
    integer :: kind_of(nx, ny)
    call check(nf90_create(path, ior(nf90_clobber, nf90_64bit_offset), ncid))
    call check(nf90_set_fill(ncid, nf90_nofill, mode))
    call check(nf90_def_dim(ncid, 'x', nx, x_dim))
    call check(nf90_def_dim(ncid, 'y', ny, y_dim))
    call check(nf90_def_dim(ncid, 'letters', 8, letters))
    call check(nf90_def_dim(ncid, 'time', nf90_unlimited, time_dim))
    call check(nf90_def_var(ncid, 'x', nf90_float, x_dim, x_id))
    call check(nf90_def_var(ncid, 'y', nf90_float, y_dim, y_id))
    call check(nf90_def_var(ncid, 'material', nf90_byte, (/ x_dim, y_dim /), material_id))
    call check(nf90_def_var(ncid, 'name', nf90_char, letters, name_id))
    call check(nf90_def_var(ncid, 'time', nf90_double, time_dim, time_id))
    call check(nf90_def_var(ncid, 'peak', nf90_double, time_dim, peak_id))
    call check(nf90_def_var(ncid, 'temperature', nf90_float, (/ x_dim, y_dim, time_dim /), &
      field_id))
    call check(nf90_put_att(ncid, x_id, 'units', 'cm'))
    call check(nf90_put_att(ncid, y_id, 'units', 'cm'))
    call check(nf90_put_att(ncid, time_id, 'units', 's'))
    call check(nf90_put_att(ncid, field_id, 'units', 'degC'))
    call check(nf90_put_att(ncid, field_id, '_FillValue', none))
    call check(nf90_put_att(ncid, field_id, 'valid_range', (/ 0., 500. /)))
    call check(nf90_put_att(ncid, nf90_global, 'title', 'heat in a plate with a hole'))
    call check(nf90_put_att(ncid, nf90_global, 'version', 2))
    call check(nf90_enddef(ncid))

    call check(nf90_put_var(ncid, x_id, (/ (0.5 * i, i = 1, nx) /)))
    call check(nf90_put_var(ncid, y_id, (/ (0.25 * i, i = 1, ny) /)))
    call check(nf90_put_var(ncid, name_id, 'platinum'))
    do y = 1, ny
      do x = 1, nx
        kind_of(x, y) = merge(0, 1, hole(x, y))
        t(x, y) = merge(none, 20. + 7. * x + merge(100., 0., y < 6), hole(x, y))
      end do
    end do
    call check(nf90_put_var(ncid, material_id, kind_of))
    now = 0
    record = 0
    call output()
  end subroutine

  subroutine resume()
    integer :: time_dim
    call check(nf90_inq_dimid(ncid, 'time', time_dim))
    call check(nf90_inquire_dimension(ncid, time_dim, len=record))
    call check(nf90_inq_varid(ncid, 'time', time_id))
    call check(nf90_inq_varid(ncid, 'peak', peak_id))
    call check(nf90_inq_varid(ncid, 'temperature', field_id))
    call check(nf90_get_var(ncid, time_id, now, start=(/ record /)))
    call check(nf90_get_var(ncid, field_id, t, start=(/ 1, 1, record /)))
  end subroutine

  subroutine output()
    record = record + 1
    call check(nf90_put_var(ncid, time_id, now, start=(/ record /)))
    call check(nf90_put_var(ncid, field_id, t, start=(/ 1, 1, record /)))
    call check(nf90_put_var(ncid, peak_id, dble(maxval(t)), start=(/ record /)))
  end subroutine

  ! Computes one step. The edges of the plate and of the hole have constant temperature.
  subroutine advance()
    real :: old(nx, ny)
    integer :: x, y
    old = t
    do y = 2, ny - 1
      do x = 2, nx - 1
        if (hole(x, y) .or. hole(x + 1, y) .or. hole(x - 1, y) .or. hole(x, y + 1) .or. &
          hole(x, y - 1)) cycle
        t(x, y) = old(x, y) + 0.125 * (old(x + 1, y) + old(x - 1, y) + old(x, y + 1) + &
          old(x, y - 1) - 4. * old(x, y))
      end do
    end do
  end subroutine

end program
