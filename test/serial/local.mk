# tests: libpnetcdf_serial. Each program is compiled twice, for it and for netCDF.
TESTS += test/serial/serial_programs.sh test/serial/serial_names.sh \
	test/serial/serial_guide.sh
EXTRA_DIST += test/serial/serial_programs.sh test/serial/serial_names.sh \
	test/serial/serial_guide.sh
serial_ours = libpnetcdf_serial.la libpnetcdf.la
serial_headers = -I$(builddir)/include/pnetcdf_serial
if HAVE_NETCDF
check_PROGRAMS += test/serial/ocean test/serial/ocean_netcdf test/serial/weather \
	test/serial/weather_netcdf test/serial/answers test/serial/answers_netcdf
test_serial_ocean_SOURCES = test/serial/ocean.c
test_serial_ocean_CPPFLAGS = $(serial_headers) -I$(builddir)/include
test_serial_ocean_LDADD = $(serial_ours)
test_serial_ocean_LDFLAGS = -static
test_serial_ocean_netcdf_SOURCES = test/serial/ocean.c
test_serial_ocean_netcdf_CPPFLAGS = -DSERIAL_NETCDF
test_serial_ocean_netcdf_LDADD = -lnetcdf
test_serial_weather_SOURCES = test/serial/weather.c
test_serial_weather_CPPFLAGS = $(serial_headers) -I$(builddir)/include
test_serial_weather_LDADD = $(serial_ours)
test_serial_weather_LDFLAGS = -static
test_serial_weather_netcdf_SOURCES = test/serial/weather.c
test_serial_weather_netcdf_CPPFLAGS = -DSERIAL_NETCDF
test_serial_weather_netcdf_LDADD = -lnetcdf
test_serial_answers_SOURCES = test/serial/answers.c
test_serial_answers_CPPFLAGS = $(serial_headers) -I$(builddir)/include
test_serial_answers_LDADD = $(serial_ours)
test_serial_answers_LDFLAGS = -static
test_serial_answers_netcdf_SOURCES = test/serial/answers.c
test_serial_answers_netcdf_CPPFLAGS = -DSERIAL_NETCDF
test_serial_answers_netcdf_LDADD = -lnetcdf
endif
if HAVE_NETCDFF
check_PROGRAMS += test/serial/river test/serial/river_netcdf test/serial/surface \
	test/serial/surface_netcdf test/serial/groups test/serial/groups_netcdf
test_serial_river_SOURCES = test/serial/river.f
test_serial_river_FFLAGS = $(serial_headers) $(FORTRAN_CHECKS)
test_serial_river_LDADD = $(serial_ours)
test_serial_river_LDFLAGS = -static
test_serial_river_netcdf_SOURCES = test/serial/river.f
test_serial_river_netcdf_FFLAGS = -I$(NETCDFF_DIR) $(FORTRAN_CHECKS)
test_serial_river_netcdf_LDADD = -lnetcdff -lnetcdf
test_serial_surface_SOURCES = test/serial/surface.f90
test_serial_surface_FCFLAGS = $(serial_headers) $(FORTRAN_CHECKS)
test_serial_surface_LDADD = $(serial_ours)
test_serial_surface_LDFLAGS = -static
test_serial_surface_netcdf_SOURCES = test/serial/surface.f90
test_serial_surface_netcdf_FCFLAGS = -I$(NETCDFF_DIR) $(FORTRAN_CHECKS)
test_serial_surface_netcdf_LDADD = -lnetcdff -lnetcdf
test_serial_groups_SOURCES = test/serial/groups.f90
test_serial_groups_FCFLAGS = -I$(builddir)/include/pnetcdf_serial $(FORTRAN_CHECKS)
test_serial_groups_LDADD = libpnetcdf_serial.la libpnetcdf.la
test_serial_groups_LDFLAGS = -static
test_serial_groups_netcdf_SOURCES = test/serial/groups.f90
test_serial_groups_netcdf_FCFLAGS = -I$(NETCDFF_DIR) $(FORTRAN_CHECKS)
test_serial_groups_netcdf_LDADD = -lnetcdff -lnetcdf
endif
