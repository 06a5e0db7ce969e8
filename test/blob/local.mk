# tests: blob
check_PROGRAMS += test/blob/blob_data.mpi
TESTS += test/blob/blob_data.mpi
test_blob_blob_data_mpi_SOURCES = test/blob/blob_data.c
test_blob_blob_data_mpi_LDADD = $(MPI_TEST_LIBS)
EXTRA_DIST += test/blob/blob_suites.sh
