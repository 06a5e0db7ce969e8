# Module pnetcdf, for Fortran 90 and later.
F90_PARTS = src/binding/f90/pnetcdf.f90.m4 src/binding/f90/f90_generics.m4 \
	src/binding/f90/f90_f08.m4 src/binding/f90/f90_file.m4 \
	src/binding/f90/f90_define.m4 src/binding/f90/f90_data.m4
if HAVE_MPI_F08
F90_M4FLAGS = -D HAVE_MPI_F08
endif

if HAVE_F90
noinst_LTLIBRARIES += libf90.la
libpnetcdf_la_LIBADD += libf90.la
nodist_libf90_la_SOURCES = src/binding/f90/pnetcdf.f90
# Compiled without the run-time checks that the tests use, because the library must not depend on
# Fortran's run-time library.
libf90_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/binding/f77
libf90_la_FCFLAGS = -Iinclude $(FC_MODOUT)include
nodist_include_HEADERS += include/pnetcdf.mod
CLEANFILES += src/binding/f90/pnetcdf.f90 include/pnetcdf_nf90.inc include/pnetcdf.mod
DISTCLEANFILES += include/ISO_Fortran_binding.h

src/binding/f90/pnetcdf.f90: $(F90_PARTS) src/binding/f90/f90_tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -I $(srcdir)/src/binding/f90 $(F90_M4FLAGS) \
		$(srcdir)/src/binding/f90/pnetcdf.f90.m4 > $@.tmp && mv $@.tmp $@

include/pnetcdf_nf90.inc: include/pnetcdf.inc src/binding/f90/f90_constants.awk
	$(AM_V_GEN)$(AWK) -f $(srcdir)/src/binding/f90/f90_constants.awk include/pnetcdf.inc > $@.tmp && \
		mv $@.tmp $@

# Lists all objects, because a rule for a single object would replace automake's rule.
$(libf90_la_OBJECTS): include/pnetcdf.inc include/pnetcdf_nf90.inc

# The compiler writes the module file together with the object file.
include/pnetcdf.mod: $(libf90_la_OBJECTS)
	@test -f $@ || { rm -f $(libf90_la_OBJECTS); $(MAKE) $(AM_MAKEFLAGS) $(libf90_la_OBJECTS); }
endif
