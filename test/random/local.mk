# Random programs, run with our library and with the serial netCDF library.
if HAVE_NETCDF
check_PROGRAMS += test/random/random_program.mpi
TESTS += test/random/random_program.mpi
test_random_random_program_mpi_SOURCES = test/random/random_program.c \
	test/random/random_access.c test/random/random_access.h \
	test/random/random_model.c test/random/random_model.h
test_random_random_program_mpi_LDADD = $(MPI_TEST_LIBS) -lnetcdf
endif
