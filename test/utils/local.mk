# Tests of the tools.
check_PROGRAMS += test/utils/random_classic
test_utils_random_classic_LDADD = libserial.la -lm

TESTS += test/utils/config_scripts.sh test/utils/cmake.sh
EXTRA_DIST += test/utils/config_scripts.sh test/utils/cmake.sh

dump_tests = test/utils/dump_random.sh test/utils/dump_options.sh \
	test/utils/dump_errors.sh test/utils/dump_roundtrip.sh test/utils/dump_json.sh
TESTS += $(dump_tests)
EXTRA_DIST += $(dump_tests) test/utils/dump_lib.sh

check_PROGRAMS += test/utils/broken_classic
check_PROGRAMS += test/utils/join_write
test_utils_join_write_LDADD = libpnetcdf.la
check_PROGRAMS += test/utils/foreign_write
test_utils_foreign_write_SOURCES = test/utils/foreign_write.c test/blob/foreign_make.c test/blob/foreign_make.h
test_utils_foreign_write_LDADD = libpnetcdf.la
check_PROGRAMS += doc/slow/slow_cases
doc_slow_slow_cases_SOURCES = doc/slow/slow_cases.c
doc_slow_slow_cases_LDADD = libpnetcdf.la
tool_tests = test/utils/usage.sh test/utils/hints_table.sh test/utils/trace_table.sh test/utils/trace_slow.sh test/utils/validator.sh test/utils/offsets.sh test/utils/diff.sh test/utils/copy.sh test/utils/join.sh test/utils/join_foreign.sh test/utils/gen.sh \
	test/utils/gen_syntax.sh test/utils/gen_random.sh \
	test/utils/tools_realdata.sh
TESTS += $(tool_tests)
EXTRA_DIST += $(tool_tests) test/utils/tool_lib.sh test/utils/random_cdl.awk

if HAVE_SANITIZERS
check_PROGRAMS += test/utils/ncmpidump_sanitized
test_utils_ncmpidump_sanitized_SOURCES = $(ncmpidump_SOURCES) $(libutil_la_SOURCES) \
	$(cdf_sources) $(base_serial_sources)
test_utils_ncmpidump_sanitized_CFLAGS = $(AM_CFLAGS) $(SANITIZE_CFLAGS)
test_utils_ncmpidump_sanitized_LDADD = libserial.la -lm
endif

if HAVE_CMOCKA
util_units = test/utils/util_number.unit test/utils/util_json.unit \
	test/utils/util_slab.unit test/utils/util_progress.unit test/utils/dump_date.unit
check_PROGRAMS += $(util_units)
TESTS += $(util_units)
test_utils_util_number_unit_SOURCES = test/utils/util_number_test.c
test_utils_util_number_unit_LDADD = libutil.la -lcmocka
test_utils_util_json_unit_SOURCES = test/utils/util_json_test.c
test_utils_util_json_unit_LDADD = libutil.la -lcmocka
test_utils_util_slab_unit_SOURCES = test/utils/util_slab_test.c
test_utils_util_slab_unit_LDADD = libutil.la -lcmocka
test_utils_util_progress_unit_SOURCES = test/utils/util_progress_test.c
test_utils_util_progress_unit_LDADD = libutil.la -lcmocka
test_utils_util_progress_unit_LDFLAGS = -Wl,--wrap=clock_gettime
test_utils_dump_date_unit_SOURCES = test/utils/dump_date_test.c \
	src/utils/ncmpidump/dump_calendar.c src/utils/ncmpidump/dump_date.c
test_utils_dump_date_unit_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/utils/ncmpidump
test_utils_dump_date_unit_LDADD = -lcmocka -lm
endif

# The same tests with more to do: minutes.
check-slow: $(check_PROGRAMS) $(bin_PROGRAMS)
	srcdir=$(srcdir) DUMP_SEEDS=100 $(BASH_PATH) $(srcdir)/test/utils/dump_random.sh
	srcdir=$(srcdir) CDL_SEEDS=200 $(BASH_PATH) $(srcdir)/test/utils/gen_random.sh
	srcdir=$(srcdir) DUMP_ALL=1 $(BASH_PATH) $(srcdir)/test/utils/dump_roundtrip.sh
.PHONY: check-slow

# All real files, the large ones too.
check-tools-realdata:
	REALDATA=all NCMPI_TEST_TIME_SCALE=8 $(MAKE) check TESTS=test/utils/tools_realdata.sh
.PHONY: check-tools-realdata
