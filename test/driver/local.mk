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

check_PROGRAMS += test/driver/trace.mpi test/driver/trace_calls
TESTS += test/driver/trace.mpi test/driver/trace.sh
test_driver_trace_mpi_SOURCES = test/driver/trace.c test/driver/counts.h
test_driver_trace_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api
test_driver_trace_mpi_LDADD = $(MPI_TEST_LIBS)
test_driver_trace_calls_SOURCES = test/driver/trace_calls.c
test_driver_trace_calls_LDADD = libcore.la
test/driver/trace.log: test/driver/trace_calls
EXTRA_DIST += test/driver/trace.sh test/driver/trace_check.py

# With layers that add nothing between the others: data, and the same counts of calls.
check_PROGRAMS += test/driver/empty.mpi
TESTS += test/driver/empty.mpi
test_driver_empty_mpi_SOURCES = test/driver/empty.c test/driver/empty_layer.c
test_driver_empty_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api
test_driver_empty_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/driver/empty_counts.mpi
TESTS += test/driver/empty_counts.mpi
test_driver_empty_counts_mpi_SOURCES = test/driver/call_counts.c test/driver/counts.h test/driver/empty_layer.c
test_driver_empty_counts_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api
test_driver_empty_counts_mpi_LDADD = $(MPI_TEST_LIBS)
