# tests: nfmpi_*. Programs in Fortran, run as the other MPI tests are; what two of them
# share is in f77_check.f (Fortran) and f77_helper.c (C).
EXTRA_DIST += test/f77/f77_names.txt test/f77/f77_values.txt test/f77/f77_every.m4 \
	test/f77/f77_every.inc test/f77/f77_symbols.sh test/f77/f77_examples.sh \
	test/f77/f77_names.sh
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
libf77test_la_SOURCES = test/f77/f77_check.f test/f77/f77_helper.c test/f77/f77_helper.h \
	test/f77/f77_twin_c.c
F77_TEST_LIBS = libf77test.la libpnetcdf.la

f77_tests = test/f77/f77_every.mpi test/f77/f77_every90.mpi test/f77/f77_define.mpi \
	test/f77/f77_twin.mpi test/f77/f77_river.mpi test/f77/f77_models.mpi
if HAVE_MPI_F08
f77_tests += test/f77/f77_f08.mpi
endif
check_PROGRAMS += $(f77_tests)
TESTS += $(f77_tests) test/f77/f77_symbols.sh test/f77/f77_examples.sh test/f77/f77_names.sh
nodist_test_f77_f77_every_mpi_SOURCES = test/f77/f77_every.f
test_f77_f77_every_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_every_mpi_LDFLAGS = -static
nodist_test_f77_f77_every90_mpi_SOURCES = test/f77/f77_every90.f90
test_f77_f77_every90_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_every90_mpi_LDFLAGS = -static
test_f77_f77_define_mpi_SOURCES = test/f77/f77_define.f
test_f77_f77_define_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_define_mpi_LDFLAGS = -static
test_f77_f77_twin_mpi_SOURCES = test/f77/f77_twin.f
test_f77_f77_twin_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_twin_mpi_LDFLAGS = -static
test_f77_f77_models_mpi_SOURCES = test/f77/f77_models.f
test_f77_f77_models_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_models_mpi_LDFLAGS = -static
test_f77_f77_river_mpi_SOURCES = test/f77/f77_river.f
test_f77_f77_river_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_river_mpi_LDFLAGS = -static
test_f77_f77_f08_mpi_SOURCES = test/f77/f77_f08.f90
test_f77_f77_f08_mpi_LDADD = $(F77_TEST_LIBS)
test_f77_f77_f08_mpi_LDFLAGS = -static

# Files of netCDF-Fortran are read, and ours by it.
if HAVE_NETCDFF
check_PROGRAMS += test/f77/f77_serial.mpi
TESTS += test/f77/f77_serial.mpi
test_f77_f77_serial_mpi_SOURCES = test/f77/f77_serial.f test/f77/f77_serial_nf.f
test_f77_f77_serial_mpi_FFLAGS = $(AM_FFLAGS) -I$(NETCDFF_DIR)
test_f77_f77_serial_mpi_LDADD = $(F77_TEST_LIBS) -lnetcdff -lnetcdf
test_f77_f77_serial_mpi_LDFLAGS = -static
endif
endif
