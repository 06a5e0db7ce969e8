# The public header. configure fills in versions and features, m4 the rest.
include_HEADERS =
nodist_include_HEADERS = include/pnetcdf.h include/pnetcdf_ext.h
noinst_HEADERS += include/pnetcdf_constants.h
BUILT_SOURCES += include/pnetcdf.h
# configure creates these headers, so `make distclean` removes them, but `make clean` does not.
made_headers = include/pnetcdf.h
public-headers: $(made_headers)
.PHONY: public-headers
DISTCLEANFILES += $(made_headers)
HEADER_PARTS = include/pnetcdf_file.m4 include/pnetcdf_define.m4 include/pnetcdf_data.m4

include/pnetcdf.h: include/pnetcdf.h.m4 $(srcdir)/include/pnetcdf_constants.h \
		$(HEADER_PARTS) src/tables/tables.m4
	$(AM_V_GEN)$(MKDIR_P) include && $(M4) -P -I $(srcdir)/src/tables -I $(srcdir)/include \
		include/pnetcdf.h.m4 > $@.tmp && mv $@.tmp $@
