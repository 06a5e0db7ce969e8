# Programs that use only the public interface. test/tests.list lists those that also serve as tests.
noinst_PROGRAMS += examples/climate/climate examples/climate/plotfield
examples_climate_climate_SOURCES = examples/climate/climate.c
examples_climate_climate_LDADD = libpnetcdf.la -lm
examples_climate_climate_LDFLAGS = -static
examples_climate_plotfield_SOURCES = examples/climate/plotfield.c
examples_climate_plotfield_LDADD = libpnetcdf.la -lm
examples_climate_plotfield_LDFLAGS = -static

# Small programs for common tasks, meant to be copied. Each program's .cdl file contains its output
# as printed by ncdump.
examples:
	@$(MAKE) $(AM_MAKEFLAGS) `printf '%s\n' $(check_PROGRAMS) | grep '^examples/C/'`
.PHONY: examples
