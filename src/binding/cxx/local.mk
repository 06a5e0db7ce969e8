# The C++ interface: the header pnetcdf, and classes over the functions in C.
CXX_TABLES = src/tables/tables.m4 src/binding/cxx/cxx_tables.m4
CXX_HEADER_PARTS = src/binding/cxx/cxx_pnetcdf.m4 src/binding/cxx/cxx_exceptions.m4 \
	src/binding/cxx/cxx_types.m4 src/binding/cxx/cxx_names.m4 src/binding/cxx/cxx_var.m4 \
	src/binding/cxx/cxx_group.m4

CXX_TYPED = src/binding/cxx/cxx_data_put.cpp src/binding/cxx/cxx_data_get.cpp \
	src/binding/cxx/cxx_data_iput.cpp src/binding/cxx/cxx_data_iget.cpp \
	src/binding/cxx/cxx_data_bput.cpp
CXX_MADE = src/binding/cxx/cxx_exceptions.cpp src/binding/cxx/cxx_types.cpp \
	src/binding/cxx/cxx_netcdf4.cpp src/binding/cxx/cxx_atts.cpp
CLEANFILES += $(CXX_TYPED) $(CXX_MADE)
CXX_M4 = $(MKDIR_P) $(@D) && $(M4) -P -I $(srcdir)/src/tables -I $(srcdir)/src/binding/cxx

$(CXX_TYPED): src/binding/cxx/cxx_data.cpp.m4 $(CXX_TABLES)
	$(AM_V_GEN)mode=`echo $@ | sed 's/.*cxx_data_//; s/\.cpp$$//'` && $(CXX_M4) \
		-D MODE=$$mode $(srcdir)/src/binding/cxx/cxx_data.cpp.m4 > $@.tmp && mv $@.tmp $@

$(CXX_MADE): $(CXX_TABLES)
	$(AM_V_GEN)$(CXX_M4) $(srcdir)/$@.m4 > $@.tmp && mv $@.tmp $@
src/binding/cxx/cxx_exceptions.cpp: src/binding/cxx/cxx_exceptions.cpp.m4
src/binding/cxx/cxx_types.cpp: src/binding/cxx/cxx_types.cpp.m4
src/binding/cxx/cxx_netcdf4.cpp: src/binding/cxx/cxx_netcdf4.cpp.m4
src/binding/cxx/cxx_atts.cpp: src/binding/cxx/cxx_atts.cpp.m4

# Made in include, where programs of the tree find it.
include/pnetcdf: $(CXX_HEADER_PARTS) $(CXX_TABLES)
	$(AM_V_GEN)$(CXX_M4) $(srcdir)/src/binding/cxx/cxx_pnetcdf.m4 > $@.tmp && mv $@.tmp $@

if HAVE_CXX
made_headers += include/pnetcdf
nodist_include_HEADERS += include/pnetcdf
BUILT_SOURCES += include/pnetcdf

noinst_LTLIBRARIES += libcxx.la
libpnetcdf_la_LIBADD += libcxx.la $(CXX_RUNTIME)
nodist_libcxx_la_SOURCES = $(CXX_TYPED) $(CXX_MADE)
libcxx_la_CPPFLAGS = $(AM_CPPFLAGS) $(CXX_MPI_CPPFLAGS) -I$(srcdir)/src/binding/cxx
endif
