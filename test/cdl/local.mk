if HAVE_CMOCKA
cdl_units = test/cdl/cdl_header.unit test/cdl/cdl_memory.unit test/cdl/cdl_values.unit
check_PROGRAMS += $(cdl_units)
TESTS += $(cdl_units)

cdl_text = test/cdl/cdl_text.c test/cdl/cdl_text.h
test_cdl_cdl_header_unit_SOURCES = test/cdl/cdl_header_test.c $(cdl_text)
test_cdl_cdl_header_unit_LDADD = libserial.la -lcmocka
test_cdl_cdl_memory_unit_SOURCES = test/cdl/cdl_memory_test.c $(cdl_text) $(short_memory)
test_cdl_cdl_memory_unit_LDADD = libserial.la -lcmocka
test_cdl_cdl_memory_unit_LDFLAGS = $(SHORT_MEMORY)
test_cdl_cdl_values_unit_SOURCES = test/cdl/cdl_values_test.c $(cdl_text)
test_cdl_cdl_values_unit_LDADD = libserial.la -lcmocka
endif

check_PROGRAMS += test/cdl/cdl_same
test_cdl_cdl_same_SOURCES = test/cdl/cdl_same.c
test_cdl_cdl_same_LDADD = libserial.la
TESTS += test/cdl/cdl_dumped.sh
EXTRA_DIST += test/cdl/cdl_dumped.sh
