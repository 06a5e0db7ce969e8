# libpnetcdf_serial: the serial library's functions nc_* and nf_*, implemented with libpnetcdf's
# functions. It is a separate library, because libpnetcdf must not export names that belong to
# netCDF.
SERIAL_TABLES = $(F77_TABLES) src/binding/serial/serial_tables.m4
SERIAL_M4 = $(M4) -P -I $(srcdir)/src/tables -I $(srcdir)/src/binding/serial
SERIAL_MADE = src/binding/serial/serial_data.c src/binding/serial/serial_nf_typed.c
made_headers += include/pnetcdf_serial/netcdf.h
CLEANFILES += $(SERIAL_MADE)

src/binding/serial/serial_data.c: src/binding/serial/serial_data.c.m4 $(SERIAL_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SERIAL_M4) \
		$(srcdir)/src/binding/serial/serial_data.c.m4 > $@.tmp && mv $@.tmp $@
src/binding/serial/serial_nf_typed.c: src/binding/serial/serial_nf_typed.c.m4 $(SERIAL_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SERIAL_M4) \
		$(srcdir)/src/binding/serial/serial_nf_typed.c.m4 > $@.tmp && mv $@.tmp $@
include/pnetcdf_serial/netcdf.h: src/binding/serial/netcdf.h.m4 $(SERIAL_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SERIAL_M4) \
		$(srcdir)/src/binding/serial/netcdf.h.m4 > $@.tmp && mv $@.tmp $@

# The parameters are the same as in pnetcdf.inc, except for these array lengths.
include/pnetcdf_serial/netcdf.inc: src/binding/serial/netcdf.inc.m4 include/pnetcdf.inc \
		$(SERIAL_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { sed -e '/nfmpi_/d' -e '/^! functions/d' \
			-e 's/(nf_max_dims=.*)/(nf_max_dims=1024)/' \
			-e 's/(nf_max_attrs=.*)/(nf_max_attrs=8192)/' \
			-e 's/(nf_max_vars=.*)/(nf_max_vars=8192)/' include/pnetcdf.inc && \
		$(SERIAL_M4) $(srcdir)/src/binding/serial/netcdf.inc.m4; } > $@.tmp && mv $@.tmp $@

serialdir = $(includedir)/pnetcdf_serial
nodist_serial_HEADERS = include/pnetcdf_serial/netcdf.h
BUILT_SOURCES += include/pnetcdf_serial/netcdf.h
lib_LTLIBRARIES += libpnetcdf_serial.la
nodist_libpnetcdf_serial_la_SOURCES = src/binding/serial/serial_data.c
libpnetcdf_serial_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/binding/serial \
	-I$(srcdir)/src/binding/f77
libpnetcdf_serial_la_LIBADD = libpnetcdf.la
libpnetcdf_serial_la_LDFLAGS = -version-info 0:0:0 $(LIBRARY_RELEASE) -no-undefined \
	$(LIBRARY_RUNPATH)
if HAVE_FORTRAN
nodist_serial_HEADERS += include/pnetcdf_serial/netcdf.inc
BUILT_SOURCES += include/pnetcdf_serial/netcdf.inc
made_headers += include/pnetcdf_serial/netcdf.inc
nodist_libpnetcdf_serial_la_SOURCES += src/binding/serial/serial_nf_typed.c
libpnetcdf_serial_la_SOURCES += $(f77_message_sources)
endif
