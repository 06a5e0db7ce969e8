libserial_la_SOURCES += src/lib/region/region.h
libcore_la_SOURCES += src/lib/region/region_mpi.h
