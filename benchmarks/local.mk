# The benchmark program. `make bench` builds it with its counter; `make bench-peer` the
# same against another library that offers pnetcdf.h, on Open MPI unless PEER_CC says
# otherwise. `make check` runs it small, to keep it alive.
PEER_CC = mpicc.openmpi
PEER_CFLAGS = -O2 -g -std=gnu11
PEER_LIBS = -lpnetcdf

BENCH_LINKED_WITH = -lm -ldl
# BENCH_SOURCES: files.list.

check_PROGRAMS += benchmarks/bench
benchmarks_bench_SOURCES = $(BENCH_SOURCES) benchmarks/bench.h benchmarks/bench_count.h
benchmarks_bench_LDADD = libpnetcdf.la $(BENCH_LINKED_WITH)
benchmarks_bench_LDFLAGS = -static

benchmarks/bench-count.so: benchmarks/bench_count.c benchmarks/bench_count.h
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(CC) $(AM_CFLAGS) $(CFLAGS) -shared -fPIC \
		-o $@ $(srcdir)/benchmarks/bench_count.c -ldl

benchmarks/bench-peer: $(BENCH_SOURCES) benchmarks/bench.h benchmarks/bench_count.h
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(PEER_CC) $(PEER_CFLAGS) -o $@ \
		$(BENCH_SOURCES:%=$(srcdir)/%) $(PEER_LIBS) $(BENCH_LINKED_WITH)

benchmarks/bench-peer-count.so: benchmarks/bench_count.c benchmarks/bench_count.h
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(PEER_CC) $(PEER_CFLAGS) -shared -fPIC \
		-o $@ $(srcdir)/benchmarks/bench_count.c -ldl

# The same with parallel HDF5 beside, of the MPI in use.
HDF5_CFLAGS = `pkg-config --cflags hdf5-$(mpi_flavour)`
HDF5_LIBS = `pkg-config --libs hdf5-$(mpi_flavour)`
benchmarks/bench-hdf5: $(BENCH_SOURCES) benchmarks/bench.h benchmarks/bench_count.h libpnetcdf.la
	$(AM_V_CCLD)$(CC) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) \
		$(AM_CFLAGS) $(CFLAGS) -DBENCH_HDF5 $(HDF5_CFLAGS) -o $@ \
		$(BENCH_SOURCES:%=$(srcdir)/%) .libs/libpnetcdf.a $(LIBS) $(HDF5_LIBS) \
		$(BENCH_LINKED_WITH)
bench-hdf5: benchmarks/bench-hdf5
.PHONY: bench-hdf5

bench: benchmarks/bench benchmarks/bench-count.so
bench-peer: benchmarks/bench-peer benchmarks/bench-peer-count.so
.PHONY: bench bench-peer

check_DATA = benchmarks/bench-count.so
CLEANFILES += benchmarks/bench-count.so benchmarks/bench-peer benchmarks/bench-peer-count.so \
	benchmarks/bench-hdf5
EXTRA_DIST += benchmarks/run benchmarks/tools

# Loops of single rooms.
EXTRA_PROGRAMS += benchmarks/region_bench
benchmarks_region_bench_SOURCES = benchmarks/region_bench.c
benchmarks_region_bench_LDADD = libserial.la

EXTRA_PROGRAMS += benchmarks/conv_bench
benchmarks_conv_bench_SOURCES = benchmarks/conv_bench.c
benchmarks_conv_bench_LDADD = libserial.la

EXTRA_PROGRAMS += benchmarks/cdf_bench
benchmarks_cdf_bench_SOURCES = benchmarks/cdf_bench.c
benchmarks_cdf_bench_LDADD = libserial.la

EXTRA_PROGRAMS += benchmarks/nonblock_bench
benchmarks_nonblock_bench_SOURCES = benchmarks/nonblock_bench.c
benchmarks_nonblock_bench_LDADD = libcore.la -lm

EXTRA_PROGRAMS += benchmarks/shift_bench
benchmarks_shift_bench_SOURCES = benchmarks/shift_bench.c
benchmarks_shift_bench_LDADD = libpnetcdf.la

# What the burst buffer hides: benchmarks/burst_run.
check_PROGRAMS += benchmarks/burst_bench
benchmarks_burst_bench_SOURCES = benchmarks/burst_bench.c
benchmarks_burst_bench_LDADD = libpnetcdf.la
benchmarks_burst_bench_LDFLAGS = -static
benchmarks/burst-slow.so: benchmarks/burst_slow.c
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(CC) $(AM_CFLAGS) $(CFLAGS) -fvisibility=default -shared -fPIC \
		-o $@ $(srcdir)/benchmarks/burst_slow.c -ldl
benchmarks/burst_bench-peer: benchmarks/burst_bench.c
	$(AM_V_CCLD)$(MKDIR_P) benchmarks && $(PEER_CC) $(PEER_CFLAGS) -o $@ \
		$(srcdir)/benchmarks/burst_bench.c $(PEER_LIBS)
bench-burst: benchmarks/burst_bench benchmarks/burst-slow.so
bench-burst-peer: benchmarks/burst_bench-peer
.PHONY: bench-burst bench-burst-peer
check_DATA += benchmarks/burst-slow.so
CLEANFILES += benchmarks/burst-slow.so benchmarks/burst_bench-peer
EXTRA_DIST += benchmarks/burst_slow.c

# What staged reads save: benchmarks/stage_run.
EXTRA_PROGRAMS += benchmarks/stage_bench
benchmarks_stage_bench_SOURCES = benchmarks/stage_bench.c
benchmarks_stage_bench_LDADD = libpnetcdf.la
benchmarks_stage_bench_LDFLAGS = -static
# The same with parallel HDF5 beside.
benchmarks/stage_bench-hdf5: benchmarks/stage_bench.c libpnetcdf.la
	$(AM_V_CCLD)$(CC) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) \
		$(AM_CFLAGS) $(CFLAGS) -DBENCH_HDF5 $(HDF5_CFLAGS) -o $@ \
		$(srcdir)/benchmarks/stage_bench.c .libs/libpnetcdf.a $(LIBS) $(HDF5_LIBS)
CLEANFILES += benchmarks/stage_bench-hdf5

# What compression saves and costs: benchmarks/compress_run.
EXTRA_PROGRAMS += benchmarks/compress_bench
benchmarks_compress_bench_SOURCES = benchmarks/compress_bench.c
benchmarks_compress_bench_LDADD = libpnetcdf.la -lm
benchmarks_compress_bench_LDFLAGS = -static
# The same by parallel HDF5, with deflate and shuffle.
benchmarks/compress_bench-hdf5: benchmarks/compress_bench.c libpnetcdf.la
	$(AM_V_CCLD)$(CC) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) \
		$(AM_CFLAGS) $(CFLAGS) -DBENCH_HDF5 $(HDF5_CFLAGS) -o $@ \
		$(srcdir)/benchmarks/compress_bench.c .libs/libpnetcdf.a $(LIBS) $(HDF5_LIBS) -lm
CLEANFILES += benchmarks/compress_bench-hdf5

# What Fortran 90 adds to a put: make benchmarks/f90_bench.
if HAVE_F90
EXTRA_PROGRAMS += benchmarks/f90_bench
benchmarks_f90_bench_SOURCES = benchmarks/f90_bench.f90
benchmarks_f90_bench_FCFLAGS = -Iinclude
benchmarks_f90_bench_LDADD = libpnetcdf.la
benchmarks_f90_bench_LDFLAGS = -static
$(benchmarks_f90_bench_OBJECTS): include/pnetcdf.mod

# The same by type, rank and form, against Fortran 77 too; a test counts its instructions.
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

# Fortran against C.
if HAVE_FORTRAN
EXTRA_PROGRAMS += benchmarks/f77_bench
benchmarks_f77_bench_SOURCES = benchmarks/f77_bench.f benchmarks/f77_bench_c.c
benchmarks_f77_bench_FFLAGS = -I$(builddir)/include
benchmarks_f77_bench_LDADD = libpnetcdf.la
benchmarks_f77_bench_LDFLAGS = -static
endif

# The tools against cp, cmp and ncdump.
EXTRA_PROGRAMS += benchmarks/tools_file
benchmarks_tools_file_SOURCES = benchmarks/tools_file.c
benchmarks_tools_file_LDADD = libpnetcdf.la -lm
benchmarks_tools_file_LDFLAGS = -static
bench-tools: benchmarks/tools_file ncmpicopy ncmpidiff ncmpidump cdfdiff
.PHONY: bench-tools
