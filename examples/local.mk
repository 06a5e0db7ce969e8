# Programs that use the public interface alone.
noinst_PROGRAMS += examples/climate/climate examples/climate/plotfield
examples_climate_climate_SOURCES = examples/climate/climate.c
examples_climate_climate_LDADD = libpnetcdf.la -lm
examples_climate_climate_LDFLAGS = -static
examples_climate_plotfield_SOURCES = examples/climate/plotfield.c
examples_climate_plotfield_LDADD = libpnetcdf.la -lm
examples_climate_plotfield_LDFLAGS = -static
EXTRA_DIST += examples/climate/map.gp
