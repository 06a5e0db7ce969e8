# Random programs, run with our library and with the serial netCDF library.
if HAVE_NETCDF
check_PROGRAMS += test/random/random_program.mpi
TESTS += test/random/random_program.mpi
test_random_random_program_mpi_SOURCES = test/random/random_program.c \
	test/random/random_access.c test/random/random_access.h \
	test/random/random_model.c test/random/random_model.h \
	test/random/random_turns.c \
	test/support/shortage.c test/support/shortage.h
test_random_random_program_mpi_LDFLAGS = $(SHORTAGE_WRAP)
test_random_random_program_mpi_LDADD = libutil.la libfault.la $(MPI_TEST_LIBS) -lnetcdf

check_PROGRAMS += test/random/random_pair.mpi
TESTS += test/random/random_pair.mpi
test_random_random_pair_mpi_SOURCES = test/random/random_pair.c
test_random_random_pair_mpi_LDADD = $(MPI_TEST_LIBS) -lnetcdf
endif

# The same programs with blobs and without.
check_PROGRAMS += test/random/random_blobs.mpi
TESTS += test/random/random_blobs.mpi
test_random_random_blobs_mpi_SOURCES = test/random/random_blobs.c \
	test/random/random_access.c test/random/random_access.h \
	test/random/random_model.c test/random/random_model.h \
	test/support/shortage.c test/support/shortage.h
test_random_random_blobs_mpi_LDFLAGS = $(SHORTAGE_WRAP)
test_random_random_blobs_mpi_LDADD = libutil.la libfault.la $(MPI_TEST_LIBS)
check-random-blobs: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) NCMPI_RANDOM_PROGRAMS=$(RANDOM_COUNT) \
		NCMPI_TEST_LIMIT=86400 \
		$(BASH_PATH) $(srcdir)/test/support/run-mpi test/random/random_blobs.mpi
.PHONY: check-random-blobs

# Thousands of them: RANDOM_COUNT for each format, with trouble, without, and in turns.
# NCMPI_TEST_ONLY='in turns' runs those alone, PNETCDF_HINTS with one stack of drivers.
RANDOM_COUNT = 1000
check-random-programs: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) NCMPI_RANDOM_PROGRAMS=$(RANDOM_COUNT) \
		NCMPI_TEST_LIMIT=86400 \
		$(BASH_PATH) $(srcdir)/test/support/run-mpi test/random/random_program.mpi
check-pairs: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) NCMPI_RANDOM_PAIRS=$(RANDOM_COUNT) \
		NCMPI_TEST_LIMIT=86400 \
		$(BASH_PATH) $(srcdir)/test/support/run-mpi test/random/random_pair.mpi
.PHONY: check-random-programs check-pairs
