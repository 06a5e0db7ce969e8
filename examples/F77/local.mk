# The examples of examples/C in Fortran 77, which make the same files.
f77_examples = \
	examples/F77/blocks examples/F77/columns examples/F77/errors \
	examples/F77/fill_values examples/F77/first_file examples/F77/ghost_cells \
	examples/F77/metadata examples/F77/nonblocking examples/F77/scattered \
	examples/F77/time_series examples/F77/tuning examples/F77/ways_to_read
EXTRA_DIST += $(f77_examples:=.f)
if HAVE_FORTRAN
check_PROGRAMS += $(f77_examples)
examples_F77_blocks_SOURCES = examples/F77/blocks.f
examples_F77_blocks_LDADD = libpnetcdf.la
examples_F77_blocks_LDFLAGS = -static
examples_F77_columns_SOURCES = examples/F77/columns.f
examples_F77_columns_LDADD = libpnetcdf.la
examples_F77_columns_LDFLAGS = -static
examples_F77_errors_SOURCES = examples/F77/errors.f
examples_F77_errors_LDADD = libpnetcdf.la
examples_F77_errors_LDFLAGS = -static
examples_F77_fill_values_SOURCES = examples/F77/fill_values.f
examples_F77_fill_values_LDADD = libpnetcdf.la
examples_F77_fill_values_LDFLAGS = -static
examples_F77_first_file_SOURCES = examples/F77/first_file.f
examples_F77_first_file_LDADD = libpnetcdf.la
examples_F77_first_file_LDFLAGS = -static
examples_F77_ghost_cells_SOURCES = examples/F77/ghost_cells.f
examples_F77_ghost_cells_LDADD = libpnetcdf.la
examples_F77_ghost_cells_LDFLAGS = -static
examples_F77_metadata_SOURCES = examples/F77/metadata.f
examples_F77_metadata_LDADD = libpnetcdf.la
examples_F77_metadata_LDFLAGS = -static
examples_F77_nonblocking_SOURCES = examples/F77/nonblocking.f
examples_F77_nonblocking_LDADD = libpnetcdf.la
examples_F77_nonblocking_LDFLAGS = -static
examples_F77_scattered_SOURCES = examples/F77/scattered.f
examples_F77_scattered_LDADD = libpnetcdf.la
examples_F77_scattered_LDFLAGS = -static
examples_F77_time_series_SOURCES = examples/F77/time_series.f
examples_F77_time_series_LDADD = libpnetcdf.la
examples_F77_time_series_LDFLAGS = -static
examples_F77_tuning_SOURCES = examples/F77/tuning.f
examples_F77_tuning_LDADD = libpnetcdf.la
examples_F77_tuning_LDFLAGS = -static
examples_F77_ways_to_read_SOURCES = examples/F77/ways_to_read.f
examples_F77_ways_to_read_LDADD = libpnetcdf.la
examples_F77_ways_to_read_LDFLAGS = -static
endif
