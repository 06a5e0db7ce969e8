# tests: burst
EXTRA_DIST += test/burst/burst_suites.sh test/burst/burst_kill.sh test/burst/ncmpilog.sh \
	test/burst/burst_bad.sh test/burst/burst_deferred.sh test/burst/burst_unmapped.sh
if BURST
if HAVE_CMOCKA
check_PROGRAMS += test/burst/burst_format.unit test/burst/burst_broken.unit
TESTS += test/burst/burst_format.unit test/burst/burst_broken.unit
test_burst_burst_format_unit_SOURCES = test/burst/burst_format_test.c
test_burst_burst_format_unit_LDADD = libserial.la -lcmocka
test_burst_burst_broken_unit_SOURCES = test/burst/burst_broken_test.c
test_burst_burst_broken_unit_LDADD = libserial.la -lcmocka
endif

check_PROGRAMS += test/burst/burst_data.mpi test/burst/burst_recover.mpi
TESTS += test/burst/burst_data.mpi test/burst/burst_recover.mpi
test_burst_burst_data_mpi_SOURCES = test/burst/burst_data.c
test_burst_burst_data_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
test_burst_burst_recover_mpi_SOURCES = test/burst/burst_recovery.c
test_burst_burst_recover_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/burst/burst_posted.mpi
TESTS += test/burst/burst_posted.mpi
test_burst_burst_posted_mpi_SOURCES = test/burst/burst_posted.c
test_burst_burst_posted_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/burst/burst_flush_start.mpi
TESTS += test/burst/burst_flush_start.mpi
test_burst_burst_flush_start_mpi_SOURCES = test/burst/burst_flush_start.c
test_burst_burst_flush_start_mpi_LDADD = $(MPI_TEST_LIBS)

# Closes that are deferred: what they promise, on which names, and with faults behind them.
burst_plan = test/burst/burst_plan.c test/burst/burst_plan.h
check_PROGRAMS += test/burst/burst_deferred.mpi
TESTS += test/burst/burst_deferred.mpi
test_burst_burst_deferred_mpi_SOURCES = test/burst/burst_deferred.c $(burst_plan)
test_burst_burst_deferred_mpi_LDADD = libfault.la $(MPI_TEST_LIBS) -ldl
check_PROGRAMS += test/burst/burst_guarded.mpi
TESTS += test/burst/burst_guarded.mpi
test_burst_burst_guarded_mpi_SOURCES = test/burst/burst_guarded.c $(burst_plan)
test_burst_burst_guarded_mpi_LDADD = $(MPI_TEST_LIBS)
check_PROGRAMS += test/burst/burst_deferred_faults.mpi
TESTS += test/burst/burst_deferred_faults.mpi
test_burst_burst_deferred_faults_mpi_SOURCES = test/burst/burst_deferred_faults.c $(burst_plan)
test_burst_burst_deferred_faults_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/burst/burst_hints.mpi
TESTS += test/burst/burst_hints.mpi
test_burst_burst_hints_mpi_SOURCES = test/burst/burst_hints.c test/burst/burst_stored.h
test_burst_burst_hints_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/burst/burst_faults.mpi
TESTS += test/burst/burst_faults.mpi
test_burst_burst_faults_mpi_SOURCES = test/burst/burst_faults.c test/burst/burst_stored.h $(fault_socket)
test_burst_burst_faults_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/burst/burst_again.mpi
TESTS += test/burst/burst_again.mpi
test_burst_burst_again_mpi_SOURCES = test/burst/burst_again.c
test_burst_burst_again_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/burst/burst_contested.mpi
TESTS += test/burst/burst_contested.mpi
test_burst_burst_contested_mpi_SOURCES = test/burst/burst_contested.c
test_burst_burst_contested_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/burst/burst_turns.mpi
TESTS += test/burst/burst_turns.mpi
test_burst_burst_turns_mpi_SOURCES = test/burst/burst_turns.c
test_burst_burst_turns_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/burst/burst_reads.mpi
TESTS += test/burst/burst_reads.mpi
test_burst_burst_reads_mpi_SOURCES = test/burst/burst_reads.c test/driver/counts.h
test_burst_burst_reads_mpi_LDADD = $(MPI_TEST_LIBS)
test_burst_burst_reads_mpi_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/driver

check_PROGRAMS += test/burst/burst_listing.mpi
TESTS += test/burst/burst_listing.mpi
test_burst_burst_listing_mpi_SOURCES = test/burst/burst_listing.c
test_burst_burst_listing_mpi_LDADD = $(MPI_TEST_LIBS) -ldl

check_PROGRAMS += test/burst/burst_redef.mpi
TESTS += test/burst/burst_redef.mpi
test_burst_burst_redef_mpi_SOURCES = test/burst/burst_redef.c test/support/stand_open.h
test_burst_burst_redef_mpi_LDADD = $(MPI_TEST_LIBS) -ldl

check_PROGRAMS += test/burst/burst_foreign
test_burst_burst_foreign_SOURCES = test/burst/burst_foreign.c
test_burst_burst_foreign_LDADD = libcore.la

check_PROGRAMS += test/burst/burst_hostile
test_burst_burst_hostile_SOURCES = test/burst/burst_hostile.c
test_burst_burst_hostile_LDADD = libcore.la
EXTRA_DIST += test/burst/pnetcdf-logs

# The calls that burst_killed counts, to be preloaded into other programs.
check_LTLIBRARIES += test/burst/calls.la
test_burst_calls_la_SOURCES = test/burst/burst_calls.c test/burst/burst_calls.h \
	test/burst/burst_shadow.c test/burst/burst_shadow.h
test_burst_calls_la_CFLAGS = $(AM_CFLAGS) # objects of its own
test_burst_calls_la_LIBADD = -ldl
test_burst_calls_la_LDFLAGS = -module -avoid-version -rpath /nonexistent
TESTS += test/burst/burst_beside.sh
EXTRA_DIST += test/burst/burst_beside.sh

check_PROGRAMS += test/burst/burst_killed
TESTS += test/burst/burst_kill.sh test/burst/burst_deferred.sh test/burst/ncmpilog.sh test/burst/burst_bad.sh \
	test/burst/burst_unmapped.sh
test_burst_burst_killed_SOURCES = test/burst/burst_killed.c test/burst/burst_calls.c \
	test/burst/burst_calls.h test/support/stand_open.h test/burst/burst_shadow.c test/burst/burst_shadow.h
test_burst_burst_killed_LDADD = libcore.la -ldl
endif

# The conformance and the random programs, once more with everything logged first.
check-burst-suites: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/burst/burst_suites.sh

# Every point at which a program can be killed, or lose power; takes an hour.
check-burst-kill: check-programs
	@$(AM_TESTS_ENVIRONMENT) BURST_KILL=all srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/burst/burst_kill.sh

# Two programs at the logs of a killed one, ever other ones; BURST_BESIDE rounds.
check-burst-beside: check-programs
	@$(AM_TESTS_ENVIRONMENT) BURST_BESIDE=$${BURST_BESIDE:-10000} srcdir=$(srcdir) \
		$(BASH_PATH) $(srcdir)/test/burst/burst_beside.sh
.PHONY: check-burst-suites check-burst-kill check-burst-beside
