# The benchmark program. `make bench` builds it together with the libraries that are preloaded to
# count calls and to slow files down. `make bench-peer` builds it with another library that provides
# pnetcdf.h, using Open MPI unless PEER_CC selects another MPI; that program lacks
# BENCH_NCMPI_SOURCES. `make check` tests the program with small sizes.
PEER_CC = mpicc.openmpi
PEER_CFLAGS = -O2 -g -std=gnu11
PEER_LIBS = -lpnetcdf

BENCH_LINKED_WITH = -lm -ldl
BENCH_USES = benchmarks/bench.h benchmarks/bench_count.h
# BENCH_SOURCES and BENCH_NCMPI_SOURCES are generated from files.list.

check_PROGRAMS += benchmarks/bench
benchmarks_bench_SOURCES = $(BENCH_SOURCES) $(BENCH_NCMPI_SOURCES) $(BENCH_USES)
benchmarks_bench_CPPFLAGS = $(AM_CPPFLAGS) -DBENCH_NCMPI
benchmarks_bench_LDADD = libcore.la $(BENCH_LINKED_WITH)
benchmarks_bench_LDFLAGS = -static

benchmarks/bench-peer: $(BENCH_SOURCES) $(BENCH_USES)
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(PEER_CC) $(PEER_CFLAGS) -o $@ \
		$(BENCH_SOURCES:%=$(srcdir)/%) $(PEER_LIBS) $(BENCH_LINKED_WITH)

benchmarks/bench-peer-count.so: benchmarks/bench_count.c benchmarks/bench_count.h
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(PEER_CC) $(PEER_CFLAGS) -shared -fPIC \
		-o $@ $(srcdir)/benchmarks/bench_count.c -ldl

# The benchmark program with parallel HDF5, which must be built for the MPI in use.
HDF5_CFLAGS = `pkg-config --cflags hdf5-$(mpi_flavour)`
HDF5_LIBS = `pkg-config --libs hdf5-$(mpi_flavour)`
benchmarks/bench-hdf5: $(BENCH_SOURCES) $(BENCH_NCMPI_SOURCES) $(BENCH_USES) libpnetcdf.la
	$(AM_V_CCLD)$(CCLD) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) \
		$(AM_CFLAGS) $(CFLAGS) -DBENCH_NCMPI -DBENCH_HDF5 $(HDF5_CFLAGS) -o $@ \
		$(BENCH_SOURCES:%=$(srcdir)/%) $(BENCH_NCMPI_SOURCES:%=$(srcdir)/%) \
		.libs/libpnetcdf.a $(LIBS) $(HDF5_LIBS) $(BENCH_LINKED_WITH)

# Preloaded libraries: one counts calls, the other slows files down.
benchmarks/bench-count.so: benchmarks/bench_count.c benchmarks/bench_count.h
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(CCLD) $(AM_CFLAGS) $(CFLAGS) -shared -fPIC \
		-o $@ $(srcdir)/benchmarks/bench_count.c -ldl
benchmarks/bench-slow.so: benchmarks/bench_slow.c
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(CCLD) $(AM_CFLAGS) $(CFLAGS) -fvisibility=default \
		-shared -fPIC -o $@ $(srcdir)/benchmarks/bench_slow.c -ldl

bench: benchmarks/bench benchmarks/bench-count.so benchmarks/bench-slow.so
bench-peer: benchmarks/bench-peer benchmarks/bench-peer-count.so
bench-hdf5: benchmarks/bench-hdf5
bench-tools: benchmarks/bench ncmpicopy ncmpidiff ncmpidump cdfdiff
.PHONY: bench bench-peer bench-hdf5 bench-tools

check_DATA = benchmarks/bench-count.so benchmarks/bench-slow.so
CLEANFILES += benchmarks/bench-count.so benchmarks/bench-slow.so benchmarks/bench-peer \
	benchmarks/bench-peer-count.so benchmarks/bench-hdf5
EXTRA_DIST += benchmarks/run benchmarks/tools

# Measures the cost of a put from Fortran 90: make benchmarks/f90_bench.
if HAVE_F90
EXTRA_PROGRAMS += benchmarks/f90_bench
benchmarks_f90_bench_SOURCES = benchmarks/f90_bench.f90
benchmarks_f90_bench_FCFLAGS = -Iinclude
benchmarks_f90_bench_LDADD = libpnetcdf.la
benchmarks_f90_bench_LDFLAGS = -static
$(benchmarks_f90_bench_OBJECTS): include/pnetcdf.mod

# Makes puts of each type, rank and form in C, Fortran 77 and Fortran 90. A test counts the
# instructions that they take.
check_PROGRAMS += benchmarks/f90_puts
TESTS += benchmarks/f90_counts.sh
nodist_benchmarks_f90_puts_SOURCES = benchmarks/f90_puts_loops.f90 benchmarks/f90_puts_main.f90
benchmarks_f90_puts_FCFLAGS = -Iinclude $(FC_MODOUT)benchmarks
benchmarks_f90_puts_LDADD = libpnetcdf.la
benchmarks_f90_puts_LDFLAGS = -static
CLEANFILES += benchmarks/f90_puts_loops.f90 benchmarks/f90_puts_main.f90 benchmarks/*.mod
benchmarks/f90_puts_loops.f90 benchmarks/f90_puts_main.f90: benchmarks/f90_puts.f90.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
		part=`echo $@ | sed 's/.*f90_puts_//; s/\.f90$$//'` && \
		$(M4) -P -D PART=$$part $(srcdir)/benchmarks/f90_puts.f90.m4 > $@.tmp && mv $@.tmp $@
$(benchmarks_f90_puts_OBJECTS): include/pnetcdf.mod
benchmarks/f90_puts-f90_puts_main.$(OBJEXT): benchmarks/f90_puts-f90_puts_loops.$(OBJEXT)
endif

# Compares the speed of Fortran 77 with that of C.
if HAVE_FORTRAN
EXTRA_PROGRAMS += benchmarks/f77_bench
benchmarks_f77_bench_SOURCES = benchmarks/f77_bench.f benchmarks/f77_bench_c.c
benchmarks_f77_bench_FFLAGS = -I$(builddir)/include
benchmarks_f77_bench_LDADD = libpnetcdf.la
benchmarks_f77_bench_LDFLAGS = -static
endif
