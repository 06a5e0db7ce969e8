# The C++ interface: the header pnetcdf, and classes that call the C functions.
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

# Generated in include, because programs in the source tree look for it there.
include/pnetcdf: $(CXX_HEADER_PARTS) $(CXX_TABLES)
	$(AM_V_GEN)$(CXX_M4) $(srcdir)/src/binding/cxx/cxx_pnetcdf.m4 > $@.tmp && mv $@.tmp $@

if HAVE_CXX
made_headers += include/pnetcdf
nodist_include_HEADERS += include/pnetcdf
BUILT_SOURCES += include/pnetcdf

noinst_LTLIBRARIES += libcxx.la
nodist_libcxx_la_SOURCES = $(CXX_TYPED) $(CXX_MADE)
libcxx_la_CPPFLAGS = $(AM_CPPFLAGS) $(CXX_MPI_CPPFLAGS) -I$(srcdir)/src/binding/cxx

if CXX_APART
# C programs must not load a C++ library, and C++ programs must link only with -lpnetcdf. C++ is
# therefore a separate shared library, and the installed libpnetcdf.so is a linker script that names
# both libraries, the C++ library under AS_NEEDED. (libpnetcdf.so.8, which programs load, is an
# actual library.) The static library contains both interfaces, because the linker takes only the
# members that a program needs.
lib_LTLIBRARIES += libpnetcdf_cxx.la
libpnetcdf_cxx_la_SOURCES =
libpnetcdf_cxx_la_LIBADD = libcxx.la libpnetcdf.la $(CXX_RUNTIME)
libpnetcdf_cxx_la_LDFLAGS = -shared -version-info 0:0:0 $(LIBRARY_RELEASE) -no-undefined \
	$(SYMBOL_VERSIONS) $(LIBRARY_RUNPATH)
EXTRA_libpnetcdf_cxx_la_DEPENDENCIES = $(srcdir)/src/lib/pnetcdf.map

# The script gets the time stamp of the library, because some tools look for the newest file.
install-exec-hook:
	$(AM_V_at)cd $(DESTDIR)$(libdir) && \
		c=`sed -n "s/^dlname='\(.*\)'/\1/p" $(abs_builddir)/libpnetcdf.la` && \
		cxx=`sed -n "s/^dlname='\(.*\)'/\1/p" $(abs_builddir)/libpnetcdf_cxx.la` && \
		rm -f libpnetcdf.so && \
		echo "/* GNU ld script */ INPUT($$c AS_NEEDED($$cxx))" >libpnetcdf.so && \
		touch -r "$$c" libpnetcdf.so
	$(AM_V_at)test ! -f $(DESTDIR)$(libdir)/libpnetcdf.a || { \
		rm -rf .libs/whole && mkdir .libs/whole && cd .libs/whole && \
		cp ../libpnetcdf.a . && $(AR) x ../libcxx.a && $(AR) $(ARFLAGS) libpnetcdf.a *.o && \
		$(RANLIB) libpnetcdf.a && \
		$(INSTALL_DATA) libpnetcdf.a $(DESTDIR)$(libdir)/libpnetcdf.a; }
else
libpnetcdf_la_LIBADD += libcxx.la $(CXX_RUNTIME)
endif
endif
