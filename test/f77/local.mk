# Tests for the nfmpi_ functions: Fortran programs, run like the other MPI tests. They share code in
# f77_check.f (Fortran) and f77_helper.c (C).
CLEANFILES += test/f77/f77_every.f test/f77/f77_every90.f90
AM_FFLAGS = -I$(builddir)/include -I$(srcdir)/include -I$(srcdir)/test/f77 $(FORTRAN_CHECKS)
AM_FCFLAGS = $(AM_FFLAGS)

test/f77/f77_every.f: test/f77/f77_every.m4 $(F77_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -D FORM=77 -I $(srcdir)/src/tables \
		$(srcdir)/test/f77/f77_every.m4 > $@.tmp && mv $@.tmp $@
test/f77/f77_every90.f90: test/f77/f77_every.m4 $(F77_TABLES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -D FORM=90 -I $(srcdir)/src/tables \
		$(srcdir)/test/f77/f77_every.m4 > $@.tmp && mv $@.tmp $@

if HAVE_FORTRAN
check_LTLIBRARIES += libf77test.la
libf77test_la_SOURCES = test/f77/f77_check.f test/f77/f77_helper.c \
	test/f77/f77_twin_c.c
F77_TEST_LIBS = libf77test.la libpnetcdf.la

check_PROGRAMS += test/f77/f77_every.mpi test/f77/f77_every90.mpi
TESTS += test/f77/f77_every.mpi test/f77/f77_every90.mpi
nodist_test_f77_f77_every_mpi_SOURCES = test/f77/f77_every.f
test_f77_f77_every_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_every_mpi_LDFLAGS = -static
nodist_test_f77_f77_every90_mpi_SOURCES = test/f77/f77_every90.f90
test_f77_f77_every90_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_every90_mpi_LDFLAGS = -static
endif
