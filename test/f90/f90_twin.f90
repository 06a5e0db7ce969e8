! Writes in Fortran the file that f90_bodies.c writes in C.
module f90_twin
  use mpi
  use pnetcdf
  use f90_checks
  implicit none
  private

  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: int1 = selected_int_kind(2)
  integer, parameter :: int2 = selected_int_kind(4)
  integer, parameter :: nx = 5, ny = 4, records = 3

contains

  subroutine define(ncid, vars)
    integer, intent(in) :: ncid
    integer, intent(out) :: vars(6)
    integer :: time, y, x, text
    call okay(nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, time), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'y', int(ny, offset), y), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'x', int(nx, offset), x), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'characters', 6_offset, text), 'def_dim')
    call okay(nf90mpi_def_var(ncid, 'name', nf90_char, text, vars(1)), 'def_var')
    call okay(nf90mpi_def_var(ncid, 'b', nf90_byte, (/ x, y /), vars(2)), 'def_var')
    call okay(nf90mpi_def_var(ncid, 's', nf90_short, (/ x, y, time /), vars(3)), 'def_var')
    call okay(nf90mpi_def_var(ncid, 'i', nf90_int, (/ x, y /), vars(4)), 'def_var')
    call okay(nf90mpi_def_var(ncid, 'f', nf90_float, (/ x, y, time /), vars(5)), 'def_var')
    call okay(nf90mpi_def_var(ncid, 'd', nf90_double, (/ time /), vars(6)), 'def_var')
    call okay(nf90mpi_put_att(ncid, nf90_global, 'title', 'twins'), 'put_att')
    call okay(nf90mpi_put_att(ncid, vars(3), 'range', (/ -3_int2, 300_int2 /)), 'put_att')
    call okay(nf90mpi_put_att(ncid, vars(4), 'whole', 77), 'put_att')
    call okay(nf90mpi_enddef(ncid), 'enddef')
  end subroutine

  ! Process 0 puts all values. The other processes pass empty arrays.
  subroutine write_in_fortran() bind(C)
    integer :: ncid, vars(6), x, y, t, n
    integer(kind=int1) :: b(nx, ny)
    integer :: s(nx, ny, records), i(nx, ny)
    double precision :: d(records)
    do t = 1, records
      do y = 1, ny
        do x = 1, nx
          b(x, y) = int(10 * (y - 1) + x - 1, int1)
          i(x, y) = 100000 * (y - 1) + x - 1
          s(x, y, t) = 100 * (t - 1) + 10 * (y - 1) + x - 1
        end do
      end do
      d(t) = t - 1 + 0.125d0
    end do
    n = merge(1, 0, at_hand%rank == 0)
    call okay(nf90mpi_create(MPI_COMM_WORLD, file_path('f.nc'), at_hand%cmode, &
      MPI_INFO_NULL, ncid), 'create')
    call define(ncid, vars)
    call okay(nf90mpi_put_var_all(ncid, vars(1), 'marvin', count=(/ 6_offset * n /)), 'text')
    call okay(nf90mpi_put_var_all(ncid, vars(2), b(:, :n * ny)), 'int1')
    call okay(nf90mpi_put_var_all(ncid, vars(3), s(:, :, :n * records)), 'int4 as short')
    call okay(nf90mpi_put_var_all(ncid, vars(4), i(:n * nx, :)), 'int4')
    call okay(nf90mpi_put_var_all(ncid, vars(5), real(s(:, :, :n * records)) / 4), 'real4')
    call okay(nf90mpi_put_var_all(ncid, vars(6), d(:n * records)), 'real8')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

end module
