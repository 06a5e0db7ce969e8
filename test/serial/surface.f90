! A free-form program for serial netCDF-Fortran: it writes surface pressure and temperature with
! coordinates to a CDF-2 file, then reads it back, looking up the temperature by its name.
! serial_programs.sh compiles this program with netCDF-Fortran's netcdf.inc and with ours. The
! output and the file must be the same.
program surface
  implicit none
  include 'netcdf.inc'
  integer, parameter :: nlat = 6, nlon = 12
  character(len=200) :: path
  call get_command_argument(1, path)
  if (path == ' ') path = 'surface.nc'
  call make()
  call look()

contains

  subroutine check(err)
    integer, intent(in) :: err
    if (err == nf_noerr) return
    print '(a)', trim(nf_strerror(err))
    stop 2
  end subroutine

  subroutine make()
    integer :: nc, lat, lon, dims(2), lats, lons, pres, temp, i, j, old
    real :: p(nlon, nlat), t(nlon - 2, nlat - 2)
    call check(nf_create(path, ior(nf_clobber, nf_64bit_offset), nc))
    call check(nf_set_fill(nc, nf_fill, old))
    call check(nf_def_dim(nc, 'latitude', nlat, lat))
    call check(nf_def_dim(nc, 'longitude', nlon, lon))
    call check(nf_def_var(nc, 'latitude', nf_real, 1, (/ lat /), lats))
    call check(nf_def_var(nc, 'longitude', nf_real, 1, (/ lon /), lons))
    dims = (/ lon, lat /)
    call check(nf_def_var(nc, 'pressure', nf_real, 2, dims, pres))
    call check(nf_def_var(nc, 'temperature', nf_double, 2, dims, temp))
    call check(nf_def_var_fill(nc, temp, 0, -1d0))
    call check(nf_put_att_text(nc, lats, 'units', 13, 'degrees_north'))
    call check(nf_put_att_text(nc, lons, 'units', 12, 'degrees_east'))
    call check(nf_put_att_text(nc, pres, 'units', 3, 'hPa'))
    call check(nf_put_att_int(nc, nf_global, 'version', nf_short, 2, (/ 4, 5 /)))
    call check(nf_enddef(nc))
    do j = 1, nlat
      do i = 1, nlon
        p(i, j) = 900. + real(j - 1) + 10. * real(i - 1)
      end do
    end do
    do j = 1, nlat - 2
      do i = 1, nlon - 2
        t(i, j) = 9. + 0.25 * real(j + i)
      end do
    end do
    call check(nf_put_var_real(nc, lats, (/ (25. + 5. * real(i), i = 0, nlat - 1) /)))
    call check(nf_put_var_real(nc, lons, (/ (-125. + 5. * real(i), i = 0, nlon - 1) /)))
    call check(nf_put_var_real(nc, pres, p))
    call check(nf_put_vara_real(nc, temp, (/ 2, 2 /), (/ nlon - 2, nlat - 2 /), t))
    call check(nf_close(nc))
  end subroutine

  subroutine look()
    integer :: nc, var, n, nvars, v, type, ndims, dims(nf_max_var_dims), natts
    integer :: no_fill, ids(10)
    double precision :: t(nlon, nlat), fill
    character(len=nf_max_name) :: name
    character(len=300) :: back
    call check(nf_open(path, nf_nowrite, nc))
    call check(nf_inq_nvars(nc, nvars))
    do v = 1, nvars
      call check(nf_inq_var(nc, v, name, type, ndims, dims, natts))
      print '(a, *(1x, i0))', trim(name), type, dims(:ndims), natts
    end do
    call check(nf_inq_varid(nc, 'temperature', var))
    call check(nf_get_var_double(nc, var, t))
    print '(12f8.2)', t
    call check(nf_inq_var_fill(nc, var, no_fill, fill))
    print '(i0, f8.2)', no_fill, fill
    call check(nf_inq_varids(nc, n, ids))
    print '(*(1x, i0))', ids(:n)
    call check(nf_inq_path(nc, n, back))
    print '(l1, 1x, l1)', n == len_trim(path), back(:n) == path
    print '(i0)', nf_def_var_deflate(nc, var, 0, 1, 1)
    print '(i0)', nf_inq_varid(nc, 'nothing', var)
    call check(nf_close(nc))
  end subroutine

end program
