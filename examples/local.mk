# Programs that use the public interface alone. Those of the tests: test/tests.list.
noinst_PROGRAMS += examples/climate/climate examples/climate/plotfield
examples_climate_climate_SOURCES = examples/climate/climate.c
examples_climate_climate_LDADD = libpnetcdf.la -lm
examples_climate_climate_LDFLAGS = -static
examples_climate_plotfield_SOURCES = examples/climate/plotfield.c
examples_climate_plotfield_LDADD = libpnetcdf.la -lm
examples_climate_plotfield_LDFLAGS = -static

# A small program for each thing one wants to do, to copy from; beside each is what ncdump
# says of the file that it makes.
examples:
	@$(MAKE) $(AM_MAKEFLAGS) `printf '%s\n' $(check_PROGRAMS) | grep '^examples/C/'`
.PHONY: examples
