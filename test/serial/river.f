! A fixed-form program for serial netCDF-Fortran: it writes records by mapped and strided puts and
! prints the values that it reads. serial_programs.sh compiles this program with netCDF-Fortran's
! netcdf.inc and with ours. The output and the file must be the same.
      program river
      implicit none
      include 'netcdf.inc'
      character*200 path
      character*(NF_MAX_NAME) name
      character*4 unit
      integer nc, x, t, flow, gauge, e, i, nd, nv, na, u, n, xtype
      integer dims(NF_MAX_VAR_DIMS), start(2), count(2), stride(2)
      integer imap(2), whole(5)
      real values(5)
      doubleprecision table(3, 2)
      integer*2 few(2)
      call get_command_argument(1, path)
      call check(nf_create(path, NF_CLOBBER, nc), 1)
      call check(nf_def_dim(nc, 'x', 5, x), 2)
      call check(nf_def_dim(nc, 'time', NF_UNLIMITED, t), 3)
      dims(1) = x
      dims(2) = t
      call check(nf_def_var(nc, 'flow', NF_REAL, 2, dims, flow), 4)
      call check(nf_def_var(nc, 'gauge', NF_INT, 1, dims, gauge), 5)
      call check(nf_put_att_text(nc, flow, 'units', 4, 'm3/s'), 6)
      few(1) = 3
      few(2) = -4
      call check(nf_put_att_int2(nc, gauge, 'few', NF_SHORT, 2, few), 7)
      call check(nf_enddef(nc), 8)
      do i = 1, 5
          values(i) = 0.5 * i
          whole(i) = i * i
      enddo
      call check(nf_put_var_int(nc, gauge, whole), 9)
      start(1) = 2
      start(2) = 3
      count(1) = 3
      count(2) = 1
      call check(nf_put_vara_real(nc, flow, start, count, values), 10)
      start(1) = 1
      start(2) = 4
      count(1) = 3
      count(2) = 2
      stride(1) = 2
      stride(2) = 1
      imap(1) = 1
      imap(2) = 3
      do i = 1, 3
          table(i, 1) = i
          table(i, 2) = -i
      enddo
      call check(nf_put_varm_double(nc, flow, start, count, stride,
     &    imap, table), 11)
      call check(nf_close(nc), 12)

      call check(nf_open(path, NF_WRITE, nc), 13)
      call check(nf_inq(nc, nd, nv, na, u), 14)
      print '(4(1x,i0))', nd, nv, na, u
      call check(nf_inq_dim(nc, t, name, n), 15)
      print '(2a,i0)', trim(name), ' ', n
      call check(nf_inq_var(nc, flow, name, xtype, nd, dims, na), 16)
      print '(a,5(1x,i0))', trim(name), xtype, nd, dims(1), dims(2), na
      call check(nf_get_att_text(nc, flow, 'units', unit), 17)
      print '(a)', unit
      call check(nf_get_vars_double(nc, flow, start, count, stride,
     &    table), 18)
      print '(6(1x,f6.2))', table
      start(1) = 2
      call check(nf_get_var1_real(nc, flow, start, values(1)), 19)
      print '(e12.4)', values(1)
      print '(2(1x,i0))', nf_inq_varid(nc, 'none', i),
     &    nf_put_var1_real(nc, 7, start, values)
      call check(nf_redef(nc), 20)
      call check(nf_rename_var(nc, gauge, 'height'), 21)
      call check(nf_close(nc), 22)
      end

      subroutine check(status, line)
      implicit none
      include 'netcdf.inc'
      integer status, line
      if (status .ne. NF_NOERR) then
          print '(i0,2a)', line, ' ', trim(nf_strerror(status))
          stop 1
      endif
      end
