# Examples of examples/C in Fortran 77, which make the same files.
f77_examples = examples/F77/blocks examples/F77/first_file examples/F77/nonblocking \
	examples/F77/time_series
EXTRA_DIST += $(f77_examples:=.f)
if HAVE_FORTRAN
check_PROGRAMS += $(f77_examples)
examples_F77_blocks_SOURCES = examples/F77/blocks.f
examples_F77_blocks_LDADD = libpnetcdf.la
examples_F77_blocks_LDFLAGS = -static
examples_F77_first_file_SOURCES = examples/F77/first_file.f
examples_F77_first_file_LDADD = libpnetcdf.la
examples_F77_first_file_LDFLAGS = -static
examples_F77_nonblocking_SOURCES = examples/F77/nonblocking.f
examples_F77_nonblocking_LDADD = libpnetcdf.la
examples_F77_nonblocking_LDFLAGS = -static
examples_F77_time_series_SOURCES = examples/F77/time_series.f
examples_F77_time_series_LDADD = libpnetcdf.la
examples_F77_time_series_LDFLAGS = -static
endif
