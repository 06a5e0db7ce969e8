# Tests speak TAP. By the file's ending: .unit, a cmocka program without MPI;
# .mpi, a program that test/support/run-mpi crosses with formats and process counts;
# .sh, a script.
TEST_EXTENSIONS = .unit .mpi .sh
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
UNIT_LOG_DRIVER = $(TAP_DRIVER)
MPI_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_DRIVER = $(TAP_DRIVER)
UNIT_LOG_COMPILER = env CMOCKA_MESSAGE_OUTPUT=TAP \
	ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
MPI_LOG_COMPILER = $(BASH_PATH) $(srcdir)/test/support/run-mpi
SH_LOG_COMPILER = $(BASH_PATH)
AM_TESTS_ENVIRONMENT = DOXYGEN='$(DOXYGEN)'; MPICC='$(MPICC)'; MPICXX='$(MPICXX)'; MPIF77='$(MPIF77)'; MPIF90='$(MPIF90)'; MPIEXEC='$(MPIEXEC)'; MPI_FLAVOUR='$(mpi_flavour)'; \
	NCMPI_YIELD='$(abs_builddir)/test/support/.libs/yield.so'; \
	ASAN_OPTIONS='$(MPI_ASAN_OPTIONS)'; UBSAN_OPTIONS=print_stacktrace=1; \
	TSAN_OPTIONS='suppressions=$(abs_srcdir)/test/support/tsan.supp'; UCX_MEM_EVENTS=n; \
	export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS UCX_MEM_EVENTS; \
	HAVE_MPI_F08='$(have_mpi_f08)'; HAVE_NETCDFF='$(have_netcdff)'; NETCDFF_DIR='$(NETCDFF_DIR)'; \
	export HAVE_MPI_F08 HAVE_NETCDFF NETCDFF_DIR; \
	export DOXYGEN MPICC MPICXX MPIF77 MPIF90 MPIEXEC MPI_FLAVOUR NCMPI_YIELD;
# With --enable-sanitizers: MPI libraries leak, yield.so is loaded first, and too much
# memory is asked for on purpose. UCX watches memory through hooks that a thread's end runs
# into after ThreadSanitizer has left it.
MPI_ASAN_OPTIONS = detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1

include test/support/local.mk
include test/examples/local.mk
include test/base/local.mk
include test/cdf/local.mk
include test/conv/local.mk
include test/cdl/local.mk
include test/region/local.mk
include test/node/local.mk
include test/twophase/local.mk
include test/driver/local.mk
include test/mpio/local.mk
include test/blob/local.mk
include test/burst/local.mk
include test/stage/local.mk
include test/api/local.mk
include test/f90/local.mk
include test/cxx/local.mk
include test/differ/local.mk
include test/random/local.mk
include test/f77/local.mk
include test/serial/local.mk
include test/formats/local.mk
include test/utils/local.mk
include test/house/local.mk
include test/fuzz/local.mk

# One test, make check-one T=test/ROOM/NAME.mpi; or those of a room, make check-ROOM. They
# build what these tests run, and no more.
check-one:
	@test -n "$(T)" || { echo "usage: make check-one T=test/ROOM/NAME.mpi" >&2; exit 1; }
	@$(MAKE) $(AM_MAKEFLAGS) check-chosen CHOSEN='$(T)'
check_rooms = check-base check-cdf check-conv check-cdl check-region check-node check-twophase check-driver check-mpio \
	check-blob check-burst check-stage check-api check-f90 check-cxx check-differ \
	check-random check-f77 check-serial check-utils check-house check-fuzz check-examples
$(check_rooms):
	@room=$@; $(MAKE) $(AM_MAKEFLAGS) check-chosen CHOSEN="`printf '%s\n' $(TESTS) | \
		grep "^test/$${room#check-}/" | tr '\n' ' '`"
check-chosen: all
	@$(MAKE) $(AM_MAKEFLAGS) $(check_LTLIBRARIES) $(BUILT_SOURCES) \
		`printf '%s\n' $(check_PROGRAMS) $(EXTRA_PROGRAMS) | \
		$(BASH_PATH) $(srcdir)/test/support/needs $(CHOSEN)`
	@$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(CHOSEN)' check_PROGRAMS= \
		check_LTLIBRARIES= check_SCRIPTS= check_DATA=
.PHONY: check-one check-chosen $(check_rooms)
EXTRA_DIST += test/support/needs

# For scripts that run some of them.
print-tests:
	@printf '%s\n' $(TESTS)
.PHONY: print-tests
