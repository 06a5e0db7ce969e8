if HAVE_CMOCKA
region_units = test/region/region_build.unit test/region/region_pack.unit \
	test/region/region_seek.unit test/region/region_memory.unit
check_PROGRAMS += $(region_units)
TESTS += $(region_units)

region_model = test/region/region_model.c test/region/region_model.h
test_region_region_build_unit_SOURCES = test/region/region_build_test.c $(region_model)
test_region_region_build_unit_LDADD = libserial.la -lcmocka
test_region_region_pack_unit_SOURCES = test/region/region_pack_test.c $(region_model)
test_region_region_pack_unit_LDADD = libserial.la -lcmocka
test_region_region_seek_unit_SOURCES = test/region/region_seek_test.c $(region_model)
test_region_region_seek_unit_LDADD = libserial.la -lcmocka
test_region_region_memory_unit_SOURCES = test/region/region_memory_test.c $(short_memory)
test_region_region_memory_unit_LDADD = libserial.la -lcmocka
test_region_region_memory_unit_LDFLAGS = $(SHORT_MEMORY)
endif

check_PROGRAMS += test/region/region_datatype.mpi
TESTS += test/region/region_datatype.mpi
test_region_region_datatype_mpi_SOURCES = test/region/region_datatype_test.c \
	test/region/region_types.c test/region/region_types.h
test_region_region_datatype_mpi_LDADD = $(MPI_TEST_LIBS)

