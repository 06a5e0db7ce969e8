# Tests that take minutes or hours: the usual programs and scripts with more cases. RUN sets the
# environment of a test. RUN_MPI runs a test on several processes without a time limit.
RUN = $(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir)
RUN_MPI = NCMPI_TEST_LIMIT=86400 $(BASH_PATH) $(srcdir)/test/support/run-mpi
ALL_PROCS = NCMPI_TEST_PROCS="$${NCMPI_TEST_PROCS:-1 2 3 4}"

# Builds all test programs first.
long_targets = check-faults check-soak check-one-bad check-hostile check-holes check-ways \
	check-redef-kill check-redef-faults check-blob-join check-blob-kill check-blob-generations \
	check-burst-suites check-burst-kill check-burst-beside check-random-blobs \
	check-random-programs check-random-pairs check-nc4-suites
$(long_targets): check-programs
check-programs:
	$(MAKE) check TESTS=
.PHONY: $(long_targets) check-programs check-slow check-realdata check-tools-realdata

# Makes every call that can fail do so, in each step of a dataset's life.
check-faults:
	@$(RUN) $(BASH_PATH) $(srcdir)/test/api/each_fault.sh

# Performs the same steps in random order for half an hour.
check-soak:
	@$(RUN) NCMPI_SOAK=$${NCMPI_SOAK:-1800} $(RUN_MPI) test/api/soak.mpi

# Calls every collective function with one invalid argument on one process, for each argument.
check-one-bad:
	@$(RUN) NCMPI_ONE_BAD=all $(ALL_PROCS) $(RUN_MPI) test/api/one_bad.mpi

# Passes malicious hints, variables and paths.
check-hostile:
	@$(RUN) NCMPI_HOSTILE=all $(ALL_PROCS) $(RUN_MPI) test/api/hostile.mpi

# Makes a million calls, on the file system of TMPDIR, that write short pieces into the gaps between
# pieces of other processes.
check-holes:
	@$(RUN) NCMPI_HOLES=$${NCMPI_HOLES:-100000} NCMPI_TEST_PROCS=4 \
		$(BASH_PATH) $(srcdir)/test/support/run-mpi test/mpio/holes.mpi

# Runs the conformance matrix on netCDF-4 files.
check-nc4-suites:
	@$(RUN) NC4_SUITES=all $(BASH_PATH) $(srcdir)/test/nc4/nc4_suites.sh

# Forces each method of transfer in turn.
check-ways:
	@$(RUN) $(BASH_PATH) $(srcdir)/test/mpio/ways_suites.sh
	@$(RUN) $(BASH_PATH) $(srcdir)/test/blob/blob_suites.sh
	@$(RUN) $(BASH_PATH) $(srcdir)/test/stage/stage_suites.sh

# Redefinitions: kills the program or cuts the power at every point, and makes every call that can
# fail do so.
check-redef-kill:
	@$(RUN) REDEF_KILL=all $(BASH_PATH) $(srcdir)/test/mpio/redef_kill.sh
check-redef-faults:
	@$(RUN) SMALL_FS=all $(BASH_PATH) $(srcdir)/test/mpio/small_fs.sh
	@$(RUN) NCMPI_FAULTS=all $(RUN_MPI) test/mpio/redef_faults.mpi

# Subfiles: joins all available datasets; kills the program or cuts the power at every point; mixes
# files of different generations, and opens a thousand datasets at once.
check-blob-join:
	@$(RUN) BLOB_JOIN=all $(BASH_PATH) $(srcdir)/test/blob/blob_join.sh
	@$(RUN) BLOB_JOIN=all $(BASH_PATH) $(srcdir)/test/blob/blob_packed.sh
check-blob-kill:
	@$(RUN) BLOB_KILL=all $(BASH_PATH) $(srcdir)/test/blob/blob_kill.sh
check-blob-generations:
	@$(RUN) BLOB_GENERATIONS=$${BLOB_GENERATIONS:-20} $(BASH_PATH) $(srcdir)/test/blob/blob_generations.sh
	@$(RUN) BLOB_OWNERS=all $(BASH_PATH) $(srcdir)/test/blob/blob_owners.sh

# Logs: runs the conformance matrix and the random programs with the burst buffer; kills the program
# or cuts the power at every point; and, in BURST_BESIDE rounds, makes two randomly chosen programs
# compete for the logs of a killed one.
check-burst-suites:
	@$(RUN) $(BASH_PATH) $(srcdir)/test/burst/burst_suites.sh
check-burst-kill:
	@$(RUN) BURST_KILL=all $(BASH_PATH) $(srcdir)/test/burst/burst_kill.sh
check-burst-beside:
	@$(RUN) BURST_BESIDE=$${BURST_BESIDE:-10000} $(BASH_PATH) $(srcdir)/test/burst/burst_beside.sh

# Random programs, RANDOM_COUNT for each format and kind. The kinds are programs with faults,
# without faults, and with processes that take turns. Each kind runs with and without blobs.
# NCMPI_TEST_ONLY='in turns' runs only the last kind. PNETCDF_HINTS selects one stack of drivers.
RANDOM_COUNT = 1000
check-random-programs:
	@$(RUN) NCMPI_RANDOM_PROGRAMS=$(RANDOM_COUNT) $(RUN_MPI) test/random/random_program.mpi
check-random-blobs:
	@$(RUN) NCMPI_RANDOM_PROGRAMS=$(RANDOM_COUNT) $(RUN_MPI) test/random/random_blobs.mpi
check-random-pairs:
	@$(RUN) NCMPI_RANDOM_PAIRS=$(RANDOM_COUNT) $(RUN_MPI) test/random/random_pair.mpi

# Tests of the tools, with more seeds.
check-slow: $(check_PROGRAMS) $(bin_PROGRAMS)
	srcdir=$(srcdir) DUMP_SEEDS=100 $(BASH_PATH) $(srcdir)/test/utils/dump_random.sh
	srcdir=$(srcdir) CDL_SEEDS=200 $(BASH_PATH) $(srcdir)/test/utils/gen_random.sh
	srcdir=$(srcdir) DUMP_ALL=1 $(BASH_PATH) $(srcdir)/test/utils/dump_roundtrip.sh

# Follows the recipes of CONTRIBUTING.md in a copy of the tree.
check-recipes:
	@$(RUN) $(BASH_PATH) $(srcdir)/test/house/recipes.sh
.PHONY: check-recipes

# Tests all real files, including the large ones.
check-realdata:
	REALDATA=all $(MAKE) check TESTS=test/api/realdata.sh
check-tools-realdata:
	REALDATA=all NCMPI_TEST_TIME_SCALE=8 $(MAKE) check TESTS=test/utils/tools_realdata.sh
