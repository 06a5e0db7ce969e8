# nfmpi_*, for Fortran 77 and later: C functions with the names that Fortran compilers generate, and
# pnetcdf.inc.
F77_TABLES = src/tables/tables.m4 src/tables/f77_tables.m4

F77_TYPED = src/binding/f77/f77_data_put.c src/binding/f77/f77_data_get.c \
	src/binding/f77/f77_data_iput.c src/binding/f77/f77_data_iget.c \
	src/binding/f77/f77_data_bput.c
CLEANFILES += $(F77_TYPED) src/binding/f77/f77_plain.c

$(F77_TYPED): src/tables/f77_data.c.m4 $(F77_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
		mode=`echo $@ | sed 's/.*f77_data_//; s/\.c$$//'` && \
		$(M4) -P -I $(srcdir)/src/tables -D MODE=$$mode \
			$(srcdir)/src/tables/f77_data.c.m4 > $@.tmp && mv $@.tmp $@

src/binding/f77/f77_plain.c: src/tables/f77_plain.c.m4 $(F77_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -I $(srcdir)/src/tables \
		$(srcdir)/src/tables/f77_plain.c.m4 > $@.tmp && mv $@.tmp $@

# Generated in include, because programs in the source tree look for it there.
include/pnetcdf.inc: src/binding/f77/pnetcdf.inc.m4 src/binding/f77/f77_constants.awk \
		src/binding/f77/f77_constants.txt include/pnetcdf.h $(F77_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { $(AWK) -f $(srcdir)/src/binding/f77/f77_constants.awk \
			include/pnetcdf.h \
			$(srcdir)/src/binding/f77/f77_constants.txt && \
		$(M4) -P -I $(srcdir)/src/tables $(srcdir)/src/binding/f77/pnetcdf.inc.m4; \
		} > $@.tmp && mv $@.tmp $@
if HAVE_FORTRAN
made_headers += include/pnetcdf.inc
nodist_include_HEADERS += include/pnetcdf.inc
include_HEADERS += include/pnetcdf_ext.inc
BUILT_SOURCES += include/pnetcdf.inc

noinst_LTLIBRARIES += libf77.la
libpnetcdf_la_LIBADD += libf77.la
nodist_libf77_la_SOURCES = $(F77_TYPED) src/binding/f77/f77_plain.c
libf77_la_SOURCES += $(f77_message_sources)
libf77_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/binding/f77
endif
