! Calls netCDF-Fortran for f77_serial.f.
      subroutine nf_reads(path)
      implicit none
      include 'netcdf.inc'
      character*(*) path
      character*6 letters
      character*4 unit
      integer nc, e, v, c, d(2), n, i, start(2), count(2)
      real row(6)
      call check_equal(0, nf_open(trim(path), NF_NOWRITE, nc), 'open')
      e = nf_inq_varid(nc, 'v', v)
      e = nf_inq_varid(nc, 'c', c)
      call check_equal(0, e, 'inq_varid')
      e = nf_inq_vardimid(nc, v, d)
      call check_that(d(1) .eq. 1 .and. d(2) .eq. 2, 'dimensions')
      e = nf_inq_dimlen(nc, d(2), n)
      start(1) = 1
      count(1) = 6
      count(2) = 1
      start(2) = n
      call check_equal(0, nf_get_vara_real(nc, v, start, count, row),
     &    'get_vara_real')
      do i = 1, 6
          call check_that(row(i) .eq. 10*(n-1) + i + 0.5, 'values')
      enddo
      e = nf_get_var_text(nc, c, letters)
      call check_that(letters .eq. 'abcdef', 'text')
      e = nf_get_att_text(nc, v, 'unit', unit)
      call check_that(unit .eq. 'm/s ', 'attribute')
      call check_equal(0, nf_close(nc), 'close')
      end

      subroutine nf_writes(path, format)
      implicit none
      include 'netcdf.inc'
      character*(*) path
      integer format, nc, e, d(2), v, i, j, cmode
      integer*2 values(5, 2)
      cmode = NF_CLOBBER
      if (format .eq. 2) cmode = NF_64BIT_OFFSET
      call check_equal(0, nf_create(trim(path), cmode, nc), 'create')
      e = nf_def_dim(nc, 'x', 5, d(1))
      e = nf_def_dim(nc, 'y', 2, d(2))
      e = nf_def_var(nc, 'w', NF_SHORT, 2, d, v)
      e = nf_enddef(nc)
      do j = 1, 2
          do i = 1, 5
              values(i, j) = int(10 * j + i, 2)
          enddo
      enddo
      call check_equal(0, nf_put_var_int2(nc, v, values), 'put')
      call check_equal(0, nf_close(nc), 'close')
      end
