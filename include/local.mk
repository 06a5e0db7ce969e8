# The public header: configure fills in versions and features, m4 the rest.
include_HEADERS =
nodist_include_HEADERS = include/pnetcdf.h
noinst_HEADERS = include/pnetcdf_constants.h
BUILT_SOURCES += include/pnetcdf.h
CLEANFILES += include/pnetcdf.h

include/pnetcdf.h: include/pnetcdf.h.m4 $(srcdir)/include/pnetcdf_constants.h
	$(AM_V_GEN)$(MKDIR_P) include && $(M4) -P -I $(srcdir)/src/tables -I $(srcdir)/include \
		include/pnetcdf.h.m4 > $@.tmp && mv $@.tmp $@
