# The harness: run-mpi starts the MPI tests, libcheck is what they are made of.
# All is linked from convenience libraries, so that programs are what they seem, and
# no libtool script stands between the launcher and them.
AM_CPPFLAGS += -I$(srcdir)/test/support
MPI_TEST_LIBS = libcheck.la libcore.la

check_LTLIBRARIES = libcheck.la libfault.la test/support/yield.la \
	test/support/other_fs.la test/support/fault.la
libcheck_la_SOURCES = test/support/check.c test/support/cases.c

# Faults in file functions: add libfault.la to a test's line, or preload the module. With
# those: fault_mpi.c, calls of MPI; fault_socket.c, of sockets, pipes and threads.
libfault_la_SOURCES = test/support/fault.c
libfault_la_LIBADD = -ldl
test_support_fault_la_SOURCES =
test_support_fault_la_LIBADD = libfault.la
test_support_fault_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

# Shortage of memory, with shortage.c.
SHORTAGE_WRAP = -Wl,--wrap=base_malloc -Wl,--wrap=base_calloc \
	-Wl,--wrap=base_realloc -Wl,--wrap=base_strdup

# Memory that is short, with short_memory.c.
SHORT_MEMORY = -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

# The module that MPICH's processes are started with: see yield.c.
test_support_yield_la_SOURCES = test/support/yield.c
test_support_yield_la_LIBADD = -ldl
test_support_yield_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

# What a program is told of its file system: see other_fs.c.
test_support_other_fs_la_SOURCES = test/support/other_fs.c
test_support_other_fs_la_LIBADD = -ldl
test_support_other_fs_la_LDFLAGS = -module -avoid-version -rpath /nonexistent

EXTRA_DIST += test/support/run-mpi test/support/capitals test/support/nodes test/support/memcheck \
	test/support/link

# How programs in C are linked that dev/listed knows.
TEST_LINK = $(SHELL) $(srcdir)/test/support/link $(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) \
	$(LDFLAGS) -o $@

# Bodies under valgrind, on one process: `make memcheck`.
MEMCHECK = test/driver/statistics.mpi test/driver/call_counts.mpi test/mpio/ways.mpi \
	test/mpio/node.mpi test/mpio/segments.mpi test/api/records.mpi \
	test/api/redefine.mpi test/api/fill.mpi \
	test/api/flexible.mpi test/api/nonblocking_data.mpi test/api/nonblocking_buffered.mpi \
	test/api/nonblocking_kept.mpi \
	test/api/attributes.mpi test/api/quantize.mpi test/burst/burst_data.mpi test/burst/burst_deferred.mpi
memcheck: $(MEMCHECK)
	$(BASH_PATH) $(srcdir)/test/support/memcheck $(MEMCHECK:%=./%)
.PHONY: memcheck
