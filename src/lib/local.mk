# libserial: the modules without MPI, for the tools, the fuzzers and the unit tests.
# libcore: everything; tests can also use hidden symbols.
# libpnetcdf: the library that is installed.
# files.list lists their sources. Modules that the fuzzers recompile have separate variables there.
noinst_LTLIBRARIES += libserial.la libcore.la
lib_LTLIBRARIES += libpnetcdf.la

libserial_la_SOURCES += $(base_serial_sources) $(subfile_sources) $(cdf_sources) \
	$(cdl_sources) $(journal_sources)
libserial_la_LIBADD =
libcore_la_LIBADD = libserial.la
libpnetcdf_la_SOURCES =
libpnetcdf_la_LIBADD = libcore.la
libpnetcdf_la_LDFLAGS = -version-info $(LIBRARY_VERSION_INFO) $(LIBRARY_RELEASE) -no-undefined \
	$(SYMBOL_VERSIONS)
EXTRA_libpnetcdf_la_DEPENDENCIES = $(srcdir)/src/lib/pnetcdf.map
EXTRA_DIST += src/lib/pnetcdf.map

# The tarball contains the output of flex and bison for cdl. -Wno-yacc: the grammar uses extensions
# of bison.
AM_YFLAGS = -d -Wno-yacc
BUILT_SOURCES += src/lib/cdl/cdl_grammar.h
src/lib/cdl/cdl_read.lo src/lib/cdl/cdl_scanner.lo: src/lib/cdl/cdl_grammar.h

# conv_loops.c is generated, and compiled twice with its own flags: for any processor, and for those
# with AVX2.
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
# Checksums are also compiled twice.
if XXHASH
libserial_la_LIBADD += libbase_avx2.la
noinst_LTLIBRARIES += libbase_avx2.la
libbase_avx2_la_SOURCES = src/lib/base/base_sum_avx2.c
libbase_avx2_la_CFLAGS = $(AM_CFLAGS) -mavx2
endif
endif

BUILT_SOURCES += src/lib/conv/conv_loops.c
CLEANFILES += src/lib/conv/conv_loops.c
src/lib/conv/conv_loops.c: $(srcdir)/src/lib/conv/conv_loops.c.m4
	$(AM_V_GEN)$(MKDIR_P) src/lib/conv && \
		$(M4) -P $(srcdir)/src/lib/conv/conv_loops.c.m4 > $@.tmp && mv $@.tmp $@

# Typed functions of the interface, generated from src/tables.
API_TYPED = src/lib/api/api_typed_put.c src/lib/api/api_typed_get.c \
	src/lib/api/api_typed_iput.c src/lib/api/api_typed_iget.c \
	src/lib/api/api_typed_bput.c src/lib/api/api_typed_mput.c \
	src/lib/api/api_typed_mget.c
nodist_libcore_la_SOURCES = $(API_TYPED) src/lib/api/api_typed_att.c
CLEANFILES += $(API_TYPED) src/lib/api/api_typed_att.c

$(API_TYPED): src/tables/api_typed.c.m4 src/tables/tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
		mode=`echo $@ | sed 's/.*api_typed_//; s/\.c$$//'` && \
		$(M4) -P -I $(srcdir)/src/tables -D MODE=$$mode \
			$(srcdir)/src/tables/api_typed.c.m4 > $@.tmp && mv $@.tmp $@

src/lib/api/api_typed_att.c: src/tables/api_typed_att.c.m4 src/tables/tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -I $(srcdir)/src/tables \
		$(srcdir)/src/tables/api_typed_att.c.m4 > $@.tmp && mv $@.tmp $@
