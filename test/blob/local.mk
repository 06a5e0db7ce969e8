# tests: blob
check_PROGRAMS += test/blob/blob_data.mpi
TESTS += test/blob/blob_data.mpi
test_blob_blob_data_mpi_SOURCES = test/blob/blob_data.c
test_blob_blob_data_mpi_LDADD = $(MPI_TEST_LIBS)
check_PROGRAMS += test/blob/blob_unwritten.mpi
TESTS += test/blob/blob_unwritten.mpi
test_blob_blob_unwritten_mpi_SOURCES = test/blob/blob_unwritten.c
test_blob_blob_unwritten_mpi_LDADD = $(MPI_TEST_LIBS)
check_PROGRAMS += test/blob/foreign_read.mpi
TESTS += test/blob/foreign_read.mpi
test_blob_foreign_read_mpi_SOURCES = test/blob/foreign_read.c test/blob/foreign_make.c test/blob/foreign_make.h
test_blob_foreign_read_mpi_LDADD = $(MPI_TEST_LIBS)
check_PROGRAMS += test/blob/blob_faults.mpi
TESTS += test/blob/blob_faults.mpi
test_blob_blob_faults_mpi_SOURCES = test/blob/blob_faults.c
test_blob_blob_faults_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
check_PROGRAMS += test/blob/blob_permuted.mpi
TESTS += test/blob/blob_permuted.mpi
test_blob_blob_permuted_mpi_SOURCES = test/blob/blob_permuted.c
test_blob_blob_permuted_mpi_LDADD = $(MPI_TEST_LIBS)
check_PROGRAMS += test/blob/blob_gather.mpi
TESTS += test/blob/blob_gather.mpi
test_blob_blob_gather_mpi_SOURCES = test/blob/blob_gather.c
test_blob_blob_gather_mpi_LDADD = $(MPI_TEST_LIBS)
check_PROGRAMS += test/blob/blob_stats.mpi
TESTS += test/blob/blob_stats.mpi
test_blob_blob_stats_mpi_SOURCES = test/blob/blob_stats.c
test_blob_blob_stats_mpi_LDADD = $(MPI_TEST_LIBS)
check_PROGRAMS += test/blob/blob_checksums.mpi
TESTS += test/blob/blob_checksums.mpi
test_blob_blob_checksums_mpi_SOURCES = test/blob/blob_checksums.c
test_blob_blob_checksums_mpi_LDADD = libutil.la $(MPI_TEST_LIBS)
check_PROGRAMS += test/blob/blob_copy
test_blob_blob_copy_SOURCES = test/blob/blob_copy.c
test_blob_blob_copy_LDADD = libpnetcdf.la
check_PROGRAMS += test/blob/blob_history
test_blob_blob_history_SOURCES = test/blob/blob_history.c
test_blob_blob_history_LDADD = $(MPI_TEST_LIBS)
TESTS += test/blob/blob_moments.sh test/blob/blob_owners.sh
EXTRA_DIST += test/blob/blob_moments.sh test/blob/blob_owners.sh
TESTS += test/blob/blob_join.sh
EXTRA_DIST += test/blob/blob_join.sh

# All datasets that are here.
check-blob-join: check-programs
	@$(AM_TESTS_ENVIRONMENT) BLOB_JOIN=all srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/blob/blob_join.sh
.PHONY: check-blob-join

EXTRA_DIST += test/blob/blob_suites.sh test/blob/blob_kill.sh test/blob/blob_behind.sh
if BURST
TESTS += test/blob/blob_kill.sh test/blob/blob_behind.sh
check_PROGRAMS += test/blob/blob_behind.mpi
TESTS += test/blob/blob_behind.mpi
test_blob_blob_behind_mpi_SOURCES = test/blob/blob_behind.c $(burst_plan)
test_blob_blob_behind_mpi_LDADD = libfault.la $(MPI_TEST_LIBS) -ldl
endif

# Every point at which a program with subfiles can be killed, or lose power.
check-blob-kill: check-programs
	@$(AM_TESTS_ENVIRONMENT) BLOB_KILL=all srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/blob/blob_kill.sh
.PHONY: check-blob-kill

# Mixtures of the files of many histories, and a thousand datasets at once.
check-blob-moments: check-programs
	@$(AM_TESTS_ENVIRONMENT) BLOB_MOMENTS=$${BLOB_MOMENTS:-20} srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/blob/blob_moments.sh
	@$(AM_TESTS_ENVIRONMENT) BLOB_OWNERS=all srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/blob/blob_owners.sh
.PHONY: check-blob-moments
