# The harness. run-mpi starts the MPI tests, which are linked with libcheck. All libraries are
# convenience libraries, so the programs are real executables that the launcher can start without a
# libtool script.
AM_CPPFLAGS += -I$(srcdir)/test/support
MPI_TEST_LIBS = libcheck.la libcore.la

check_LTLIBRARIES = libcheck.la libfault.la test/support/yield.la \
	test/support/other_fs.la test/support/fault.la test/support/opens.la
libcheck_la_SOURCES = test/support/check.c test/support/cases.c

# Fault injection into file functions. To use it, add libfault.la to a test's line, or preload the
# module. Add fault_mpi.c for faults in MPI calls, and fault_socket.c for faults in socket, pipe and
# thread calls.
libfault_la_SOURCES = test/support/fault.c
libfault_la_LIBADD = -ldl
test_support_fault_la_SOURCES =
test_support_fault_la_LIBADD = libfault.la
test_support_fault_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

# Makes the library's allocations fail, in tests that use shortage.c.
SHORTAGE_WRAP = -Wl,--wrap=base_malloc -Wl,--wrap=base_calloc \
	-Wl,--wrap=base_realloc -Wl,--wrap=base_strdup

# Makes calls to malloc and its siblings fail, in tests that use short_memory.c.
SHORT_MEMORY = -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

# A module that is preloaded into MPICH's processes; see yield.c.
test_support_yield_la_SOURCES = test/support/yield.c
test_support_yield_la_LIBADD = -ldl
test_support_yield_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

# Makes a program's files appear to be on a different type of file system; see other_fs.c.
test_support_other_fs_la_SOURCES = test/support/other_fs.c
test_support_other_fs_la_LIBADD = -ldl
test_support_other_fs_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

# Records which files a program creates, opens, or accesses by name; see opens.c.
test_support_opens_la_SOURCES = test/support/opens.c
test_support_opens_la_LIBADD = -ldl
test_support_opens_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

EXTRA_DIST += test/support/run-mpi test/support/capitals test/support/nodes test/support/memcheck \
	test/support/link

# Links C test programs. Used in lines that dev/listed writes.
TEST_LINK = $(SHELL) $(srcdir)/test/support/link $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) \
	$(LDFLAGS) -o $@

# Runs these tests under valgrind, on one process: `make memcheck`.
MEMCHECK = test/driver/statistics.mpi test/driver/call_counts.mpi test/mpio/ways.mpi \
	test/mpio/node.mpi test/mpio/segments.mpi test/api/records.mpi \
	test/api/redefine.mpi test/api/fill.mpi \
	test/api/flexible.mpi test/api/nonblocking_data.mpi test/api/nonblocking_buffered.mpi \
	test/api/nonblocking_kept.mpi \
	test/api/attributes.mpi test/api/quantize.mpi test/burst/burst_data.mpi test/burst/burst_deferred.mpi
memcheck: $(MEMCHECK)
	$(BASH_PATH) $(srcdir)/test/support/memcheck $(MEMCHECK:%=./%)
.PHONY: memcheck
