if HAVE_CMOCKA
cdf_units = test/cdf/cdf_decode.unit test/cdf/cdf_roundtrip.unit
check_PROGRAMS += $(cdf_units)
TESTS += $(cdf_units)

cdf_random = test/cdf/cdf_random.c test/cdf/cdf_random.h
test_cdf_cdf_decode_unit_SOURCES = test/cdf/cdf_decode_test.c $(cdf_random)
test_cdf_cdf_decode_unit_LDADD = libserial.la -lcmocka
test_cdf_cdf_roundtrip_unit_SOURCES = test/cdf/cdf_roundtrip_test.c $(cdf_random)
test_cdf_cdf_roundtrip_unit_LDADD = libserial.la -lcmocka
endif
