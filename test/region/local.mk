if HAVE_CMOCKA
region_units = test/region/region_build.unit test/region/region_pack.unit \
	test/region/region_memory.unit
check_PROGRAMS += $(region_units)
TESTS += $(region_units)

region_model = test/region/region_model.c test/region/region_model.h
test_region_region_build_unit_SOURCES = test/region/region_build_test.c $(region_model)
test_region_region_build_unit_LDADD = libserial.la -lcmocka
test_region_region_pack_unit_SOURCES = test/region/region_pack_test.c $(region_model)
test_region_region_pack_unit_LDADD = libserial.la -lcmocka
test_region_region_memory_unit_SOURCES = test/region/region_memory_test.c
test_region_region_memory_unit_LDADD = libserial.la -lcmocka
test_region_region_memory_unit_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=realloc
endif
