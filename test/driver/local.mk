# tests: driver
check_PROGRAMS += test/driver/statistics.mpi
TESTS += test/driver/statistics.mpi
test_driver_statistics_mpi_SOURCES = test/driver/statistics.c test/driver/counts.h
test_driver_statistics_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api
test_driver_statistics_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/driver/call_counts.mpi
TESTS += test/driver/call_counts.mpi
test_driver_call_counts_mpi_SOURCES = test/driver/call_counts.c test/driver/counts.h
test_driver_call_counts_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api
test_driver_call_counts_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/driver/alone.mpi
TESTS += test/driver/alone.mpi
test_driver_alone_mpi_SOURCES = test/driver/alone.c
test_driver_alone_mpi_LDADD = $(MPI_TEST_LIBS)
