# conv_loops.c is generated, and compiled with flags of its own: for any processor,
# and again for those with AVX2.
libserial_la_SOURCES += \
	src/lib/conv/conv.c src/lib/conv/conv.h \
	src/lib/conv/conv_bytes.h src/lib/conv/conv_loops.h
libserial_la_LIBADD += libconv_plain.la

noinst_LTLIBRARIES += libconv_plain.la
nodist_libconv_plain_la_SOURCES = src/lib/conv/conv_loops.c
libconv_plain_la_CPPFLAGS = $(AM_CPPFLAGS) -DCONV_LOOPS=conv_loops_plain
libconv_plain_la_CFLAGS = $(AM_CFLAGS) $(CONV_CFLAGS)

if CONV_AVX2
libserial_la_LIBADD += libconv_avx2.la
noinst_LTLIBRARIES += libconv_avx2.la
nodist_libconv_avx2_la_SOURCES = src/lib/conv/conv_loops.c
libconv_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DCONV_LOOPS=conv_loops_avx2
libconv_avx2_la_CFLAGS = $(AM_CFLAGS) $(CONV_CFLAGS) -mavx2
endif

EXTRA_DIST += src/lib/conv/conv_loops.c.m4
BUILT_SOURCES += src/lib/conv/conv_loops.c
CLEANFILES += src/lib/conv/conv_loops.c

src/lib/conv/conv_loops.c: $(srcdir)/src/lib/conv/conv_loops.c.m4
	$(AM_V_GEN)$(MKDIR_P) src/lib/conv && \
		$(M4) -P $(srcdir)/src/lib/conv/conv_loops.c.m4 > $@.tmp && mv $@.tmp $@
