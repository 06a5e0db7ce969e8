# Programs that use the public interface alone.
noinst_PROGRAMS += examples/climate/climate examples/climate/plotfield
examples_climate_climate_SOURCES = examples/climate/climate.c
examples_climate_climate_LDADD = libpnetcdf.la -lm
examples_climate_climate_LDFLAGS = -static
examples_climate_plotfield_SOURCES = examples/climate/plotfield.c
examples_climate_plotfield_LDADD = libpnetcdf.la -lm
examples_climate_plotfield_LDFLAGS = -static
check_PROGRAMS += examples/blobs/blobs
examples_blobs_blobs_SOURCES = examples/blobs/blobs.c
examples_blobs_blobs_LDADD = libpnetcdf.la
examples_blobs_blobs_LDFLAGS = -static
EXTRA_DIST += examples/blobs/blobs.f90
check_PROGRAMS += examples/stage/epochs
examples_stage_epochs_SOURCES = examples/stage/epochs.c
examples_stage_epochs_LDADD = libpnetcdf.la
examples_stage_epochs_LDFLAGS = -static
EXTRA_DIST += examples/stage/epochs.f examples/stage/epochs.f90
check_PROGRAMS += examples/checkpoints/checkpoints
examples_checkpoints_checkpoints_SOURCES = examples/checkpoints/checkpoints.c
examples_checkpoints_checkpoints_LDADD = libpnetcdf.la
examples_checkpoints_checkpoints_LDFLAGS = -static
EXTRA_DIST += examples/checkpoints/checkpoints.f90
EXTRA_DIST += examples/climate/map.gp examples/cmake/CMakeLists.txt

# A small program for each thing one wants to do, to copy from, and what ncdump says of
# the file that it makes.
example_programs = examples/C/blocks \
	examples/C/columns \
	examples/C/errors \
	examples/C/fill_values \
	examples/C/first_file \
	examples/C/ghost_cells \
	examples/C/metadata \
	examples/C/nonblocking \
	examples/C/scattered \
	examples/C/time_series \
	examples/C/tuning \
	examples/C/ways_to_read
check_PROGRAMS += $(example_programs)
EXTRA_DIST += examples/README.md $(example_programs:=.cdl)
examples_C_blocks_SOURCES = examples/C/blocks.c
examples_C_blocks_LDADD = libpnetcdf.la
examples_C_blocks_LDFLAGS = -static
examples_C_columns_SOURCES = examples/C/columns.c
examples_C_columns_LDADD = libpnetcdf.la
examples_C_columns_LDFLAGS = -static
examples_C_errors_SOURCES = examples/C/errors.c
examples_C_errors_LDADD = libpnetcdf.la
examples_C_errors_LDFLAGS = -static
examples_C_fill_values_SOURCES = examples/C/fill_values.c
examples_C_fill_values_LDADD = libpnetcdf.la
examples_C_fill_values_LDFLAGS = -static
examples_C_first_file_SOURCES = examples/C/first_file.c
examples_C_first_file_LDADD = libpnetcdf.la
examples_C_first_file_LDFLAGS = -static
examples_C_ghost_cells_SOURCES = examples/C/ghost_cells.c
examples_C_ghost_cells_LDADD = libpnetcdf.la
examples_C_ghost_cells_LDFLAGS = -static
examples_C_metadata_SOURCES = examples/C/metadata.c
examples_C_metadata_LDADD = libpnetcdf.la
examples_C_metadata_LDFLAGS = -static
examples_C_nonblocking_SOURCES = examples/C/nonblocking.c
examples_C_nonblocking_LDADD = libpnetcdf.la
examples_C_nonblocking_LDFLAGS = -static
examples_C_scattered_SOURCES = examples/C/scattered.c
examples_C_scattered_LDADD = libpnetcdf.la
examples_C_scattered_LDFLAGS = -static
examples_C_time_series_SOURCES = examples/C/time_series.c
examples_C_time_series_LDADD = libpnetcdf.la
examples_C_time_series_LDFLAGS = -static
examples_C_tuning_SOURCES = examples/C/tuning.c
examples_C_tuning_LDADD = libpnetcdf.la
examples_C_tuning_LDFLAGS = -static
examples_C_ways_to_read_SOURCES = examples/C/ways_to_read.c
examples_C_ways_to_read_LDADD = libpnetcdf.la
examples_C_ways_to_read_LDFLAGS = -static

examples: $(example_programs)
.PHONY: examples
