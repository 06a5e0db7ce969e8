if HAVE_CMOCKA
cdf_units = test/cdf/cdf_att.unit \
	test/cdf/cdf_compare.unit \
	test/cdf/cdf_decode.unit \
	test/cdf/cdf_layout.unit \
	test/cdf/cdf_memory.unit \
	test/cdf/cdf_model.unit \
	test/cdf/cdf_move.unit \
	test/cdf/cdf_roundtrip.unit
check_PROGRAMS += $(cdf_units)
TESTS += $(cdf_units)

cdf_random = test/cdf/cdf_random.c test/cdf/cdf_random.h
test_cdf_cdf_att_unit_SOURCES = test/cdf/cdf_att_test.c $(cdf_random)
test_cdf_cdf_att_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_compare_unit_SOURCES = test/cdf/cdf_compare_test.c $(cdf_random)
test_cdf_cdf_compare_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_decode_unit_SOURCES = test/cdf/cdf_decode_test.c $(cdf_random)
test_cdf_cdf_decode_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_layout_unit_SOURCES = test/cdf/cdf_layout_test.c $(cdf_random)
test_cdf_cdf_layout_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_memory_unit_SOURCES = test/cdf/cdf_memory_test.c $(cdf_random) $(short_memory)
test_cdf_cdf_memory_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_model_unit_SOURCES = test/cdf/cdf_model_test.c $(cdf_random)
test_cdf_cdf_model_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_move_unit_SOURCES = test/cdf/cdf_move_test.c $(cdf_random)
test_cdf_cdf_move_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_roundtrip_unit_SOURCES = test/cdf/cdf_roundtrip_test.c $(cdf_random)
test_cdf_cdf_roundtrip_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_memory_unit_LDFLAGS = $(SHORT_MEMORY)
endif

check_PROGRAMS += test/cdf/cdf_redefine
test_cdf_cdf_redefine_SOURCES = test/cdf/cdf_redefine.c
test_cdf_cdf_redefine_LDADD = libserial.la
TESTS += test/cdf/cdf_ncgen.sh
EXTRA_DIST += test/cdf/cdf_ncgen.sh
