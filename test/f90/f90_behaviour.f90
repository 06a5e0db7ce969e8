! Tests the features that module pnetcdf adds to the library: optional arguments, array sections,
! names and text, ids that start with 1, and values whose type differs from the variable's.
module f90_behaviour
  use, intrinsic :: iso_c_binding
  use mpi
  use pnetcdf
  use f90_checks
  implicit none
  private

  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: ny = 6, nx = 8

contains

  ! Creates a variable of nx * ny * nprocs integers. Each process owns a plane of nx * ny integers.
  subroutine create_planes(ncid, varid, xtype)
    integer, intent(out) :: ncid, varid
    integer, intent(in) :: xtype
    integer :: dims(3)
    call okay(nf90mpi_create(MPI_COMM_WORLD, file_path('planes.nc'), at_hand%cmode, &
      MPI_INFO_NULL, ncid), 'create')
    call okay(nf90mpi_def_dim(ncid, 'x', int(nx, offset), dims(1)), 'def_dim x')
    call okay(nf90mpi_def_dim(ncid, 'y', int(ny, offset), dims(2)), 'def_dim y')
    call okay(nf90mpi_def_dim(ncid, 'process', int(at_hand%nprocs, offset), dims(3)), &
      'def_dim process')
    call okay(nf90mpi_def_var(ncid, 'v', xtype, dims, varid), 'def_var')
    call okay(nf90mpi_enddef(ncid), 'enddef')
  end subroutine

  function plane()
    integer :: plane(nx, ny), i
    plane = reshape((/ (1000 * at_hand%rank + i, i = 1, nx * ny) /), (/ nx, ny /))
  end function

  function here(x, y)
    integer, intent(in) :: x, y
    integer(kind=offset) :: here(3)
    here = int((/ x, y, at_hand%rank + 1 /), offset)
  end function

  ! Tests start, count, stride and map: separately, together, and with fewer elements than the
  ! variable has dimensions.
  subroutine optional_arguments() bind(C)
    integer :: ncid, varid, a(nx, ny), b(nx, ny), t(ny, nx), row(nx), one
    call create_planes(ncid, varid, nf90_int)
    a = plane()
    call okay(nf90mpi_put_var_all(ncid, varid, a, here(1, 1)), 'start')
    call okay(nf90mpi_get_var_all(ncid, varid, b, start=here(1, 1)), 'start')
    call same(all(a == b), 'start: values')

    row = 0
    call okay(nf90mpi_get_var_all(ncid, varid, row, here(1, 3)), 'a row')
    call same(all(row == a(:, 3)), 'a row: values')
    call okay(nf90mpi_get_var_all(ncid, varid, row(:ny), here(2, 1), &
      int((/ 1, ny, 1 /), offset)), 'a column: count')
    call same(all(row(:ny) == a(2, :)), 'a column: values')
    row = -1
    call okay(nf90mpi_get_var_all(ncid, varid, row, here(1, 2), &
      stride=int((/ 3 /), offset), count=int((/ 3 /), offset)), 'stride and a short count')
    call same(all(row == (/ a(1, 2), a(4, 2), a(7, 2), -1, -1, -1, -1, -1 /)), &
      'stride: values, and those not read')
    t = 0
    call okay(nf90mpi_get_var_all(ncid, varid, t, here(1, 1), &
      count=int((/ nx, ny, 1 /), offset), map=int((/ ny, 1, 0 /), offset)), 'map')
    call same(all(t == transpose(a)), 'map: values')
    one = 0
    call okay(nf90mpi_get_var_all(ncid, varid, one, here(4, 5)), 'a scalar')
    call equal(int(a(4, 5), c_int64_t), int(one, c_int64_t), 'a scalar: value')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Without start, all processes read from the beginning.
  subroutine nothing_optional() bind(C)
    integer :: ncid, varid, whole(nx, ny, at_hand%nprocs), first, i
    call create_planes(ncid, varid, nf90_int)
    call okay(nf90mpi_put_var_all(ncid, varid, plane(), here(1, 1)), 'put')
    call okay(nf90mpi_get_var_all(ncid, varid, whole), 'get all of it')
    do i = 1, at_hand%nprocs
      call equal(int(1000 * (i - 1) + 1, c_int64_t), int(whole(1, 1, i), c_int64_t), 'plane')
    end do
    call okay(nf90mpi_get_var_all(ncid, varid, first), 'get the first')
    call equal(1_c_int64_t, int(first, c_int64_t), 'the first')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Sections with any gaps, forwards or backwards, are used without a copy.
  subroutine sections() bind(C)
    integer :: ncid, varid, a(2 * nx, 3 * ny), b(2 * nx, 3 * ny), k
    call create_planes(ncid, varid, nf90_int)
    a = 0
    a(2 * nx:2:-2, 2:3 * ny:3) = plane()
    call okay(nf90mpi_put_var_all(ncid, varid, a(2 * nx:2:-2, 2:3 * ny:3), here(1, 1)), &
      'put a section')
    b = 0
    call okay(nf90mpi_get_var_all(ncid, varid, b(2 * nx:2:-2, 2:3 * ny:3), here(1, 1)), &
      'get a section')
    call same(all(a == b), 'a section: values, and what lies between them')
    ! The first 5 elements of a section: a column and a part of the next.
    b = -1
    call okay(nf90mpi_get_var_all(ncid, varid, b(1:6:2, ::2), here(1, 1), &
      int((/ 1, 5, 1 /), offset)), 'part of a section')
    call same(all(b(1:6:2, 1) == a(2 * nx, 2:8:3)) .and. &
      all(b(1:4:2, 3) == a(2 * nx, 11:14:3)), 'part of a section: values')
    call equal(5_c_int64_t, int(count(b /= -1), c_int64_t), 'part of a section: no more')
    ! With a map, whose unit is elements of the section.
    b = -1
    call okay(nf90mpi_get_var_all(ncid, varid, b(1:2 * ny:2, 1:9:3), here(1, 1), &
      int((/ 3, ny, 1 /), offset), map=int((/ ny, 1, 0 /), offset)), 'a section and a map')
    do k = 1, 3
      call same(all(b(1:2 * ny:2, 3 * k - 2) == plane_row(k)), 'a section and a map: values')
    end do
    call okay(nf90mpi_close(ncid), 'close')
  contains
    function plane_row(k)
      integer, intent(in) :: k
      integer :: plane_row(ny), p(nx, ny)
      p = plane()
      plane_row = p(k, :)
    end function
  end subroutine

  ! Nonblocking calls also accept sections, and do not use temporary copies, which would be freed
  ! before the wait.
  subroutine waiting_sections() bind(C)
    integer :: ncid, varid, req(2), st(2)
    integer, asynchronous :: a(nx, 2 * ny), b(3 * nx, ny)
    call create_planes(ncid, varid, nf90_int)
    a = 0
    a(:, 2::2) = plane()
    call okay(nf90mpi_iput_var(ncid, varid, a(:, 2::2), req(1), here(1, 1)), 'iput')
    call okay(nf90mpi_wait_all(ncid, 1, req, st), 'wait_all')
    b = 0
    call okay(nf90mpi_iget_var(ncid, varid, b(3::3, :), req(1), here(1, 1)), 'iget')
    call okay(nf90mpi_wait_all(ncid, 1, req(:1), st(:1)), 'wait_all')
    call same(all(b(3::3, :) == plane()) .and. all(b(1::3, :) == 0), 'values')
    ! A list of blocks.
    b = 0
    call okay(nf90mpi_iget_varn(ncid, varid, b(2::3, :2), req(2), 2, &
      reshape((/ here(1, 1), here(1, 2) /), (/ 3, 2 /)), &
      reshape(int((/ nx, 1, 1, nx, 1, 1 /), offset), (/ 3, 2 /))), 'iget_varn')
    call okay(nf90mpi_wait_all(ncid, nf90_req_all, req, st), 'wait_all')
    a(:, ::2) = plane()
    call same(all(b(2::3, :2) == a(:, 1:3:2)), 'varn: values')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Dummy arguments, pointers and allocatables refer to the array itself, with or without gaps, so
  ! nothing is copied.
  subroutine waiting_dummies() bind(C)
    integer :: ncid, varid, req(4), st(4), n
    integer, target, asynchronous :: a(2 * nx, 2 * ny)
    integer, asynchronous, allocatable :: whole(:, :)
    integer, pointer, asynchronous :: row(:, :)
    call create_planes(ncid, varid, nf90_int)
    call okay(nf90mpi_put_var_all(ncid, varid, plane(), here(1, 1)), 'put')
    a = 0
    row => a(1::2, 1::2)
    allocate (whole(nx, ny))
    whole = 0
    n = ny
    call post_shaped(a(2::2, 2::2), req(1))
    call okay(nf90mpi_iget_var(ncid, varid, row, req(2), here(1, 1)), 'iget, a pointer')
    call okay(nf90mpi_iget_var(ncid, varid, whole, req(3), here(1, 1)), 'iget, allocatable')
    call post_explicit(a(1, 2), n, req(4))
    call okay(nf90mpi_wait_all(ncid, 4, req, st), 'wait_all')
    call same(all(a(2::2, 2::2) == plane()), 'a dummy of assumed shape')
    call same(all(row == plane()), 'a pointer')
    call same(all(whole == plane()), 'an allocatable')
    call same(a(1, 2) == 1000 * at_hand%rank + 1 .and. a(3, 2) == 0, &
      'a dummy of explicit shape')
    call okay(nf90mpi_close(ncid), 'close')
  contains
    subroutine post_shaped(part, req)
      integer, asynchronous :: part(:, :)
      integer, intent(out) :: req
      call okay(nf90mpi_iget_var(ncid, varid, part, req, here(1, 1)), 'iget, a dummy')
    end subroutine
    ! Gets one element, at the beginning of the array.
    subroutine post_explicit(part, n, req)
      integer, intent(in) :: n
      integer, asynchronous :: part(n)
      integer, intent(out) :: req
      call okay(nf90mpi_iget_var(ncid, varid, part(:1), req, here(1, 1)), 'iget, explicit')
    end subroutine
  end subroutine

  ! A datatype applies to the array as if the array had no gaps.
  subroutine datatypes() bind(C)
    integer :: ncid, varid, req(1), type, ierr
    integer :: a(nx + 4, ny + 2), b(nx + 4, ny + 2), wide(2 * nx + 8, ny + 2)
    call create_planes(ncid, varid, nf90_short)
    call MPI_Type_create_subarray(2, (/ nx + 4, ny + 2 /), (/ nx, ny /), (/ 2, 1 /), &
      MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    a = -1
    a(3:nx + 2, 2:ny + 1) = plane()
    call okay(nf90mpi_put_var_all(ncid, varid, a, here(1, 1), &
      int((/ nx, ny, 1 /), offset), bufcount=1_offset, buftype=type), 'put')
    b = -1
    call okay(nf90mpi_get_var_all(ncid, varid, b, here(1, 1), &
      int((/ nx, ny, 1 /), offset), bufcount=1_offset, buftype=type), 'get')
    call same(all(a == b), 'values, and the frame')
    wide = -1
    call okay(nf90mpi_get_var_all(ncid, varid, wide(::2, :), here(1, 1), &
      int((/ nx, ny, 1 /), offset), bufcount=1_offset, buftype=type), 'get into a section')
    call same(all(wide(::2, :) == a) .and. all(wide(2::2, :) == -1), 'a section: values')
    call expect(nf90_einval, nf90mpi_iget_var(ncid, varid, wide(::2, :), req(1), &
      here(1, 1), int((/ nx, ny, 1 /), offset), bufcount=1_offset, buftype=type), &
      'a section with a datatype cannot wait')
    call MPI_Type_free(type, ierr)
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Error codes of the library are returned, and the other processes continue.
  subroutine errors() bind(C)
    integer :: ncid, varid, err, a(nx, ny), b(2), req(1), st(1)
    integer(kind=offset) :: short(2, 1)
    character(len=4) :: text
    call create_planes(ncid, varid, nf90_int)
    a = plane()
    call expect(nf90_ebadid, nf90mpi_put_var_all(ncid + 100, varid, a), 'no such file')
    call expect(nf90_enotvar, nf90mpi_put_var_all(ncid, varid + 1, a), 'no such variable')
    call expect(nf90_enotindep, nf90mpi_put_var(ncid, varid, a), 'the other mode')
    err = nf90mpi_put_var_all(ncid, varid, a, &
      here(merge(2, 1, at_hand%rank == 0), 1))
    call expect(merge(nf90_eedge, nf90_noerr, at_hand%rank == 0), err, 'over the edge')
    call expect(nf90_einvalcoords, nf90mpi_get_var_all(ncid, varid, b, here(0, 1)), &
      'start from 0')
    call expect(nf90_eiomismatch, nf90mpi_get_var_all(ncid, varid, b, here(1, 1), &
      int((/ 3, 1, 1 /), offset)), 'more than there is room for')
    call expect(nf90_enegativecnt, nf90mpi_get_var_all(ncid, varid, b, here(1, 1), &
      int((/ -1, 1, 1 /), offset)), 'a negative count')
    short = 1
    call expect(nf90_einval, nf90mpi_get_varn_all(ncid, varid, b, 1, short), &
      'a list that is too short')
    call expect(nf90_einval, nf90mpi_get_varn_all(ncid, varid, b, 2, &
      reshape(here(1, 1), (/ 3, 1 /))), 'a list of too few')
    call expect(nf90_einval, nf90mpi_wait_all(ncid, 2, req, st), 'too few requests')
    call expect(nf90_echar, nf90mpi_get_var_all(ncid, varid, text), &
      'text of numbers')
    call okay(nf90mpi_close(ncid), 'close')
    call same(nf90mpi_strerror(nf90_ebadid) /= '' .and. &
      nf90mpi_strerrno(nf90_ebadid) == 'NF90_EBADID', 'words for errors')
    call same(.not. nf90mpi_issyserr(nf90_ebadid), 'no error of the system')
  end subroutine

end module
