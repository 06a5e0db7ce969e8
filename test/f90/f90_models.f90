! Tests calls that are typical of models: history files written by buffered requests, restart files
! with sections of arrays with halos, names of stations, empty attributes, and arguments by keyword.
module f90_models
  use, intrinsic :: iso_c_binding
  use mpi
  use pnetcdf
  use f90_checks
  implicit none
  private

  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: r8 = selected_real_kind(12), i8 = selected_int_kind(18)
  integer, parameter :: nx = 5, ny = 3, nz = 2, halo = 2

contains

  ! Returns the value that the owner of a cell puts.
  elemental function cell(x, y, z, rank)
    real(r8) :: cell
    integer, intent(in) :: x, y, z, rank
    cell = x + 10 * y + 100 * z + 1000 * rank + 0.5_r8
  end function

  subroutine fill(field)
    real(r8), intent(out) :: field(1 - halo:, 1 - halo:, :)
    integer :: x, y, z
    field = -1
    do z = 1, nz
      do y = 1, ny
        do x = 1, nx
          field(x, y, z) = cell(x, y, z, at_hand%rank)
        end do
      end do
    end do
  end subroutine

  subroutine define(ncid, t, u, names)
    integer, intent(out) :: ncid, t, u, names
    integer :: dims(4), width, station
    call okay(nf90mpi_create(path=file_path('model.nc'), mpi_comm=MPI_COMM_WORLD, ncid=ncid, &
      mpi_info=MPI_INFO_NULL, cmode=at_hand%cmode), 'create')
    call okay(nf90mpi_def_dim(ncid, name='lon', len=int(nx * at_hand%nprocs, offset), &
      dimid=dims(1)), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'lat', int(ny, offset), dims(2)), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'lev', int(nz, offset), dims(3)), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, dims(4)), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'width', 6_offset, width), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'station', int(2 * at_hand%nprocs, offset), station), &
      'def_dim')
    call okay(nf90mpi_def_var(ncid, name='T', xtype=nf90_double, dimids=dims, varid=t), 'T')
    call okay(nf90mpi_def_var(ncid, 'U', nf90_short, dims(:3), u), 'U')
    call okay(nf90mpi_def_var(ncid, 'names', nf90_char, (/ width, station /), names), 'names')
    call okay(nf90mpi_enddef(ncid), 'enddef')
  end subroutine

  function mine(record)
    integer, intent(in) :: record
    integer(kind=offset) :: mine(4)
    mine = int((/ 1 + nx * at_hand%rank, 1, 1, record /), offset)
  end function

  ! Makes buffered puts of the parts inside the halos, with a single wait. The list of ids
  ! contains null requests and gaps.
  subroutine history() bind(C)
    integer :: ncid, t, u, names, req(9), st(9), level
    real(r8) :: field(1 - halo:nx + halo, 1 - halo:ny + halo, nz), back(nx, ny, nz)
    call define(ncid, t, u, names)
    call fill(field)
    call okay(nf90mpi_buffer_attach(ncid, 4096_offset), 'buffer_attach')
    req = nf90_req_null
    st = -99
    call okay(nf90mpi_bput_var(ncid, t, field(1:nx, 1:ny, :), req(1), start=mine(1)), 'bput')
    do level = 1, nz
      call okay(nf90mpi_bput_var(ncid=ncid, varid=t, values=field(1:nx, 1:ny, level), &
        req=req(2 * level + 1), count=int((/ nx, ny, 1, 1 /), offset), &
        start=mine(3) + (/ 0_offset, 0_offset, int(level - 1, offset), 0_offset /)), 'bput')
    end do
    ! Puts an expression of a different type.
    call okay(nf90mpi_bput_var(ncid, u, nint(field(1:nx, 1:ny, :)), req(7), mine(1)), 'bput')
    field = 0
    call okay(nf90mpi_wait_all(ncid, 4, req(1:7:2), st(1:7:2)), 'wait_all')
    call same(all(req == nf90_req_null), 'every request is done')
    call same(all(st(1:7:2) == nf90_noerr) .and. all(st(2:6:2) == -99), 'their states')
    call okay(nf90mpi_wait_all(ncid, 9, req, st), 'wait_all for nothing')
    call same(all(st == nf90_noerr), 'nothing is fine')
    call okay(nf90mpi_buffer_detach(ncid), 'buffer_detach')
    call fill(field)
    call okay(nf90mpi_get_var_all(ncid, t, back, mine(1)), 'get')
    call same(all(back == field(1:nx, 1:ny, :)), 'the whole')
    back = 0
    call okay(nf90mpi_get_var_all(ncid, t, back, start=mine(3)), 'get')
    call same(all(back == field(1:nx, 1:ny, :)), 'level by level')
    call okay(nf90mpi_get_var_all(ncid, u, back, mine(1)), 'get')
    call same(all(back == nint(field(1:nx, 1:ny, :))), 'as whole numbers')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Posts a valid request, and two that return errors when they are posted. A value that
  ! is out of range for the variable's type becomes the fill value, and the other values
  ! of that request are put.
  subroutine one_request_fails() bind(C)
    integer :: ncid, t, u, names, req(3), st(3)
    integer :: back(nx)
    integer, asynchronous :: large(nx), small(nx)
    call define(ncid, t, u, names)
    large = 7
    large(2) = 100000
    small = 7
    call okay(nf90mpi_iput_var(ncid, u, small, req(1), mine(1)), 'iput')
    call expect(nf90_erange, nf90mpi_iput_var(ncid, u, large, req(2), &
      mine(1) + (/ 0, 1, 0, 0 /)), 'values that do not fit')
    call expect(nf90_eedge, nf90mpi_iput_var(ncid, u, small, req(3), &
      start=mine(1) + (/ nx * at_hand%nprocs - nx * at_hand%rank - 1, 0, 0, 0 /)), 'iput')
    call same(req(3) == nf90_req_null, 'no request of an error')
    call okay(nf90mpi_wait_all(ncid, 3, req, st), 'wait_all')
    call same(st(1) == nf90_noerr .and. st(3) == nf90_noerr, 'states')
    call okay(nf90mpi_get_var_all(ncid, u, back, mine(1)), 'get')
    call same(all(back == 7), 'the good one')
    call okay(nf90mpi_get_var_all(ncid, u, back, mine(1) + (/ 0, 1, 0, 0 /)), 'get')
    call same(back(2) == nf90_fill_short .and. all(back((/ 1, 3, 4, 5 /)) == 7), &
      'all but the one that does not fit')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Tests arrays of text, with and without count; strings that are shorter, longer or partial; and
  ! empty text.
  subroutine text_arrays() bind(C)
    integer :: ncid, t, u, names, n
    character(len=6) :: stations(2), back(2)
    character(len=9) :: long(2)
    character(len=3) :: code
    character :: letters(6, 2)
    call define(ncid, t, u, names)
    n = 2 * at_hand%rank
    stations = (/ 'Oslo  ', 'Quito ' /)
    call okay(nf90mpi_put_var_all(ncid, names, stations, start=int((/ 1, n + 1 /), offset), &
      count=int((/ 6, 2 /), offset)), 'put')
    back = '######'
    call okay(nf90mpi_get_var_all(ncid, names, back, int((/ 1, n + 1 /), offset)), 'get')
    call same(all(back == stations), 'names')
    ! A string, and part of a string.
    code = '###'
    call okay(nf90mpi_get_var_all(ncid, names, code, int((/ 2, n + 2 /), offset)), 'get a part')
    call same(code == 'uit', 'a part')
    call okay(nf90mpi_put_var_all(ncid, names, 'ITO', int((/ 3, n + 2 /), offset)), 'put a part')
    call okay(nf90mpi_get_var_all(ncid, names, back(2), int((/ 1, n + 2 /), offset)), 'get one')
    call same(back(2) == 'QuITO ', 'one')
    ! Single characters, and substrings of a longer array.
    call okay(nf90mpi_get_var_all(ncid, names, letters, int((/ 1, n + 1 /), offset), &
      count=int((/ 6, 2 /), offset)), 'letters')
    call same(letters(1, 1) == 'O' .and. letters(4, 2) == 'T', 'letters')
    long = 'abcdefghi'
    call okay(nf90mpi_get_var_all(ncid, names, long(:)(3:8), int((/ 1, n + 1 /), offset)), &
      'substrings')
    call same(long(1) == 'abOslo  i' .and. long(2) == 'abQuITO i', 'substrings')
    call okay(nf90mpi_put_var_all(ncid, names, long(2:1:-1)(3:8), &
      int((/ 1, n + 1 /), offset)), 'backwards')
    call okay(nf90mpi_get_var_all(ncid, names, back, int((/ 1, n + 1 /), offset)), 'get')
    call same(back(1) == 'QuITO ' .and. back(2) == 'Oslo  ', 'backwards')
    ! Empty text: a string without characters, and a count of 0.
    call okay(nf90mpi_put_var_all(ncid, names, '', int((/ 1, n + 1 /), offset)), 'no characters')
    call okay(nf90mpi_put_var_all(ncid, names, 'x', int((/ 1, n + 1 /), offset), &
      int((/ 0, 0 /), offset)), 'count 0')
    call okay(nf90mpi_put_var_all(ncid, names, stations(1:0), int((/ 1, n + 1 /), offset)), &
      'no strings')
    call okay(nf90mpi_get_var_all(ncid, names, back, int((/ 1, n + 1 /), offset)), 'get')
    call same(back(1) == 'QuITO ', 'nothing was written')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Tests empty attributes, attributes of each type, and arguments by keyword.
  subroutine odd_attributes() bind(C)
    integer :: ncid, t, u, names, xtype, num, none(0), list(2)
    integer(kind=offset) :: length
    character(len=4) :: text
    real(r8) :: stats(3)
    call define(ncid, t, u, names)
    call okay(nf90mpi_redef(ncid), 'redef')
    call okay(nf90mpi_put_att(ncid, t, 'empty', ''), 'no characters')
    call okay(nf90mpi_put_att(ncid, t, 'blank', ' '), 'a blank')
    call okay(nf90mpi_put_att(ncid, t, 'none', none), 'no numbers')
    call okay(nf90mpi_put_att(values=(/ 1._r8, 2._r8, -0.25_r8 /), name='stats', varid=t, &
      ncid=ncid), 'by keyword')
    call okay(nf90mpi_put_att(ncid, t, 'line', 'a' // achar(10) // 'b' // achar(0)), 'control')
    call okay(nf90mpi_enddef(ncid), 'enddef')
    text = '####'
    call okay(nf90mpi_get_att(ncid, t, 'empty', text), 'no characters')
    call same(text == ' ', 'no characters')
    call okay(nf90mpi_inquire_attribute(ncid, t, 'empty', len=length, xtype=xtype), 'inquire')
    call same(length == 0 .and. xtype == nf90_char, 'no characters')
    call okay(nf90mpi_inquire_attribute(ncid, t, 'blank', len=length), 'inquire')
    call same(length == 0, 'a trailing blank')
    call okay(nf90mpi_inquire_attribute(ncid, t, 'none', xtype, length, num), 'inquire')
    call same(length == 0 .and. xtype == nf90_int .and. num == 3, 'no numbers')
    list = 5
    call okay(nf90mpi_get_att(ncid, t, 'none', list), 'no numbers')
    call same(all(list == 5), 'no numbers')
    call okay(nf90mpi_get_att(ncid, t, name='stats', values=stats), 'by keyword')
    call same(all(stats == (/ 1._r8, 2._r8, -0.25_r8 /)), 'by keyword')
    call okay(nf90mpi_get_att(ncid, t, 'line', text), 'control characters')
    call same(text == 'a' // achar(10) // 'b' // achar(0), 'control characters')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Tests counts, strides and maps with fewer or more elements than the variable has dimensions,
  ! arrays of size 0, and an assumed-size array.
  subroutine lists() bind(C)
    integer :: ncid, t, u, names, k
    integer :: a(nx, ny, nz), b(nx, ny, nz), z(nz, ny, nx)
    call define(ncid, t, u, names)
    a = reshape((/ (k + 100 * at_hand%rank, k = 1, nx * ny * nz) /), shape(a))
    ! U has three dimensions, so the fourth entry is ignored.
    call okay(nf90mpi_put_var_all(ncid, u, a, mine(1), int((/ nx, ny, nz, 9 /), offset)), 'put')
    b = 0
    call okay(nf90mpi_get_var_all(ncid, u, b(:, 2:3, :), mine(1) + (/ 0, 1, 0, 0 /), &
      int((/ nx, 2 /), offset)), 'a count of two')
    call same(all(b(:, 2:3, :) == a(:, 2:3, :)) .and. all(b(:, 1, :) == 0), 'a count of two')
    b = 0
    call okay(nf90mpi_get_var_all(ncid, u, b(1:3, :, :), mine(1), stride=(/ 2_offset /)), &
      'one stride')
    call same(all(b(1:3, :, :) == a(::2, :, :)), 'one stride')
    z = 0
    call okay(nf90mpi_get_var_all(ncid, u, z, mine(1), int((/ nx, ny, nz /), offset), &
      map=int((/ nz * ny, nz, 1 /), offset)), 'map')
    call same(all(reshape(z, shape(a), order=(/ 3, 2, 1 /)) == a), 'map')
    z = 0
    call okay(nf90mpi_put_var_all(ncid, u, a, mine(1), stride=int((/ 1, 1, 1, 7 /), offset), &
      map=int((/ 1, nx /), offset)), 'a map of two')
    b = 0
    call okay(nf90mpi_get_var_all(ncid, u, b, mine(1)), 'get')
    call same(all(b == a), 'a map of two goes on without gaps')
    call okay(nf90mpi_get_var_all(ncid, u, b(:, 3:2, :), mine(1)), 'no elements')
    call explicit(ncid, u, b, nx * ny * nz)
    call same(all(b == a), 'an array of assumed size')
    call expect(nf90_eiomismatch, nf90mpi_get_var_all(ncid, u, b(:, 1, 1), mine(1), &
      int((/ nx, 2, 1 /), offset)), 'too small an array')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  subroutine explicit(ncid, u, b, n)
    integer, intent(in) :: ncid, u, n
    integer, intent(inout) :: b(*)
    b(1:n) = 0
    call okay(nf90mpi_get_var_all(ncid, u, b(1:n), mine(1), int((/ nx, ny, nz /), offset)), &
      'an array of assumed size')
  end subroutine

end module
