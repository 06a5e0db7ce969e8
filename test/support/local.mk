# The harness: run-mpi starts the MPI tests, libcheck is what they are made of.
# A test in test/ROOM/local.mk:
#
#	check_PROGRAMS += test/ROOM/NAME.mpi
#	TESTS += test/ROOM/NAME.mpi
#	test_ROOM_NAME_mpi_SOURCES = test/ROOM/NAME.c
#	test_ROOM_NAME_mpi_LDADD = $(MPI_TEST_LIBS)
#
# All is linked from convenience libraries, so that programs are what they seem, and
# no libtool script stands between the launcher and them.
AM_CPPFLAGS += -I$(srcdir)/test/support
MPI_TEST_LIBS = libcheck.la libcore.la

check_LTLIBRARIES = libcheck.la libfault.la test/support/yield.la \
	test/support/unmapped.la test/support/fault.la
libcheck_la_SOURCES = test/support/check.c test/support/check.h \
	test/support/cases.c test/support/cases.h test/support/no_threads.h

# Faults in file functions: add libfault.la to a test's LDADD, before MPI_TEST_LIBS, or
# preload the module.
libfault_la_SOURCES = test/support/fault.c test/support/fault.h test/support/stand_open.h
libfault_la_LIBADD = -ldl
test_support_fault_la_SOURCES =
test_support_fault_la_LIBADD = libfault.la
test_support_fault_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

# Faults in calls of MPI, with those: add $(fault_mpi) to a test's sources.
fault_mpi = test/support/fault_mpi.c test/support/fault_mpi.h

# Faults in calls of sockets, pipes and threads, with those: add $(fault_socket) likewise.
fault_socket = test/support/fault_socket.c

# Files of a killed job: add $(kept_files) to a test's sources.
kept_files = test/support/kept_files.c test/support/kept_files.h

# Shortage of memory: add test/support/shortage.c and .h to a test's sources, and
# these to its LDFLAGS.
SHORTAGE_WRAP = -Wl,--wrap=base_malloc -Wl,--wrap=base_calloc \
	-Wl,--wrap=base_realloc -Wl,--wrap=base_strdup

# Memory that is short: see short_memory.h.
short_memory = test/support/short_memory.c test/support/short_memory.h
SHORT_MEMORY = -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

# The module that MPICH's processes are started with: see yield.c.
test_support_yield_la_SOURCES = test/support/yield.c
test_support_yield_la_LIBADD = -ldl
test_support_yield_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

# What a program is told of its file system: see unmapped.c.
test_support_unmapped_la_SOURCES = test/support/unmapped.c
test_support_unmapped_la_LIBADD = -ldl
test_support_unmapped_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

EXTRA_DIST += test/support/run-mpi test/support/launch.sh test/support/tap.sh \
	test/support/capitals \
	test/support/on_nodes.sh test/support/suites.sh test/support/tsan.supp

# For targets that run the tests in ways of their own.
check-programs:
	$(MAKE) check TESTS=
.PHONY: check-programs

check_PROGRAMS += test/support/selftest.mpi
TESTS += test/support/selftest.mpi
test_support_selftest_mpi_SOURCES = test/support/selftest.c
test_support_selftest_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/support/misbehave.mpi
TESTS += test/support/harness.sh
EXTRA_DIST += test/support/harness.sh
test_support_misbehave_mpi_SOURCES = test/support/misbehave.c
test_support_misbehave_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/support/faulty.mpi
TESTS += test/support/faulty.mpi
test_support_faulty_mpi_SOURCES = test/support/faulty.c
test_support_faulty_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

# Reads datasets with netCDF-C.
if HAVE_NETCDF
check_PROGRAMS += test/support/nc_read
test_support_nc_read_SOURCES = test/support/nc_read.c test/support/element_sum.h
test_support_nc_read_LDADD = -lnetcdf
endif

# Bodies under valgrind, on one process: `make memcheck`.
EXTRA_DIST += test/support/memcheck test/support/valgrind.supp
MEMCHECK = test/driver/statistics.mpi test/driver/call_counts.mpi test/mpio/ways.mpi \
	test/mpio/node.mpi test/mpio/segments.mpi test/api/records.mpi \
	test/api/redefine.mpi test/api/fill.mpi \
	test/api/flexible.mpi test/api/nonblocking_data.mpi test/api/nonblocking_buffered.mpi \
	test/api/nonblocking_kept.mpi \
	test/api/attributes.mpi test/burst/burst_data.mpi test/burst/burst_deferred.mpi
memcheck: $(MEMCHECK)
	$(BASH_PATH) $(srcdir)/test/support/memcheck $(MEMCHECK:%=./%)
.PHONY: memcheck
