# Tests write TAP. The suffix of a test determines its kind. A .unit test is a cmocka program
# without MPI. A .mpi test is a program that test/support/run-mpi runs with each format and several
# process counts. A .sh test is a script.
TEST_EXTENSIONS = .unit .mpi .sh
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
UNIT_LOG_DRIVER = $(TAP_DRIVER)
MPI_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_DRIVER = $(TAP_DRIVER)
# A unit test that takes more than a minute is ended, and has failed.
UNIT_LOG_COMPILER = timeout -k 5 $${NCMPI_TEST_TIME_SCALE:-1}m env CMOCKA_MESSAGE_OUTPUT=TAP \
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
# Options for --enable-sanitizers. MPI libraries leak, yield.so is loaded before the sanitizer, and
# some tests request too much memory on purpose. UCX_MEM_EVENTS=n is needed because UCX's memory
# hooks would otherwise be called at the end of a thread, after ThreadSanitizer has released it.
MPI_ASAN_OPTIONS = detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1

include test/support/local.mk
include test/f77/local.mk
include test/f90/local.mk
include test/fuzz/local.mk
include test/long.mk

# A table of the functions in the interface, generated from the same source as the functions, and
# the parts of random programs that use it.
check_LTLIBRARIES += libcalls.la
libcalls_la_SOURCES = test/api/api_calls.h test/support/access.c test/support/plan_slab.c \
	test/support/plan_value.c
nodist_libcalls_la_SOURCES = test/api/api_calls.c
libcalls_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api
CLEANFILES += test/api/api_calls.c
test/api/api_calls.c: test/api/api_calls.c.m4 src/tables/tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -I $(srcdir)/src/tables \
		$(srcdir)/test/api/api_calls.c.m4 > $@.tmp && mv $@.tmp $@

if BURST
# A preloadable module that counts the system calls of any program, as burst_killed counts its own.
check_LTLIBRARIES += test/burst/calls.la
test_burst_calls_la_SOURCES = test/burst/burst_calls.c test/burst/burst_shadow.c
test_burst_calls_la_CFLAGS = $(AM_CFLAGS) # separate objects
test_burst_calls_la_LIBADD = -ldl
test_burst_calls_la_LDFLAGS = -module -avoid-version -rpath /nonexistent
endif

# Tests of the C++ interface are linked with the convenience libraries, so the programs are real
# executables instead of libtool scripts.
CXX_TEST_LIBS = libcxx.la $(MPI_TEST_LIBS)
CXX_TEST_CPPFLAGS = $(AM_CPPFLAGS) $(CXX_MPI_CPPFLAGS) -I$(srcdir)/test/cxx

# Tests of libpnetcdf_serial. Each program is compiled twice: for this library and for netCDF.
serial_ours = libpnetcdf_serial.la libpnetcdf.la
serial_headers = -I$(builddir)/include/pnetcdf_serial -I$(builddir)/include
serial_fortran = -I$(builddir)/include/pnetcdf_serial $(FORTRAN_CHECKS)
netcdf_fortran = -I$(NETCDFF_DIR) $(FORTRAN_CHECKS)

test/driver/trace.log: test/driver/trace_calls

if HAVE_SANITIZERS
check_PROGRAMS += test/utils/ncmpidump_sanitized
test_utils_ncmpidump_sanitized_SOURCES = $(ncmpidump_SOURCES) $(libutil_la_SOURCES) \
	$(cdf_sources) $(base_serial_sources)
test_utils_ncmpidump_sanitized_CFLAGS = $(AM_CFLAGS) $(SANITIZE_CFLAGS)
test_utils_ncmpidump_sanitized_LDADD = libserial.la -lm
endif

EXTRA_DIST += test/burst/pnetcdf-logs test/examples/netcdf_par.c test/house/collective_sample.c test/house/walk.c \
	.clang-format .clang-tidy test/.clang-tidy .editorconfig test/house/lint
lint: all
	$(AM_V_at)$(BASH_PATH) $(srcdir)/test/house/lint $(DEFS) -I. $(AM_CPPFLAGS) \
		`$(MPICC) -show -c x.c | tr ' ' '\n' | grep '^-I'`
.PHONY: lint

# `make check-one T=test/MODULE/NAME.mpi` runs one test, and `make check-MODULE` runs those of a
# module. Only the prerequisites of these tests are built first: for scripts, all tools and
# libraries; for MPI programs, also the modules that they may preload, which are those whose names
# contain a directory.
check-one:
	@test -n "$(T)" || { echo "usage: make check-one T=test/MODULE/NAME.mpi" >&2; exit 1; }
	@$(MAKE) $(AM_MAKEFLAGS) check-chosen CHOSEN='$(T)'
$(check_modules):
	@module=$@; $(MAKE) $(AM_MAKEFLAGS) check-chosen CHOSEN="`printf '%s\n' $(TESTS) | \
		grep "^test/$${module#check-}/" | tr '\n' ' '`"
check-chosen: $(BUILT_SOURCES)
	@case '$(CHOSEN) ' in \
	*'.sh '*) needs='all $(check_LTLIBRARIES)' ;; \
	*'.mpi '*) needs=`printf '%s\n' $(check_LTLIBRARIES) | grep / | tr '\n' ' '` ;; \
	*) needs= ;; \
	esac && \
	needs="$$needs `printf '%s\n' $(bin_PROGRAMS) $(check_PROGRAMS) $(EXTRA_PROGRAMS) | \
		$(BASH_PATH) $(srcdir)/test/support/needs $(CHOSEN) | tr '\n' ' '`" && \
	{ test "$$needs" = ' ' || $(MAKE) $(AM_MAKEFLAGS) $$needs; }
	@$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(CHOSEN)' check_PROGRAMS= \
		check_LTLIBRARIES= check_SCRIPTS= check_DATA=
.PHONY: check-one check-chosen $(check_modules)
EXTRA_DIST += test/support/needs test/house/words.budget

# Prints the names of the tests, for scripts that run only some of them.
print-tests:
	@printf '%s\n' $(TESTS)
.PHONY: print-tests
