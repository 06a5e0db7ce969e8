! Tests definitions and inquiries through module pnetcdf: calls every function and checks
! its results.
module f90_definitions
  use, intrinsic :: iso_c_binding
  use mpi
  use pnetcdf
  use f90_checks
  implicit none
  private

  integer, parameter :: offset = MPI_OFFSET_KIND
  integer, parameter :: int1 = selected_int_kind(2)
  integer, parameter :: int2 = selected_int_kind(4)
  integer, parameter :: int8 = selected_int_kind(18)

contains

  subroutine number(expected, got, what)
    integer, intent(in) :: expected, got
    character(len=*), intent(in) :: what
    call equal(int(expected, c_int64_t), int(got, c_int64_t), what)
  end subroutine

  subroutine create(ncid)
    integer, intent(out) :: ncid
    call okay(nf90mpi_create(MPI_COMM_WORLD, file_path('d.nc') // '  ', at_hand%cmode, &
      MPI_INFO_NULL, ncid), 'create')
  end subroutine

  ! Creates a file with a record dimension, three variables and an attribute.
  subroutine create_some(ncid, t, x, vars)
    integer, intent(out) :: ncid, t, x, vars(3)
    call create(ncid)
    call okay(nf90mpi_def_dim(ncid, 'time ', nf90mpi_unlimited, t), 'def_dim')
    call okay(nf90mpi_def_dim(ncid, 'x', 7_offset, x), 'def_dim')
    call okay(nf90mpi_def_var(ncid, 'scalar', nf90_double, vars(1)), 'def_var, no dimension')
    call okay(nf90mpi_def_var(ncid, 'line', nf90_short, x, vars(2)), 'def_var, one')
    call okay(nf90mpi_def_var(ncid, 'field', nf90_float, (/ x, t /), vars(3)), 'def_var, two')
    call okay(nf90mpi_put_att(ncid, nf90_global, 'title', 'all of it'), 'put_att')
  end subroutine

  subroutine dimensions_and_variables() bind(C)
    integer :: ncid, t, x, vars(3), id, n, xtype, ndims, dimids(2), few(1), natts
    integer :: counts(5)
    integer(kind=offset) :: length
    character(len=20) :: name
    call create_some(ncid, t, x, vars)
    call number(1, t, 'ids count from 1')
    call number(2, x, 'ids count from 1')
    call number(3, vars(3), 'ids count from 1')
    call okay(nf90mpi_inq_dimid(ncid, 'x  ', id), 'inq_dimid')
    call number(x, id, 'inq_dimid')
    call expect(nf90_ebaddim, nf90mpi_inq_dimid(ncid, 'y', id), 'inq_dimid')
    name = repeat('#', 20)
    call okay(nf90mpi_inquire_dimension(ncid, x, name, length), 'inquire_dimension')
    call same(name == 'x' .and. length == 7, 'inquire_dimension')
    call okay(nf90mpi_inquire_dimension(ncid, t, len=length), 'inquire_dimension')
    call same(length == 0, 'the record dimension')
    call okay(nf90mpi_rename_dim(ncid, x, 'longitude'), 'rename_dim')
    call okay(nf90mpi_inquire_dimension(ncid, x, name=name), 'inquire_dimension')
    call same(name == 'longitude', 'rename_dim')

    call okay(nf90mpi_inq_varid(ncid, 'field', id), 'inq_varid')
    call number(vars(3), id, 'inq_varid')
    call okay(nf90mpi_inquire_variable(ncid, id, name, xtype, ndims, dimids, natts), &
      'inquire_variable')
    call same(name == 'field' .and. xtype == nf90_float .and. ndims == 2 .and. &
      all(dimids == (/ x, t /)) .and. natts == 0, 'inquire_variable')
    call okay(nf90mpi_inquire_variable(ncid, vars(1), ndims=ndims), 'inquire_variable')
    call number(0, ndims, 'a scalar')
    call expect(nf90_einval, nf90mpi_inquire_variable(ncid, id, dimids=few), 'a short list')
    call expect(nf90_enotvar, nf90mpi_inquire_variable(ncid, 4, name), 'no such variable')
    call okay(nf90mpi_rename_var(ncid, id, 'temperature'), 'rename_var')
    call okay(nf90mpi_inquire_variable(ncid, id, name=name), 'inquire_variable')
    call same(name == 'temperature', 'rename_var')

    call okay(nf90mpi_inquire(ncid, counts(1), counts(2), counts(3), counts(4), counts(5)), &
      'inquire')
    call same(all(counts == (/ 2, 3, 1, t, at_hand%format /)), 'inquire')
    call okay(nf90mpi_inquire(ncid, formatNum=n), 'inquire')
    call number(at_hand%format, n, 'inquire')
    call okay(nf90mpi_inq_num_rec_vars(ncid, n), 'inq_num_rec_vars')
    call number(1, n, 'inq_num_rec_vars')
    call okay(nf90mpi_inq_num_fix_vars(ncid, n), 'inq_num_fix_vars')
    call number(2, n, 'inq_num_fix_vars')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  subroutine attributes() bind(C)
    integer :: ncid, t, x, vars(3), xtype, attnum, whole, list(3)
    integer(kind=offset) :: length
    integer(kind=int1) :: bytes(3)
    integer(kind=int2) :: shorts(5)
    integer(kind=int8) :: long
    real :: single
    double precision :: doubles(2), double
    character(len=20) :: text
    call create_some(ncid, t, x, vars)
    call okay(nf90mpi_put_att(ncid, vars(2), 'bytes', (/ 1_int1, -2_int1, 3_int1 /)), 'int1')
    shorts = (/ 10_int2, 20_int2, 30_int2, 40_int2, 50_int2 /)
    call okay(nf90mpi_put_att(ncid, vars(2), 'shorts', shorts(::2)), 'int2, a section')
    call okay(nf90mpi_put_att(ncid, vars(2), 'whole', 123456), 'int4')
    call expect(merge(nf90_noerr, nf90_estrictcdf2, at_hand%format == 5), &
      nf90mpi_put_att(ncid, vars(2), 'long', 5000000000_int8), 'int8')
    call okay(nf90mpi_put_att(ncid, vars(2), 'single', 1.5), 'real4')
    call okay(nf90mpi_put_att(ncid, vars(2), 'doubles', (/ 0.1d0, 2d0 /)), 'real8')
    call okay(nf90mpi_put_att(ncid, vars(2), 'blank', 'a '), 'text')

    call okay(nf90mpi_get_att(ncid, vars(2), 'bytes', bytes), 'get int1')
    call same(all(bytes == (/ 1_int1, -2_int1, 3_int1 /)), 'int1')
    shorts = 0
    call okay(nf90mpi_get_att(ncid, vars(2), 'shorts', shorts(5:1:-2)), 'get int2')
    call same(all(shorts == (/ 50_int2, 0_int2, 30_int2, 0_int2, 10_int2 /)), 'int2')
    call okay(nf90mpi_get_att(ncid, vars(2), 'whole', whole), 'get int4')
    call number(123456, whole, 'int4')
    call okay(nf90mpi_get_att(ncid, vars(2), 'bytes', list), 'converted')
    call same(all(list == (/ 1, -2, 3 /)), 'converted')
    long = 0
    if (at_hand%format == 5) then
      call okay(nf90mpi_get_att(ncid, vars(2), 'long', long), 'get int8')
      call same(long == 5000000000_int8, 'int8')
    end if
    call okay(nf90mpi_get_att(ncid, vars(2), 'single', single), 'get real4')
    call same(abs(single - 1.5) < 1e-6, 'real4')
    call okay(nf90mpi_get_att(ncid, vars(2), 'single', double), 'get as real8')
    call same(abs(double - 1.5) < 1e-6, 'as real8')
    call okay(nf90mpi_get_att(ncid, vars(2), 'doubles', doubles), 'get real8')
    call same(abs(doubles(1) - 0.1d0) < 1e-15, 'real8')
    text = repeat('#', 20)
    call okay(nf90mpi_get_att(ncid, nf90_global, 'title', text), 'get text')
    call same(text == 'all of it', 'text is padded with blanks')
    call expect(nf90_einval, nf90mpi_get_att(ncid, nf90_global, 'title', text(:3)), 'no room')
    call expect(nf90_einval, nf90mpi_get_att(ncid, vars(2), 'doubles', double), 'no room')
    call expect(nf90_echar, nf90mpi_get_att(ncid, vars(2), 'blank', list), 'text of numbers')

    call okay(nf90mpi_inquire_attribute(ncid, vars(2), 'blank', xtype, length, attnum), &
      'inquire_attribute')
    call same(xtype == nf90_char .and. length == 1 .and. &
      attnum == merge(7, 6, at_hand%format == 5), 'inquire_attribute')
    call expect(nf90_enotatt, nf90mpi_inquire_attribute(ncid, vars(1), 'blank'), 'none')
    call okay(nf90mpi_inq_attname(ncid, vars(2), 3, text), 'inq_attname')
    call same(text == 'whole', 'inq_attname')
    call okay(nf90mpi_copy_att(ncid, vars(2), 'whole', ncid, nf90_global), 'copy_att')
    call okay(nf90mpi_get_att(ncid, nf90_global, 'whole', list), 'copy_att')
    call number(123456, list(1), 'copy_att')
    call okay(nf90mpi_rename_att(ncid, vars(2), 'whole', 'part'), 'rename_att')
    call expect(nf90_enotatt, nf90mpi_get_att(ncid, vars(2), 'whole', list), 'rename_att')
    call okay(nf90mpi_del_att(ncid, vars(2), 'part'), 'del_att')
    call expect(nf90_enotatt, nf90mpi_get_att(ncid, vars(2), 'part', list), 'del_att')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  ! Fill values are converted to the variable's type and back.
  subroutine fill_values() bind(C)
    integer :: ncid, t, x, vars(3), mode, whole, text_var
    integer(kind=int1) :: byte
    integer(kind=int2) :: line(7), short
    double precision :: double
    character(len=2) :: text
    call create_some(ncid, t, x, vars)
    call okay(nf90mpi_def_var(ncid, 'text', nf90_char, x, text_var), 'def_var')
    call okay(nf90mpix_def_var_quantize(ncid, vars(3), nf90_quantize_granularbr, 4), 'quantize')
    call okay(nf90mpix_inq_var_quantize(ncid, vars(3), mode, whole), 'inq_var_quantize')
    call same(mode == nf90_quantize_granularbr .and. whole == 4, 'quantize')
    call okay(nf90mpix_inq_var_quantize(ncid, vars(1), digits=whole), 'inq_var_quantize')
    call number(nf90_noquantize, whole, 'digits of none')
    call expect(nf90_einval, nf90mpix_def_var_quantize(ncid, vars(2), 1, 3), 'of a short')
    call okay(nf90mpi_set_fill(ncid, nf90_fill, mode), 'set_fill')
    call number(nf90_nofill, mode, 'the mode before')
    call okay(nf90mpi_inq_var_fill(ncid, vars(2), mode, whole), 'inq_var_fill')
    call same(mode == 0 .and. whole == nf90_fill_short, 'the default')
    call okay(nf90mpi_def_var_fill(ncid, vars(2), 0, -5), 'def_var_fill, of another type')
    call okay(nf90mpi_inq_var_fill(ncid, vars(2), mode, short), 'inq_var_fill')
    call number(-5, int(short), 'its own')
    call okay(nf90mpi_inq_var_fill(ncid, vars(2), mode, double), 'inq_var_fill')
    call same(abs(double + 5) < 1e-9, 'its own, as real8')
    call expect(nf90_erange, nf90mpi_def_var_fill(ncid, vars(2), 0, 100000), 'too large')
    call okay(nf90mpi_def_var_fill(ncid, vars(3), 0, 1e30), 'def_var_fill')
    call expect(nf90_erange, nf90mpi_inq_var_fill(ncid, vars(3), mode, byte), 'too large')
    call okay(nf90mpi_def_var_fill(ncid, text_var, 0, '*'), 'def_var_fill')
    call okay(nf90mpi_inq_var_fill(ncid, text_var, mode, text), 'inq_var_fill')
    call same(text == '*', 'text')
    call expect(nf90_echar, nf90mpi_inq_var_fill(ncid, text_var, mode, double), 'text')
    call okay(nf90mpi_def_var_fill(ncid, vars(1), 1, 0d0), 'def_var_fill, none')
    call okay(nf90mpi_inq_var_fill(ncid, vars(1), mode, double), 'inq_var_fill')
    call number(1, mode, 'none')
    call expect(nf90_enotatt, nf90mpi_inquire_attribute(ncid, vars(1), '_FillValue'), 'none')
    call okay(nf90mpi_def_var_fill(ncid, vars(2), 0, -5_int2), 'def_var_fill')
    call okay(nf90mpi_enddef(ncid), 'enddef')
    call okay(nf90mpi_get_var_all(ncid, vars(2), line), 'what nobody wrote')
    call same(all(line == -5), 'what nobody wrote')
    call okay(nf90mpi_fill_var_rec(ncid, vars(3), 1_offset), 'fill_var_rec')
    call okay(nf90mpi_get_var_all(ncid, vars(3), double, (/ 7_offset, 1_offset /)), 'get')
    call same(abs(double / 1d30 - 1) < 1e-6, 'fill_var_rec')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

  subroutine files() bind(C)
    integer :: ncid, t, x, vars(3), n, ids(4), none(0), old, info, ierr
    logical :: through
    integer(kind=offset) :: sizes(7), before
    character(len=300) :: path
    call okay(nf90mpi_inq_malloc_size(before), 'inq_malloc_size')
    call create_some(ncid, t, x, vars)
    call okay(nf90mpi_inq_path(ncid, n, path), 'inq_path')
    call same(path(:n) == file_path('d.nc') .and. path(n + 1:) == '', 'inq_path')
    call okay(nf90mpi_inq_files_opened(n, ids), 'inq_files_opened')
    call same(n == 1 .and. ids(1) == ncid, 'inq_files_opened')
    call expect(nf90_einval, nf90mpi_inq_files_opened(n, none), 'a short list')
    call okay(nf90mpi_enddef(ncid, v_align=1024_offset, h_minfree=100_offset), 'enddef')
    call okay(nf90mpi_inq_header_size(ncid, sizes(1)), 'inq_header_size')
    call okay(nf90mpi_inq_header_extent(ncid, sizes(2)), 'inq_header_extent')
    call okay(nf90mpi_inq_varoffset(ncid, vars(1), sizes(3)), 'inq_varoffset')
    call same(sizes(2) == 1024 .and. sizes(3) == 1024 .and. sizes(1) < 924, 'enddef: layout')
    call okay(nf90mpi_inq_recsize(ncid, sizes(4)), 'inq_recsize')
    call same(sizes(4) == 28, 'inq_recsize')
    call okay(nf90mpi_put_var_all(ncid, vars(3), (/ 1., 2., 3., 4., 5., 6., 7. /), &
      (/ 1_offset, 3_offset /)), 'put')
    call okay(nf90mpi_inq_put_size(ncid, sizes(5)), 'inq_put_size')
    call okay(nf90mpi_inq_get_size(ncid, sizes(6)), 'inq_get_size')
    call same(sizes(5) >= 28 .and. sizes(6) >= 0, 'sizes')
    call okay(nf90mpi_flush(ncid), 'flush')
    through = .false.
    call okay(nf90mpix_flush_start(ncid), 'flush_start')
    call okay(nf90mpix_flush_test(ncid, through), 'flush_test')
    call same(through, 'nothing is to be flushed')
    call okay(nf90mpix_wait_closed('none.nc '), 'wait_closed')
    call okay(nf90mpix_wait_closed(), 'wait_closed of all')
    call okay(nf90mpix_prefetch(ncid, NF90_GLOBAL), 'prefetch')
    call okay(nf90mpix_prefetch_all(ncid, 1), 'prefetch_all')
    call okay(nf90mpix_prefetch_wait(ncid), 'prefetch_wait')
    call okay(nf90mpi_sync(ncid), 'sync')
    call okay(nf90mpi_sync_numrecs(ncid), 'sync_numrecs')
    call okay(nf90mpi_inq_striping(ncid, n, old), 'inq_striping')
    call okay(nf90mpi_inq_file_info(ncid, info), 'inq_file_info')
    call MPI_Info_get_nkeys(info, n, ierr)
    call same(n > 0, 'inq_file_info')
    call MPI_Info_free(info, ierr)
    call okay(nf90mpi_get_file_info(ncid, info), 'get_file_info')
    call MPI_Info_get_nkeys(info, n, ierr)
    call same(n > 0, 'get_file_info')
    call MPI_Info_free(info, ierr)
    call okay(nf90mpi_close(ncid), 'close')

    call okay(nf90mpi_open(MPI_COMM_WORLD, file_path('d.nc'), nf90_write, MPI_INFO_NULL, &
      ncid), 'open')
    call okay(nf90mpi_inquire_dimension(ncid, t, len=sizes(7)), 'inquire_dimension')
    call same(sizes(7) == 3, 'records')
    call okay(nf90mpi_redef(ncid), 'redef')
    call okay(nf90mpi_put_att(ncid, nf90_global, 'more', 1), 'put_att')
    call okay(nf90mpi_abort(ncid), 'abort')
    call okay(nf90mpi_open(MPI_COMM_WORLD, file_path('d.nc'), nf90_nowrite, MPI_INFO_NULL, &
      ncid), 'open')
    call okay(nf90mpi_inquire(ncid, nAttributes=n), 'inquire')
    call number(1, n, 'abort')
    call okay(nf90mpi_close(ncid), 'close')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (at_hand%rank == 0) &
      call okay(nf90mpi_delete(file_path('d.nc'), MPI_INFO_NULL), 'delete')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call expect(nf90_enoent, nf90mpi_open(MPI_COMM_WORLD, file_path('d.nc'), nf90_nowrite, &
      MPI_INFO_NULL, ncid), 'open what was deleted')

    call okay(nf90mpi_set_default_format(nf90_format_cdf5, old), 'set_default_format')
    call okay(nf90mpi_inq_default_format(n), 'inq_default_format')
    call same(n == nf90_format_cdf5 .and. old == nf90_format_classic, 'default format')
    call okay(nf90mpi_set_default_format(old, n), 'set_default_format')
    call okay(nf90mpi_inq_malloc_size(sizes(1)), 'inq_malloc_size')
    call okay(nf90mpi_inq_malloc_max_size(sizes(2)), 'inq_malloc_max_size')
    call same(sizes(1) == before .and. sizes(2) > before, 'memory')
    call expect(nf90_enotenabled, nf90mpi_inq_malloc_list(), 'inq_malloc_list')
    call same(nf90mpi_inq_libvers() /= '', 'inq_libvers')
  end subroutine

  subroutine requests() bind(C)
    integer :: ncid, t, x, vars(3), req(3), st(3), n, line(7)
    integer(kind=offset) :: usage
    call create_some(ncid, t, x, vars)
    call okay(nf90mpi_enddef(ncid), 'enddef')
    line = (/ 1, 2, 3, 4, 5, 6, 7 /)
    call okay(nf90mpi_buffer_attach(ncid, 100_offset), 'buffer_attach')
    call okay(nf90mpi_inq_buffer_size(ncid, usage), 'inq_buffer_size')
    call same(usage == 100, 'inq_buffer_size')
    call okay(nf90mpi_bput_var(ncid, vars(2), line, req(1)), 'bput')
    call okay(nf90mpi_inq_buffer_usage(ncid, usage), 'inq_buffer_usage')
    call same(usage > 0 .and. usage <= 28, 'inq_buffer_usage')
    call okay(nf90mpi_iput_var(ncid, vars(1), 5, req(2)), 'iput')
    call okay(nf90mpi_iput_var(ncid, vars(1), 6, req(3)), 'iput')
    call okay(nf90mpi_inq_nreqs(ncid, n), 'inq_nreqs')
    call number(3, n, 'inq_nreqs')
    call okay(nf90mpi_cancel(ncid, 1, req(3:3), st(3:3)), 'cancel')
    call same(req(3) == nf90_req_null .and. st(3) == nf90_noerr, 'cancel')
    call okay(nf90mpi_cancel(ncid, 1, req(2:2), st(2:2)), 'cancel')
    line = 0
    call okay(nf90mpi_begin_indep_data(ncid), 'begin_indep_data')
    call okay(nf90mpi_wait(ncid, 1, req(:1), st(:1)), 'wait')
    call okay(st(1), 'wait')
    call okay(nf90mpi_end_indep_data(ncid), 'end_indep_data')
    call okay(nf90mpi_buffer_detach(ncid), 'buffer_detach')
    call okay(nf90mpi_get_var_all(ncid, vars(2), line), 'get')
    call same(all(line == (/ 1, 2, 3, 4, 5, 6, 7 /)), 'values')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine

end module
