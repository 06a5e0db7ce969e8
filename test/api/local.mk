# tests: api
TESTS += test/api/header.sh test/api/reference.sh
EXTRA_DIST += test/api/header.sh test/api/reference.sh test/api/functions.txt test/api/functions.awk \
	test/api/prototypes.awk test/api/constants.txt

# Programs that go through all functions by a table, generated as they are.
EXTRA_DIST += test/api/api_calls.c.m4
CLEANFILES += test/api/api_calls.c
test/api/api_calls.c: test/api/api_calls.c.m4 src/tables/tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -I $(srcdir)/src/tables \
		$(srcdir)/test/api/api_calls.c.m4 > $@.tmp && mv $@.tmp $@

check_LTLIBRARIES += libcalls.la
libcalls_la_SOURCES = test/api/api_calls.h
nodist_libcalls_la_SOURCES = test/api/api_calls.c
libcalls_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api

check_PROGRAMS += test/api/api_every.mpi
TESTS += test/api/api_every.mpi
test_api_api_every_mpi_SOURCES = test/api/api_every.c
test_api_api_every_mpi_LDADD = libcalls.la $(MPI_TEST_LIBS)
