cdl_sources = \
	src/lib/cdl/cdl.h src/lib/cdl/cdl_reader.h src/lib/cdl/cdl_values.h \
	src/lib/cdl/cdl_define.c \
	src/lib/cdl/cdl_grammar.y \
	src/lib/cdl/cdl_number.c \
	src/lib/cdl/cdl_read.c \
	src/lib/cdl/cdl_scanner.l \
	src/lib/cdl/cdl_values.c
libserial_la_SOURCES += $(cdl_sources)

# What flex and bison make of them goes into the tarball. Bison's own words are no mistake.
AM_YFLAGS = -d -Wno-yacc
BUILT_SOURCES += src/lib/cdl/cdl_grammar.h
src/lib/cdl/cdl_read.lo src/lib/cdl/cdl_scanner.lo: src/lib/cdl/cdl_grammar.h
