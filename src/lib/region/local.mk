libserial_la_SOURCES += \
	src/lib/region/region.c src/lib/region/region.h src/lib/region/region_tree.h \
	src/lib/region/region_cursor.c src/lib/region/region_pack.c
libcore_la_SOURCES += src/lib/region/region_mpi.c src/lib/region/region_mpi.h
