# The example programs, and what a user does with an installed library.
example_tests = test/examples/blobs.sh test/examples/checkpoints.sh \
	test/examples/epochs.sh test/examples/climate.sh test/examples/install.sh test/examples/programs.sh \
	test/examples/netcdf_par.sh
TESTS += $(example_tests)
EXTRA_DIST += $(example_tests) test/examples/netcdf_par.c test/examples/two_languages.sh

check_PROGRAMS += test/examples/scorpio.mpi
TESTS += test/examples/scorpio.mpi
test_examples_scorpio_mpi_SOURCES = test/examples/scorpio.c test/api/made_dataset.h
test_examples_scorpio_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/support -I$(srcdir)/test/api
test_examples_scorpio_mpi_LDADD = $(MPI_TEST_LIBS)
