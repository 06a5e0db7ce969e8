# tests: libpnetcdf_serial. Each program is compiled twice, for it and for netCDF.
TESTS += test/serial/serial_programs.sh
EXTRA_DIST += test/serial/serial_programs.sh
if HAVE_NETCDF
check_PROGRAMS += test/serial/ocean test/serial/ocean_netcdf
test_serial_ocean_SOURCES = test/serial/ocean.c
test_serial_ocean_CPPFLAGS = -I$(builddir)/include/pnetcdf_serial -I$(builddir)/include
test_serial_ocean_LDADD = libpnetcdf_serial.la libpnetcdf.la
test_serial_ocean_LDFLAGS = -static
test_serial_ocean_netcdf_SOURCES = test/serial/ocean.c
test_serial_ocean_netcdf_CPPFLAGS = -DSERIAL_NETCDF
test_serial_ocean_netcdf_LDADD = -lnetcdf
endif
if HAVE_NETCDFF
check_PROGRAMS += test/serial/river test/serial/river_netcdf
test_serial_river_SOURCES = test/serial/river.f
test_serial_river_FFLAGS = -I$(builddir)/include/pnetcdf_serial $(FORTRAN_CHECKS)
test_serial_river_LDADD = libpnetcdf_serial.la libpnetcdf.la
test_serial_river_LDFLAGS = -static
test_serial_river_netcdf_SOURCES = test/serial/river.f
test_serial_river_netcdf_FFLAGS = -I$(NETCDFF_DIR) $(FORTRAN_CHECKS)
test_serial_river_netcdf_LDADD = -lnetcdff -lnetcdf
endif
