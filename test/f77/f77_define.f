! Tests all functions except those that access data. Calls each function and checks its result or
! effect.
      program define
      implicit none
      include 'mpif.h'
      call check_start(7, '1 2 4')
      call dimensions
      call check_done('dimensions, variables and their order')
      call attributes
      call check_done('attributes of all types, by name and number')
      call text_of_the_library
      call check_done('texts and names of errors')
      call messages
      call check_done('messages are those of Fortran 77')
      call files
      call check_done('files: hints, sizes, modes, paths')
      call fill
      call check_done('fill values and fill modes')
      call requests_and_views
      call check_done('requests, buffers and file types')
      call check_finish()
      end

      subroutine new_file(name, cmode, path, nc)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*(*) name, path
      integer cmode, nc
      call check_path(name, path)
      call check_equal(nf_noerr, nfmpi_create(MPI_COMM_WORLD, path,
     &    cmode, MPI_INFO_NULL, nc), 'create')
      end

      subroutine dimensions
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*300 path
      character*12 name
      character*3 short
      integer nc, e, x, y, t, a, b, s, nd, nv, na, u, i
      integer dims(3), got(20), many(20)
      integer(kind=MPI_OFFSET_KIND) len
      call new_file('define.nc', NF_CLOBBER, path, nc)
      e = nfmpi_inq_unlimdim(nc, u)
      call check_equal(-1, u, 'no record dimension yet')
      len = 4
      e = nfmpi_def_dim(nc, 'x  ', len, x)
      call check_equal(1, x, 'ids count from 1')
      len = 7
      e = nfmpi_def_dim(nc, 'y', len, y)
      e = nfmpi_def_dim(nc, 'time', nfmpi_unlimited, t)
      call check_equal(3, t, 'third dimension')
      dims(1) = x
      dims(2) = y
      dims(3) = t
      e = nfmpi_def_var(nc, 'a', NF_REAL, 3, dims, a)
      call check_equal(1, a, 'first variable')
      e = nfmpi_def_var(nc, 'beta', NF_INT, 1, dims(2), b)
      e = nfmpi_def_var(nc, 'scalar', NF_BYTE, 0, dims, s)
      call check_equal(3, s, 'third variable')
      len = 1
      e = nfmpi_def_dim(nc, 'one', len, i)
      do i = 1, 20
          many(i) = 4 - 3 * mod(i, 2)
      enddo
      e = nfmpi_def_var(nc, 'many', NF_BYTE, 20, many, i)
      call check_equal(4, i, 'variable of many dimensions')
      call check_equal(NF_EBADDIM, nfmpi_def_var(nc, 'bad', NF_BYTE, 1,
     &    0, i), 'no dimension has the id 0')

      e = nfmpi_inq(nc, nd, nv, na, u)
      call check_equal(4, nd, 'inq: dimensions')
      call check_equal(4, nv, 'inq: variables')
      call check_equal(0, na, 'inq: attributes')
      call check_equal(t, u, 'inq: record dimension')
      e = nfmpi_inq_ndims(nc, nd)
      call check_equal(4, nd, 'inq_ndims')
      e = nfmpi_inq_nvars(nc, nv)
      call check_equal(4, nv, 'inq_nvars')
      e = nfmpi_inq_natts(nc, na)
      call check_equal(0, na, 'inq_natts')
      e = nfmpi_inq_unlimdim(nc, u)
      call check_equal(t, u, 'inq_unlimdim')
      e = nfmpi_inq_num_rec_vars(nc, nv)
      call check_equal(1, nv, 'inq_num_rec_vars')
      e = nfmpi_inq_num_fix_vars(nc, nv)
      call check_equal(3, nv, 'inq_num_fix_vars')

      name = '************'
      e = nfmpi_inq_dim(nc, y, name, len)
      call check_that(name .eq. 'y' .and. len .eq. 7, 'inq_dim')
      e = nfmpi_inq_dimname(nc, t, short)
      call check_that(short .eq. 'tim', 'a name that does not fit')
      e = nfmpi_inq_dimlen(nc, x, len)
      call check_that(len .eq. 4, 'inq_dimlen')
      e = nfmpi_inq_dimid(nc, 'y    ', i)
      call check_equal(y, i, 'inq_dimid')
      call check_equal(NF_EBADDIM, nfmpi_inq_dimid(nc, 'q', i),
     &    'inq_dimid of none')
      call check_equal(NF_EBADDIM, nfmpi_inq_dimlen(nc, 0, len),
     &    'inq_dimlen of none')

      name = '************'
      e = nfmpi_inq_var(nc, a, name, i, nd, got, na)
      call check_that(name .eq. 'a', 'inq_var: name')
      call check_equal(NF_REAL, i, 'inq_var: type')
      call check_equal(3, nd, 'inq_var: dimensions')
      call check_that(got(1) .eq. x .and. got(2) .eq. y .and.
     &    got(3) .eq. t, 'inq_var: order')
      call check_equal(0, na, 'inq_var: attributes')
      e = nfmpi_inq_vardimid(nc, 4, got)
      do i = 1, 20
          call check_equal(many(i), got(i), 'inq_vardimid')
      enddo
      e = nfmpi_inq_varid(nc, 'beta', i)
      call check_equal(b, i, 'inq_varid')
      e = nfmpi_inq_varname(nc, b, name)
      call check_that(name .eq. 'beta', 'inq_varname')
      e = nfmpi_inq_vartype(nc, b, i)
      call check_equal(NF_INT, i, 'inq_vartype')
      e = nfmpi_inq_varndims(nc, s, nd)
      call check_equal(0, nd, 'inq_varndims')
      e = nfmpi_inq_varnatts(nc, s, na)
      call check_equal(0, na, 'inq_varnatts')
      e = nfmpi_rename_dim(nc, y, 'latitude ')
      e = nfmpi_rename_var(nc, b, 'lat')
      e = nfmpi_inq_dimname(nc, y, name)
      call check_that(name .eq. 'latitude', 'rename_dim')
      e = nfmpi_inq_varname(nc, b, name)
      call check_that(name .eq. 'lat', 'rename_var')
      call check_equal(NF_EGLOBAL, nfmpi_rename_var(nc, NF_GLOBAL, 'g'),
     &    'rename_var of the dataset')
      call check_equal(NF_ENOTVAR, nfmpi_rename_var(nc, 99, 'g'),
     &    'rename_var of none')
      call check_equal(0, nfmpi_close(nc), 'close')
      end

      subroutine attributes
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*300 path, long
      character*10 text
      integer nc, e, v, i, n, x
      integer*1 b(2)
      integer*2 s(2)
      integer*4 k(2)
      integer*8 l(2)
      real r(2)
      doubleprecision d(2)
      integer(kind=MPI_OFFSET_KIND) len
      call new_file('atts.nc', NF_64BIT_DATA, path, nc)
      e = nfmpi_def_var(nc, 'v', NF_INT, 0, i, v)
      len = 5
      e = nfmpi_put_att_text(nc, NF_GLOBAL, 'title ', len, 'hello you')
      text = '**********'
      e = nfmpi_get_att_text(nc, NF_GLOBAL, 'title', text)
      call check_that(text .eq. 'hello*****', 'text')
      len = 2
      b(1) = -1
      b(2) = 17
      e = nfmpi_put_att_int1(nc, v, 'b', NF_BYTE, len, b)
      s(1) = -300
      s(2) = 12
      e = nfmpi_put_att_int2(nc, v, 's', NF_SHORT, len, s)
      k(1) = 70000
      k(2) = -2
      e = nfmpi_put_att_int(nc, v, 'k', NF_INT, len, k)
      l(1) = 5000000000_8
      l(2) = -7
      e = nfmpi_put_att_int8(nc, v, 'l', NF_INT64, len, l)
      r(1) = 0.5
      r(2) = 1.25
      e = nfmpi_put_att_real(nc, v, 'r', NF_FLOAT, len, r)
      d(1) = 0.1d0
      d(2) = 2.0d0
      e = nfmpi_put_att_double(nc, v, 'd', NF_DOUBLE, len, d)
      e = nfmpi_put_att(nc, v, 'k2', NF_INT, len, k)
      call check_equal(0, e, 'put_att')
      b = 0
      s = 0
      k = 0
      l = 0
      r = 0
      d = 0
      e = nfmpi_get_att_int1(nc, v, 'b', b)
      call check_that(b(1) .eq. -1 .and. b(2) .eq. 17, 'int1')
      e = nfmpi_get_att_int2(nc, v, 's', s)
      call check_that(s(1) .eq. -300 .and. s(2) .eq. 12, 'int2')
      e = nfmpi_get_att_int(nc, v, 'k', k)
      call check_that(k(1) .eq. 70000 .and. k(2) .eq. -2, 'int')
      e = nfmpi_get_att_int8(nc, v, 'l', l)
      call check_that(l(1) .eq. 5000000000_8 .and. l(2) .eq. -7, 'int8')
      e = nfmpi_get_att_real(nc, v, 'r', r)
      call check_that(r(1) .eq. 0.5 .and. r(2) .eq. 1.25, 'real')
      e = nfmpi_get_att_double(nc, v, 'd', d)
      call check_that(d(1) .eq. 0.1d0 .and. d(2) .eq. 2, 'double')
      k = 0
      e = nfmpi_get_att(nc, v, 'k2', k)
      call check_that(k(1) .eq. 70000 .and. k(2) .eq. -2, 'get_att')

      e = nfmpi_inq_varnatts(nc, v, n)
      call check_equal(7, n, 'number of attributes')
      e = nfmpi_inq_att(nc, v, 'd', x, len)
      call check_that(x .eq. NF_DOUBLE .and. len .eq. 2, 'inq_att')
      e = nfmpi_inq_atttype(nc, NF_GLOBAL, 'title', x)
      call check_equal(NF_CHAR, x, 'inq_atttype')
      e = nfmpi_inq_attlen(nc, NF_GLOBAL, 'title', len)
      call check_that(len .eq. 5, 'inq_attlen')
      e = nfmpi_inq_attid(nc, v, 's', n)
      call check_equal(2, n, 'inq_attid')
      e = nfmpi_inq_attname(nc, v, 4, text)
      call check_that(text .eq. 'l', 'inq_attname')
      e = nfmpi_rename_att(nc, v, 's', 'short  ')
      e = nfmpi_inq_attname(nc, v, 2, text)
      call check_that(text .eq. 'short', 'rename_att')
      e = nfmpi_copy_att(nc, v, 'd', nc, NF_GLOBAL)
      d = 0
      e = nfmpi_get_att_double(nc, NF_GLOBAL, 'd', d)
      call check_that(d(1) .eq. 0.1d0, 'copy_att')
      e = nfmpi_del_att(nc, v, 'short')
      call check_equal(NF_ENOTATT, nfmpi_inq_attid(nc, v, 'short', n),
     &    'del_att')
      long = repeat('n', 256)
      call check_equal(0, nfmpi_rename_att(nc, v, 'd', long),
     &    'the longest name')
      long = repeat('n', 257)
      call check_equal(NF_EMAXNAME, nfmpi_rename_att(nc, v, 'k', long),
     &    'a name that is too long')
      call check_equal(NF_EBADNAME, nfmpi_rename_att(nc, v, 'k', '  '),
     &    'a name of blanks')
      call check_equal(0, nfmpi_close(nc), 'close')
      end

      subroutine text_of_the_library
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*80 text, other
      text = nfmpi_inq_libvers()
      call check_that(index(text, '1.15.0') .gt. 0, 'inq_libvers')
      text = nfmpi_strerrno(NF_EBADID)
      call check_that(text .eq. 'NF_EBADID', 'strerrno')
      text = nfmpi_strerrno(NF_NOERR)
      call check_that(text .eq. 'NF_NOERR', 'strerrno of none')
      call nfmpi_xinq_libvers(other)
      text = nfmpi_inq_libvers()
      call check_that(other .eq. text, 'xinq_libvers')
      call nfmpi_xstrerrno(NF_EBADID, other)
      call check_that(other .eq. 'NC_EBADID', 'xstrerrno')
      call nfmpi_xstrerror(NF_NOERR, other)
      call check_that(other .eq. 'No error', 'xstrerror')
      text = nfmpi_strerror(NF_NOERR)
      call check_that(text .eq. 'No error', 'strerror')
      call check_that(nfmpi_issyserr(2), 'issyserr')
      call check_that(.not. nfmpi_issyserr(NF_EBADDIM), 'ours')
      call check_that(.not. nfmpi_issyserr(NF_NOERR), 'issyserr: none')
      end

! Compares the messages of failed calls.
      subroutine messages
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      include 'pnetcdf_ext.inc'
      character*300 path, text
      integer nc, e, x, t, dims(2), v
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      real values(40)
      data start /20, 1/, count /19, 1/, values /40*0/
      call new_file('m.nc', NF_CLOBBER, path, nc)
      e = nfmpi_def_dim(nc, 'lat', count(1) + 17, x)
      e = nfmpi_def_dim(nc, 'time', nfmpi_unlimited, t)
      dims(1) = x
      dims(2) = t
      e = nfmpi_def_var(nc, 'sst', NF_REAL, 2, dims, v)
      e = nfmpi_enddef(nc)
      e = nfmpi_put_vara_real_all(nc, v, start, count, values)
      call reports(NF_EEDGE, e, "variable 'sst', dimension 'lat': "//
     &    'start 20, count 19, length 36: Start plus count exceeds '//
     &    'the dimension; reduce count')
      start(1) = 0
      e = nfmpi_put_vara_real_all(nc, v, start, count, values)
      call reports(NF_EINVALCOORDS, e, "variable 'sst', dimension "//
     &    "'lat': start 0, length 36: Start index out of range; it "//
     &    'must be inside the dimension')
      e = nfmpi_put_vara_text_all(nc, v, start, count, 'a')
      call reports(NF_ECHAR, e, "variable 'sst' has type NF_FLOAT, "//
     &    'but the values are text: No conversion between text and '//
     &    'numbers; pass text for NF_CHAR, and numbers for all other '//
     &    'types')
      e = nfmpi_fill_var_rec(nc, 7, start)
      call reports(NF_ENOTVAR, e, 'variable id 7: Variable not '//
     &    'found; check its id or name')
      e = nfmpi_begin_indep_data(nc)
      e = nfmpi_put_vara_real_all(nc, v, start, count, values)
      call check_that(nfmpi_strerror(e) .eq. 'm.nc: Not allowed in '//
     &    'independent data mode; call nfmpi_end_indep_data first',
     &    'a short path: '//nfmpi_strerror(e))
      call check_equal(NF_ESTS, nfmpix_strerror(e, text(:20)),
     &    'too few characters')
      call check_that(text(:20) .eq. 'm.nc: Not allowed in', text(:20))
      call check_equal(0, nfmpi_close(nc), 'close')
      end

! Checks an error code and its message, of 300 and of 80 characters.
      subroutine reports(code, e, expected)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      include 'pnetcdf_ext.inc'
      integer code, e
      character*(*) expected
      character*300 text
      character*80 short
      call check_equal(code, e, expected)
      call check_equal(0, nfmpix_strerror(e, text), 'strerror')
      call check_that(text .eq. expected, text)
      short = expected
      call check_that(nfmpi_strerror(e) .eq. short, short)
      end

      subroutine files
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nfmpi_inq_version
      external nfmpi_inq_version
      include 'pnetcdf_ext.inc'
      character*300 path, got, other
      integer nc, e, n, ids(10), info, v, fmt, old, rank, d
      integer*2 half(3)
      integer(kind=MPI_OFFSET_KIND) size, extent, zero, four, rec
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call new_file('files.nc', NF_64BIT_OFFSET, path, nc)
      e = nfmpi_inq_files_opened(n, ids)
      call check_that(n .eq. 1 .and. ids(1) .eq. nc, 'inq_files_opened')
      e = nfmpi_inq_path(nc, n, got)
      call check_that(got .eq. path, 'inq_path')
      call check_equal(len_trim(path), n, 'inq_path: length')
      e = nfmpi_inq_format(nc, n)
      call check_equal(NF_FORMAT_CDF2, n, 'inq_format')
      e = nfmpi_inq_version(nc, n)
      call check_equal(NF_64BIT_OFFSET, n, 'inq_version')
      four = 3
      e = nfmpi_def_dim(nc, 'x', four, d)
      e = nfmpi_def_dim(nc, 't', nfmpi_unlimited, ids(2))
      ids(1) = d
      e = nfmpi_def_var(nc, 'v', NF_SHORT, 2, ids, v)
      zero = 0
      four = 4
      size = 512
      e = nfmpi__enddef(nc, size, four, zero, size)
      call check_equal(0, e, '_enddef')
      e = nfmpi_inq_header_size(nc, size)
      e = nfmpi_inq_header_extent(nc, extent)
      call check_that(size .gt. 60 .and. extent .ge. size + 512,
     &    'inq_header_extent')
      e = nfmpi_inq_varoffset(nc, v, rec)
      call check_that(rec .eq. extent, 'inq_varoffset')
      e = nfmpi_inq_recsize(nc, rec)
      call check_that(rec .eq. 6, 'inq_recsize')
      e = nfmpi_inq_put_size(nc, size)
      call check_that(e .eq. 0 .and. (size .gt. 0 .or. rank .gt. 0),
     &    'inq_put_size')
      call check_equal(0, nfmpi_inq_get_size(nc, size), 'inq_get_size')
      e = nfmpi_inq_striping(nc, ids(1), ids(2))
      call check_equal(0, e, 'inq_striping')
      call check_equal(0, nfmpi_inq_file_info(nc, info), 'file_info')
      call MPI_Info_get_nkeys(info, n, e)
      call check_that(n .gt. 0, 'inq_file_info')
      call MPI_Info_free(info, e)
      call check_equal(0, nfmpi_get_file_info(nc, info), 'get_info')
      call MPI_Info_free(info, e)
      call check_equal(0, nfmpi_begin_indep_data(nc), 'begin_indep')
      call check_equal(0, nfmpi_end_indep_data(nc), 'end_indep')
      half = 7
      ids(1) = 1
      call one_record(nc, v, half)
      call check_equal(0, nfmpi_sync(nc), 'sync')
      call check_equal(0, nfmpi_sync_numrecs(nc), 'sync_numrecs')
      call check_equal(0, nfmpi_flush(nc), 'flush')
      n = 5
      call check_equal(0, nfmpix_flush_start(nc), 'flush_start')
      call check_equal(0, nfmpix_flush_test(nc, n), 'flush_test')
      call check_equal(1, n, 'nothing is to be flushed')
      call check_equal(0, nfmpix_wait_closed('none.nc '), 'wait_closed')
      call check_equal(0, nfmpix_prefetch(nc, 0, 0, 0), 'prefetch')
      call check_equal(0, nfmpix_prefetch_all(nc, 0, 0, 0), 'all')
      call check_equal(0, nfmpix_prefetch_wait(nc), 'prefetch_wait')
      e = nfmpi_inq_dimlen(nc, 2, size)
      call check_that(size .eq. 1, 'a record')
      call check_equal(0, nfmpi_redef(nc), 'redef')
      call check_equal(NF_EINDEFINE, nfmpi_begin_indep_data(nc),
     &    'begin_indep in define mode')
      call check_equal(0, nfmpi_enddef(nc), 'enddef')
      call check_equal(0, nfmpi_close(nc), 'close')
      call check_equal(NF_EBADID, nfmpi_close(nc), 'close again')

      e = nfmpi_inq_file_format(path, fmt)
      call check_equal(NF_FORMAT_CDF2, fmt, 'inq_file_format')
      call check_equal(NF_EEXIST, nfmpi_create(MPI_COMM_WORLD, path,
     &    NF_NOCLOBBER, MPI_INFO_NULL, nc), 'noclobber')
      call check_equal(0, nfmpi_open(MPI_COMM_WORLD, path, NF_WRITE,
     &    MPI_INFO_NULL, nc), 'open')
      half = 0
      call the_record(nc, v, half)
      call check_that(half(1) .eq. 7 .and. half(3) .eq. 7, 'read again')
      call check_equal(0, nfmpi_close(nc), 'close')

      e = nfmpi_inq_default_format(fmt)
      call check_equal(NF_FORMAT_CLASSIC, fmt, 'inq_default_format')
      e = nfmpi_set_default_format(NF_FORMAT_CDF5, old)
      call check_equal(NF_FORMAT_CLASSIC, old, 'set_default_format')
      call new_file('aborted.nc', NF_CLOBBER, other, nc)
      e = nfmpi_inq_format(nc, fmt)
      call check_equal(NF_FORMAT_CDF5, fmt, 'the default is used')
      e = nfmpi_set_default_format(NF_FORMAT_CLASSIC, old)
      call check_equal(0, nfmpi_abort(nc), 'abort')
      call MPI_Barrier(MPI_COMM_WORLD, e)
      call check_equal(NF_ENOENT, nfmpi_open(MPI_COMM_WORLD, other,
     &    NF_NOWRITE, MPI_INFO_NULL, nc), 'abort removes the file')
      call MPI_Barrier(MPI_COMM_WORLD, e)
      if (rank .eq. 0) then
          e = nfmpi_delete(path, MPI_INFO_NULL)
          call check_equal(0, e, 'delete')
      endif
      call MPI_Barrier(MPI_COMM_WORLD, e)
      call check_equal(NF_ENOENT, nfmpi_open(MPI_COMM_WORLD, path,
     &    NF_NOWRITE, MPI_INFO_NULL, nc), 'a file deleted')

      e = nfmpi_inq_malloc_size(size)
      if (e .ne. NF_ENOTENABLED) then
          call check_that(size .eq. 0, 'inq_malloc_size')
          e = nfmpi_inq_malloc_max_size(size)
          call check_that(size .gt. 0, 'inq_malloc_max_size')
          e = nfmpi_inq_malloc_list()
          call check_that(e .eq. 0 .or. e .eq. NF_ENOTENABLED, 'list')
      endif
      end

      subroutine one_record(nc, v, half)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, v
      integer*2 half(3)
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      start = 1
      count(1) = 3
      count(2) = 1
      call check_equal(0, nfmpi_put_vara_int2_all(nc, v, start, count,
     &    half), 'put')
      return
      entry the_record(nc, v, half)
      start = 1
      count(1) = 3
      count(2) = 1
      call check_equal(0, nfmpi_get_vara_int2_all(nc, v, start, count,
     &    half), 'get')
      end

      subroutine fill
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      include 'pnetcdf_ext.inc'
      character*300 path
      integer nc, e, v, w, q, d(2), old, no, rank
      integer value, seen(4)
      integer(kind=MPI_OFFSET_KIND) len, one, start(2), count(2)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call new_file('fill.nc', NF_CLOBBER, path, nc)
      e = nfmpi_set_fill(nc, NF_FILL, old)
      call check_equal(NF_NOFILL, old, 'set_fill')
      len = 4
      e = nfmpi_def_dim(nc, 'x', len, d(1))
      e = nfmpi_def_dim(nc, 't', nfmpi_unlimited, d(2))
      e = nfmpi_def_var(nc, 'v', NF_INT, 1, d, v)
      e = nfmpi_def_var(nc, 'w', NF_INT, 2, d, w)
      e = nfmpi_def_var(nc, 'q', NF_REAL, 1, d, q)
      e = nfmpix_def_var_quantize(nc, q, NF_QUANTIZE_BITROUND, 9)
      call check_equal(0, e, 'def_var_quantize')
      e = nfmpix_inq_var_quantize(nc, q, no, old)
      call check_that(e .eq. 0 .and. no .eq. 3 .and. old .eq. 9,
     &    'inq_var_quantize')
      value = 42
      e = nfmpi_def_var_fill(nc, w, 0, value)
      call check_equal(0, e, 'def_var_fill')
      e = nfmpi_inq_var_fill(nc, w, no, old)
      call check_that(no .eq. 0 .and. old .eq. 42, 'inq_var_fill')
      e = nfmpi_inq_var_fill(nc, v, no, old)
      call check_that(no .eq. 0 .and. old .eq. NF_FILL_INT,
     &    'inq_var_fill: default')
      e = nfmpi_enddef(nc)
      e = nfmpi_get_var_int_all(nc, v, seen)
      call check_that(all(seen .eq. NF_FILL_INT), 'filled at enddef')
      one = 1
      call check_equal(0, nfmpi_fill_var_rec(nc, w, one), 'fill_rec')
      start = 1
      count(1) = 4
      count(2) = 1
      seen = 0
      e = nfmpi_get_vara_int_all(nc, w, start, count, seen)
      call check_that(e .eq. 0 .and. all(seen .eq. 42), 'filled record')
      call check_equal(0, nfmpi_close(nc), 'close')
      end

      subroutine requests_and_views
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*300 path
      integer nc, e, v, d, n, reqs(3), stats(3), rank, nprocs, i
      integer value(3), view
      integer(kind=MPI_OFFSET_KIND) len, start(1), size
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, e)
      call new_file('requests.nc', NF_CLOBBER, path, nc)
      len = 3 * nprocs
      e = nfmpi_def_dim(nc, 'x', len, d)
      e = nfmpi_def_var(nc, 'v', NF_INT, 1, d, v)
      e = nfmpi_enddef(nc)
      size = 400
      call check_equal(0, nfmpi_buffer_attach(nc, size), 'attach')
      call check_equal(NF_EPREVATTACHBUF, nfmpi_buffer_attach(nc, size),
     &    'attach again')
      e = nfmpi_inq_buffer_size(nc, size)
      call check_that(size .eq. 400, 'inq_buffer_size')
      do i = 1, 3
          start(1) = 3 * rank + i
          e = nfmpi_bput_var1_int(nc, v, start, 10 * rank + i, reqs(i))
      enddo
      e = nfmpi_inq_buffer_usage(nc, size)
      call check_that(size .eq. 12, 'inq_buffer_usage')
      e = nfmpi_inq_nreqs(nc, n)
      call check_equal(3, n, 'inq_nreqs')
      call check_equal(0, nfmpi_cancel(nc, 1, reqs, stats), 'cancel')
      call check_equal(NF_REQ_NULL, reqs(1), 'cancelled id')
      start(1) = 3 * rank + 1
      e = nfmpi_bput_var1_int(nc, v, start, 10 * rank + 1, reqs(1))
      e = nfmpi_wait_all(nc, NF_REQ_ALL, reqs, stats)
      call check_equal(0, e, 'wait_all for all')
      call check_equal(0, nfmpi_buffer_detach(nc), 'detach')
      call check_equal(NF_ENULLABUF, nfmpi_buffer_detach(nc),
     &    'detach again')

      call MPI_Type_create_hindexed(1, 3, int(12 * rank,
     &    MPI_ADDRESS_KIND), MPI_INTEGER, view, e)
      call MPI_Type_commit(view, e)
      size = 3
      value = 0
      e = nfmpi_get_vard_all(nc, v, view, value, size, MPI_INTEGER)
      call check_equal(0, e, 'get_vard_all')
      do i = 1, 3
          call check_equal(10 * rank + i, value(i), 'get_vard_all')
          value(i) = 100 * rank + i
      enddo
      e = nfmpi_put_vard_all(nc, v, view, value, size, MPI_INTEGER)
      call check_equal(0, e, 'put_vard_all')
      call check_equal(0, nfmpi_begin_indep_data(nc), 'begin_indep')
      value = 0
      e = nfmpi_get_vard(nc, v, view, value, size, MPI_INTEGER)
      call check_equal(0, e, 'get_vard')
      do i = 1, 3
          call check_equal(100 * rank + i, value(i), 'get_vard')
          value(i) = -i
      enddo
      e = nfmpi_put_vard(nc, v, view, value, size, MPI_INTEGER)
      call check_equal(0, e, 'put_vard')
      value = 0
      e = nfmpi_get_vard(nc, v, view, value, size, MPI_INTEGER)
      call check_that(value(1) .eq. -1 .and. value(3) .eq. -3,
     &    'put_vard')
      call MPI_Type_free(view, e)
      call check_equal(0, nfmpi_end_indep_data(nc), 'end_indep')
      call check_equal(0, nfmpi_close(nc), 'close')
      end
