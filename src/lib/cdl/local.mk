cdl_sources = \
	src/lib/cdl/cdl.h src/lib/cdl/cdl_scan.h src/lib/cdl/cdl_values.h \
	src/lib/cdl/cdl_header.c \
	src/lib/cdl/cdl_load.c \
	src/lib/cdl/cdl_number.c \
	src/lib/cdl/cdl_scan.c \
	src/lib/cdl/cdl_values.c
libserial_la_SOURCES += $(cdl_sources)
