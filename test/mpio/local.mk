# tests: mpio
check_PROGRAMS += test/mpio/ways.mpi test/mpio/large.mpi
TESTS += test/mpio/ways.mpi test/mpio/large.mpi
test_mpio_ways_mpi_SOURCES = test/mpio/ways.c
test_mpio_ways_mpi_LDADD = $(MPI_TEST_LIBS)
test_mpio_large_mpi_SOURCES = test/mpio/large.c
test_mpio_large_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/mpio/file_io.mpi
TESTS += test/mpio/file_io.mpi
test_mpio_file_io_mpi_SOURCES = test/mpio/file_io.c test/driver/counts.h test/api/made_dataset.h
test_mpio_file_io_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
test_mpio_file_io_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/driver -I$(srcdir)/test/api

# What another program has added to a dataset, or changed, that is open here.
check_PROGRAMS += test/mpio/two_openings.mpi
TESTS += test/mpio/two_openings.mpi
test_mpio_two_openings_mpi_SOURCES = test/mpio/two_openings.c test/mpio/two_openings.h \
	test/api/made_dataset.h
test_mpio_two_openings_mpi_LDADD = $(MPI_TEST_LIBS)
test_mpio_two_openings_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api
if HAVE_NETCDF
check_PROGRAMS += test/mpio/beside_netcdf.mpi
TESTS += test/mpio/beside_netcdf.mpi
test_mpio_beside_netcdf_mpi_SOURCES = test/mpio/beside_netcdf.c test/mpio/two_openings.h \
	test/api/made_dataset.h
test_mpio_beside_netcdf_mpi_LDADD = $(MPI_TEST_LIBS) -lnetcdf
test_mpio_beside_netcdf_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api
endif

check_PROGRAMS += test/mpio/shared_open.mpi
TESTS += test/mpio/shared_open.mpi
test_mpio_shared_open_mpi_SOURCES = test/mpio/shared_open.c test/driver/counts.h test/api/made_dataset.h
test_mpio_shared_open_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
test_mpio_shared_open_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/driver -I$(srcdir)/test/api

# Short pieces in each other's holes. check-holes: a million calls; TMPDIR says on what
# file system.
check_PROGRAMS += test/mpio/holes.mpi
TESTS += test/mpio/holes.mpi
test_mpio_holes_mpi_SOURCES = test/mpio/holes.c test/driver/counts.h test/api/made_dataset.h
test_mpio_holes_mpi_LDADD = $(MPI_TEST_LIBS)
test_mpio_holes_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/driver -I$(srcdir)/test/api
check-holes: test/mpio/holes.mpi
	@$(AM_TESTS_ENVIRONMENT) NCMPI_HOLES=$${NCMPI_HOLES:-100000} NCMPI_TEST_PROCS=4 \
		$(BASH_PATH) $(srcdir)/test/support/run-mpi test/mpio/holes.mpi
.PHONY: check-holes

# On the disk that is built on, whatever the other tests lie on.
TESTS += test/mpio/disk.sh
EXTRA_DIST += test/mpio/disk.sh

check_PROGRAMS += test/mpio/segments.mpi
TESTS += test/mpio/segments.mpi
test_mpio_segments_mpi_SOURCES = test/mpio/segments.c
test_mpio_segments_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/mpio/node.mpi
TESTS += test/mpio/node.mpi
test_mpio_node_mpi_SOURCES = test/mpio/node.c test/driver/counts.h
test_mpio_node_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
test_mpio_node_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/driver

check_PROGRAMS += test/mpio/node_memory.mpi
TESTS += test/mpio/node_memory.mpi
test_mpio_node_memory_mpi_SOURCES = test/mpio/node_memory.c test/support/shortage.c \
	test/support/shortage.h
test_mpio_node_memory_mpi_LDFLAGS = $(SHORTAGE_WRAP)
test_mpio_node_memory_mpi_LDADD = $(MPI_TEST_LIBS)
TESTS += test/mpio/nodes.sh
EXTRA_DIST += test/mpio/nodes.sh test/support/nodes

# With every way of transfer forced: a sample, and all.
TESTS += test/mpio/ways_forced.sh
EXTRA_DIST += test/mpio/ways_forced.sh test/mpio/ways_suites.sh
check-ways: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/mpio/ways_suites.sh
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/blob/blob_suites.sh
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/stage/stage_suites.sh
.PHONY: check-ways

# Definitions that change: what is left when a call fails, or a process is killed.
check_PROGRAMS += test/mpio/redef_faults.mpi
TESTS += test/mpio/redef_faults.mpi
redef_change = test/mpio/redef_change.c test/mpio/redef_change.h
test_mpio_redef_faults_mpi_SOURCES = test/mpio/redef_faults.c $(redef_change)
test_mpio_redef_faults_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/mpio/redef_open_twice.mpi
TESTS += test/mpio/redef_open_twice.mpi
test_mpio_redef_open_twice_mpi_SOURCES = test/mpio/redef_open_twice.c test/api/made_dataset.h
test_mpio_redef_open_twice_mpi_LDADD = $(MPI_TEST_LIBS)
test_mpio_redef_open_twice_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api

check_PROGRAMS += test/mpio/redef_killed
TESTS += test/mpio/redef_kill.sh
EXTRA_DIST += test/mpio/redef_kill.sh
test_mpio_redef_killed_SOURCES = test/mpio/redef_killed.c $(redef_change) \
	test/burst/burst_calls.c test/burst/burst_calls.h test/support/stand_open.h \
	test/burst/burst_shadow.c test/burst/burst_shadow.h
test_mpio_redef_killed_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/burst
test_mpio_redef_killed_LDADD = libcore.la -ldl

# Every point at which a program can be killed, or lose power; takes hours.
check-redef-kill: check-programs
	@$(AM_TESTS_ENVIRONMENT) REDEF_KILL=all srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/mpio/redef_kill.sh
check-redef-faults: check-programs
	@$(AM_TESTS_ENVIRONMENT) SMALL_FS=all srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/mpio/small_fs.sh
	@$(AM_TESTS_ENVIRONMENT) NCMPI_FAULTS=all NCMPI_TEST_LIMIT=86400 $(BASH_PATH) \
		$(srcdir)/test/support/run-mpi test/mpio/redef_faults.mpi
.PHONY: check-redef-kill check-redef-faults
TESTS += test/mpio/redef_bad.sh test/mpio/redef_owner.sh test/mpio/redef_life.sh test/mpio/redef_two.sh test/mpio/small_fs.sh
EXTRA_DIST += test/mpio/redef_bad.sh test/mpio/redef_owner.sh test/mpio/redef_life.sh test/mpio/redef_two.sh test/mpio/small_fs.sh
