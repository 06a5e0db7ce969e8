if HAVE_CMOCKA
base_units = test/base/base_arena.unit test/base/base_error.unit \
	test/base/base_hints.unit test/base/base_ids.unit test/base/base_io.unit \
	test/base/base_mem.unit test/base/base_names.unit test/base/base_rights.unit \
	test/base/base_sort.unit test/base/base_worker.unit
check_PROGRAMS += $(base_units)
TESTS += $(base_units)

test_base_base_sort_unit_SOURCES = test/base/base_sort_test.c
test_base_base_sort_unit_LDADD = libserial.la -lcmocka
test_base_base_arena_unit_SOURCES = test/base/base_arena_test.c
test_base_base_arena_unit_LDADD = libserial.la -lcmocka
test_base_base_error_unit_SOURCES = test/base/base_error_test.c
test_base_base_error_unit_CFLAGS = $(AM_CFLAGS) -pthread
test_base_base_error_unit_LDADD = libserial.la -lcmocka
test_base_base_hints_unit_SOURCES = test/base/base_hints_test.c
test_base_base_hints_unit_LDADD = libserial.la -lcmocka
test_base_base_ids_unit_SOURCES = test/base/base_ids_test.c
test_base_base_ids_unit_CFLAGS = $(AM_CFLAGS) -pthread
test_base_base_ids_unit_LDADD = libserial.la -lcmocka
test_base_base_io_unit_SOURCES = test/base/base_io_test.c
test_base_base_io_unit_LDADD = libserial.la -lcmocka -ldl
test_base_base_mem_unit_SOURCES = test/base/base_mem_test.c
test_base_base_mem_unit_CFLAGS = $(AM_CFLAGS) -pthread
test_base_base_mem_unit_LDADD = libserial.la -lcmocka
test_base_base_names_unit_SOURCES = test/base/base_names_test.c
test_base_base_names_unit_LDADD = libserial.la -lcmocka
test_base_base_rights_unit_SOURCES = test/base/base_rights_test.c
test_base_base_rights_unit_LDADD = libserial.la -lcmocka
test_base_base_worker_unit_SOURCES = test/base/base_worker_test.c test/support/no_threads.h
test_base_base_worker_unit_CFLAGS = $(AM_CFLAGS) -pthread
test_base_base_worker_unit_LDADD = libserial.la -lcmocka -ldl
endif
