# The examples of examples/C in Fortran 90, which make the same files, and a program
# before and after it was ported from netCDF-Fortran.
f90_examples = examples/F90/blocks.f90 examples/F90/columns.f90 \
	examples/F90/errors.f90 examples/F90/fill_values.f90 examples/F90/first_file.f90 \
	examples/F90/ghost_cells.f90 examples/F90/metadata.f90 examples/F90/nonblocking.f90 \
	examples/F90/scattered.f90 examples/F90/time_series.f90 examples/F90/tuning.f90 \
	examples/F90/ways_to_read.f90
EXTRA_DIST += $(f90_examples) examples/porting/heat_serial.f90 \
	examples/porting/heat_parallel.f90
