# Tests that take minutes or hours: the same programs and scripts with more to do. RUN is the
# environment of a test, and RUN_MPI runs one on several processes for as long as it takes.
RUN = $(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir)
RUN_MPI = NCMPI_TEST_LIMIT=86400 $(BASH_PATH) $(srcdir)/test/support/run-mpi
ALL_PROCS = NCMPI_TEST_PROCS="$${NCMPI_TEST_PROCS:-1 2 3 4}"

# What the targets run is built first.
long_targets = check-faults check-soak check-one-bad check-hostile check-holes check-ways \
	check-redef-kill check-redef-faults check-blob-join check-blob-kill check-blob-moments \
	check-burst-suites check-burst-kill check-burst-beside check-random-blobs \
	check-random-programs check-pairs check-nc4-suites
$(long_targets): check-programs
check-programs:
	$(MAKE) check TESTS=
.PHONY: $(long_targets) check-programs check-slow check-realdata check-tools-realdata

# Each call that can fail does, in each step of a dataset's life.
check-faults:
	@$(RUN) $(BASH_PATH) $(srcdir)/test/api/each_fault.sh

# The same steps at random, for half an hour.
check-soak:
	@$(RUN) NCMPI_SOAK=$${NCMPI_SOAK:-1800} $(RUN_MPI) test/api/soak.mpi

# Every collective function, with one argument after the other wrong on one process.
check-one-bad:
	@$(RUN) NCMPI_ONE_BAD=all $(ALL_PROCS) $(RUN_MPI) test/api/one_bad.mpi

# Hints, variables and paths that nobody means well with.
check-hostile:
	@$(RUN) NCMPI_HOSTILE=all $(ALL_PROCS) $(RUN_MPI) test/api/hostile.mpi

# Short pieces in each other's holes: a million calls; TMPDIR says on what file system.
check-holes:
	@$(RUN) NCMPI_HOLES=$${NCMPI_HOLES:-100000} NCMPI_TEST_PROCS=4 \
		$(BASH_PATH) $(srcdir)/test/support/run-mpi test/mpio/holes.mpi

# The conformance matrix on netCDF-4 files.
check-nc4-suites:
	@$(RUN) NC4_SUITES=all $(BASH_PATH) $(srcdir)/test/nc4/nc4_suites.sh

# With every way of transfer forced.
check-ways:
	@$(RUN) $(BASH_PATH) $(srcdir)/test/mpio/ways_suites.sh
	@$(RUN) $(BASH_PATH) $(srcdir)/test/blob/blob_suites.sh
	@$(RUN) $(BASH_PATH) $(srcdir)/test/stage/stage_suites.sh

# Definitions that change, with every point at which a program can be killed, or lose power,
# and every call that can fail.
check-redef-kill:
	@$(RUN) REDEF_KILL=all $(BASH_PATH) $(srcdir)/test/mpio/redef_kill.sh
check-redef-faults:
	@$(RUN) SMALL_FS=all $(BASH_PATH) $(srcdir)/test/mpio/small_fs.sh
	@$(RUN) NCMPI_FAULTS=all $(RUN_MPI) test/mpio/redef_faults.mpi

# Subfiles: of all datasets that are here; every point at which a program can be killed, or lose
# power; mixtures of the files of many histories, and a thousand datasets at once.
check-blob-join:
	@$(RUN) BLOB_JOIN=all $(BASH_PATH) $(srcdir)/test/blob/blob_join.sh
	@$(RUN) BLOB_JOIN=all $(BASH_PATH) $(srcdir)/test/blob/blob_packed.sh
check-blob-kill:
	@$(RUN) BLOB_KILL=all $(BASH_PATH) $(srcdir)/test/blob/blob_kill.sh
check-blob-moments:
	@$(RUN) BLOB_MOMENTS=$${BLOB_MOMENTS:-20} $(BASH_PATH) $(srcdir)/test/blob/blob_moments.sh
	@$(RUN) BLOB_OWNERS=all $(BASH_PATH) $(srcdir)/test/blob/blob_owners.sh

# Logs: the conformance and the random programs with everything logged first; every point at
# which a program can be killed, or lose power; two programs at the logs of a killed one, ever
# other ones, BURST_BESIDE rounds.
check-burst-suites:
	@$(RUN) $(BASH_PATH) $(srcdir)/test/burst/burst_suites.sh
check-burst-kill:
	@$(RUN) BURST_KILL=all $(BASH_PATH) $(srcdir)/test/burst/burst_kill.sh
check-burst-beside:
	@$(RUN) BURST_BESIDE=$${BURST_BESIDE:-10000} $(BASH_PATH) $(srcdir)/test/burst/burst_beside.sh

# Thousands of random programs: RANDOM_COUNT for each format, with trouble, without, and in turns;
# with blobs and without. NCMPI_TEST_ONLY='in turns' runs those alone, PNETCDF_HINTS with one stack
# of drivers.
RANDOM_COUNT = 1000
check-random-programs:
	@$(RUN) NCMPI_RANDOM_PROGRAMS=$(RANDOM_COUNT) $(RUN_MPI) test/random/random_program.mpi
check-random-blobs:
	@$(RUN) NCMPI_RANDOM_PROGRAMS=$(RANDOM_COUNT) $(RUN_MPI) test/random/random_blobs.mpi
check-pairs:
	@$(RUN) NCMPI_RANDOM_PAIRS=$(RANDOM_COUNT) $(RUN_MPI) test/random/random_pair.mpi

# The tools with more to do.
check-slow: $(check_PROGRAMS) $(bin_PROGRAMS)
	srcdir=$(srcdir) DUMP_SEEDS=100 $(BASH_PATH) $(srcdir)/test/utils/dump_random.sh
	srcdir=$(srcdir) CDL_SEEDS=200 $(BASH_PATH) $(srcdir)/test/utils/gen_random.sh
	srcdir=$(srcdir) DUMP_ALL=1 $(BASH_PATH) $(srcdir)/test/utils/dump_roundtrip.sh

# All real files, the large ones too.
check-realdata:
	REALDATA=all $(MAKE) check TESTS=test/api/realdata.sh
check-tools-realdata:
	REALDATA=all NCMPI_TEST_TIME_SCALE=8 $(MAKE) check TESTS=test/utils/tools_realdata.sh
