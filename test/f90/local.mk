# Tests for module pnetcdf. The test bodies are written in Fortran, some of them generated, and are
# called by the C harness.
F90_TEST_TYPES = test/f90/f90_every_text.f90 test/f90/f90_every_int1.f90 \
	test/f90/f90_every_int2.f90 test/f90/f90_every_int.f90 test/f90/f90_every_int8.f90 \
	test/f90/f90_every_real.f90 test/f90/f90_every_double.f90
CLEANFILES += $(F90_TEST_TYPES)

if HAVE_NETCDFF
have_netcdff = yes
endif

if HAVE_F90
F90_TEST_FCFLAGS = -Iinclude -Itest/f90 $(FC_MODOUT)test/f90 $(FORTRAN_CHECKS)

# The Fortran part of the harness, which all tests share. It is built first, because the tests use
# its module. The main programs are in C, and the Fortran compiler links them.
check_LTLIBRARIES += libf90check.la
libf90check_la_SOURCES = test/f90/f90_checks.f90
libf90check_la_FCFLAGS = $(F90_TEST_FCFLAGS)
F90_TEST_LIBS = libf90check.la libf90.la libf77.la $(MPI_TEST_LIBS)
F90_LINK = $(LIBTOOL) $(AM_V_lt) --tag=FC $(AM_LIBTOOLFLAGS) $(LIBTOOLFLAGS) --mode=link \
	$(FCLD) $(FCFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -o $@

check_PROGRAMS += test/f90/f90_every.mpi
TESTS += test/f90/f90_every.mpi
test_f90_f90_every_mpi_SOURCES = test/f90/f90_types.c
nodist_test_f90_f90_every_mpi_SOURCES = $(F90_TEST_TYPES)
test_f90_f90_every_mpi_FCFLAGS = $(F90_TEST_FCFLAGS)
test_f90_f90_every_mpi_LDADD = $(F90_TEST_LIBS)
test_f90_f90_every_mpi_LINK = $(F90_LINK)

check_PROGRAMS += test/f90/f90_bodies.mpi
TESTS += test/f90/f90_bodies.mpi
test_f90_f90_bodies_mpi_SOURCES = test/f90/f90_bodies.c test/f90/f90_behaviour.f90 \
	test/f90/f90_definitions.f90 test/f90/f90_messages.f90 test/f90/f90_models.f90 \
	test/f90/f90_twin.f90
test_f90_f90_bodies_mpi_FCFLAGS = $(F90_TEST_FCFLAGS)
test_f90_f90_bodies_mpi_LDADD = $(F90_TEST_LIBS)
test_f90_f90_bodies_mpi_LINK = $(F90_LINK)

$(F90_TEST_TYPES): test/f90/f90_every.f90.m4 src/binding/f90/f90_tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
		type=`echo $@ | sed 's/.*every_//; s/\.f90$$//'` && \
		$(M4) -P -I $(srcdir)/src/binding/f90 -D TYPE=$$type \
			$(srcdir)/test/f90/f90_every.f90.m4 > $@.tmp && mv $@.tmp $@

CLEANFILES += test/f90/*.mod

# Modules must be built before the objects that use them.
$(libf90check_la_OBJECTS): include/pnetcdf.mod
$(test_f90_f90_every_mpi_OBJECTS) $(test_f90_f90_bodies_mpi_OBJECTS): include/pnetcdf.mod libf90check.la
endif
