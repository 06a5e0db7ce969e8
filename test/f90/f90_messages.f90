! Tests error messages in Fortran: they begin with what went wrong, count from 1 and name
! the functions and constants of module pnetcdf. Compares them with the texts below.
module f90_messages
  use, intrinsic :: iso_c_binding
  use mpi
  use pnetcdf
  use f90_checks
  implicit none
  private

  integer, parameter :: offset = MPI_OFFSET_KIND

contains

  ! Checks an error code and its message, in variables of 300 and of 80 characters.
  subroutine reports(code, err, expected)
    integer, intent(in) :: code, err
    character(len=*), intent(in) :: expected
    character(len=300) :: text
    character(len=80) :: short
    call expect(code, err, expected)
    call okay(nf90mpix_strerror(err, text), 'strerror')
    call same(text == expected, expected // ' -- ' // trim(text))
    short = nf90mpi_strerror(err)
    call same(short == expected(:min(80, len(expected))), 'the first 80 characters')
    call same(len(nf90mpi_strerror(err)) == 80, 'strerror returns 80 characters')
  end subroutine

  subroutine messages() bind(C)
    integer :: ncid, lat, t, sst, label, old
    real :: values(40)
    character(len=3) :: units
    character(len=20) :: short
    character(len=:), allocatable :: path
    values = 0
    path = file_path('m.nc')
    call okay(nf90mpi_create(MPI_COMM_WORLD, path, at_hand%cmode, MPI_INFO_NULL, ncid), &
      'create')
    call okay(nf90mpi_def_dim(ncid, 'lat', 36_offset, lat), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, t), 'def_dim')
    call reports(nf90_eunlimpos, nf90mpi_def_var(ncid, 'x', nf90_real, (/ t, lat /), sst), &
      "variable 'x', unlimited dimension 'time': The unlimited dimension must vary slowest; " // &
      "make it the first dimension of the variable in C, the last in Fortran")
    call okay(nf90mpi_def_var(ncid, 'sst', nf90_real, (/ lat, t /), sst), 'def_var')
    call okay(nf90mpi_def_var(ncid, 'label', nf90_char, lat, label), 'def_var')
    call reports(nf90_ebaddim, nf90mpi_inquire_dimension(ncid, 9), &
      "dimension id 9, but the dataset has 2 dimensions: Dimension not found; check its id or name")
    call reports(nf90_enotatt, nf90mpi_get_att(ncid, nf90_global, 'units', units), &
      "global attribute 'units': Attribute not found; check its name and the variable id")
    call reports(nf90_einval, nf90mpi_set_fill(ncid, 7, old), &
      "fill mode 0x7: Invalid argument; check the arguments against the function's " // &
      "description in pnetcdf.h")
    call okay(nf90mpi_enddef(ncid), 'enddef')

    call reports(nf90_eedge, nf90mpi_put_var_all(ncid, sst, values, (/ 20_offset, 1_offset /), &
      (/ 19_offset, 1_offset /)), "variable 'sst', dimension 'lat': start 20, count 19, " // &
      "length 36: Start plus count exceeds the dimension; reduce count")
    call reports(nf90_eedge, nf90mpi_put_var_all(ncid, sst, values, (/ 20_offset, 1_offset /), &
      (/ 10_offset, 1_offset /), (/ 2_offset, 1_offset /)), "variable 'sst', dimension 'lat': " // &
      "start 20, count 10, stride 2, length 36: Start plus count exceeds the dimension; " // &
      "reduce count")
    call reports(nf90_einvalcoords, nf90mpi_get_var_all(ncid, sst, values, (/ 1_offset, &
      3_offset /)), "variable 'sst', dimension 'time': start 3, length 0: Start index out " // &
      "of range; it must be inside the dimension")
    call reports(nf90_einvalcoords, nf90mpi_put_var_all(ncid, sst, values, (/ 0_offset, &
      1_offset /)), "variable 'sst', dimension 'lat': start 0, length 36: Start index out " // &
      "of range; it must be inside the dimension")
    call reports(nf90_enotvar, nf90mpi_put_var_all(ncid, 9, values), "variable id 9, but the " // &
      "dataset has 2 variables: Variable not found; check its id or name")
    call reports(nf90_echar, nf90mpi_put_var_all(ncid, sst, 'text'), "variable 'sst' has type " // &
      "NF90_FLOAT, but the values are text: No conversion between text and numbers; pass " // &
      "text for NF90_CHAR, and numbers for all other types")

    ! The directories of a path are omitted only from a message that does not fit.
    old = nf90mpi_put_var(ncid, sst, values)
    call expect(nf90_enotindep, old, 'independent put')
    call same(nf90mpi_strerror(old) == 'm.nc: Allowed only in independent data mode; ' // &
      'call nf90mpi_begin_indep_data first', 'a short path: ' // nf90mpi_strerror(old))
    call expect(nf90_ests, nf90mpix_strerror(old, short), 'too few characters')
    call same(short == 'm.nc: Allowed only i', 'too few characters: ' // short)
    call reports(nf90_ebadid, nf90mpi_redef(-3), "id -3: Not the id of an open dataset; use " // &
      "the id that create or open returned, and only until the dataset is closed")
    call reports(nf90_noerr, nf90mpi_close(ncid), 'No error')
  end subroutine

  ! Trailing blanks are padding, not part of a text attribute.
  subroutine text_attributes() bind(C)
    integer :: ncid, i, code
    integer(kind=offset) :: length
    character(len=10) :: text
    character(len=*), parameter :: written(5) = (/ 'K     ', ' a b  ', '      ', 'x     ', &
      'abcdef' /)
    integer, parameter :: lengths(5) = (/ 1, 4, 0, 2, 6 /)
    call okay(nf90mpi_create(MPI_COMM_WORLD, file_path('t.nc'), at_hand%cmode, &
      MPI_INFO_NULL, ncid), 'create')
    do i = 1, 5
      text = written(i)
      if (i == 4) text(2:2) = achar(9)
      call okay(nf90mpi_put_att(ncid, nf90_global, 'note', text), 'put_att')
      call okay(nf90mpi_inquire_attribute(ncid, nf90_global, 'note', len=length), 'inquire')
      call equal(int(lengths(i), c_int64_t), length, 'trailing blanks of ' // written(i))
      text = '##########'
      call okay(nf90mpi_get_att(ncid, nf90_global, 'note', text), 'get_att')
      call same(text(lengths(i) + 1:) == ' ', 'the text is padded with blanks')
    end do
    text = '##########'
    call expect(nf90_enotatt, nf90mpi_get_att(ncid, nf90_global, 'none', text), 'none')
    call same(text == ' ', 'the text of a missing attribute is blank')
    call okay(nf90mpi_put_att(ncid, nf90_global, 'note', 'abc'), 'put_att')
    call expect(nf90_echar, nf90mpi_get_att(ncid, nf90_global, 'note', i), &
      'a number from a longer text')
    call okay(nf90mpi_def_var(ncid, 'code', nf90_char, code), 'def_var')
    call okay(nf90mpi_put_att(ncid, code, '_FillValue', ' '), 'a blank fill value')
    call okay(nf90mpi_inquire_attribute(ncid, code, '_FillValue', len=length), 'inquire')
    call equal(1_c_int64_t, length, 'a blank fill value')
    call okay(nf90mpi_put_att(ncid, code, '_FillValues', ' '), 'another attribute')
    call okay(nf90mpi_inquire_attribute(ncid, code, '_FillValues', len=length), 'inquire')
    call equal(0_c_int64_t, length, 'another attribute')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

end module
