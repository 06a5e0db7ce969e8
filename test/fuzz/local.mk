# Fuzzes the decoders. `make check` replays the corpora, with and without sanitizers. `make fuzz`
# searches for new inputs; it requires clang as FUZZ_CC.
fuzzed_sources = $(cdf_sources) $(cdl_sources) $(journal_sources) $(subfile_sources) \
	$(burst_fuzzed_sources) \
	$(base_serial_sources)
if BURST
burst_fuzzed_sources = src/lib/burst/burst_format.c src/lib/burst/burst_format.h
endif
# Type conversion is not fuzzed, so it is linked from the library.
REPLAY_LIBS = libserial.la
if HAVE_SANITIZERS
sanitized_replays = test/fuzz/replay_sanitized.unit test/fuzz/cdl_replay_sanitized.unit \
	test/fuzz/hints_replay_sanitized.unit test/fuzz/blob_replay_sanitized.unit \
	test/fuzz/frames_replay_sanitized.unit
check_PROGRAMS += $(sanitized_replays)
TESTS += $(sanitized_replays)
test_fuzz_replay_sanitized_unit_SOURCES = test/fuzz/replay.c test/fuzz/cdf_fuzz.c \
	$(cdf_sources) $(base_serial_sources)
test_fuzz_replay_sanitized_unit_CFLAGS = $(AM_CFLAGS) $(SANITIZE_CFLAGS)
test_fuzz_cdl_replay_sanitized_unit_SOURCES = test/fuzz/replay.c test/fuzz/cdl_fuzz.c \
	$(fuzzed_sources)
test_fuzz_cdl_replay_sanitized_unit_CFLAGS = $(AM_CFLAGS) $(SANITIZE_CFLAGS)
test_fuzz_cdl_replay_sanitized_unit_LDADD = $(REPLAY_LIBS)
test_fuzz_hints_replay_sanitized_unit_SOURCES = test/fuzz/replay.c test/fuzz/hints_fuzz.c \
	$(base_serial_sources)
test_fuzz_hints_replay_sanitized_unit_CFLAGS = $(AM_CFLAGS) $(SANITIZE_CFLAGS)
test_fuzz_hints_replay_sanitized_unit_LDADD = $(REPLAY_LIBS)
test_fuzz_blob_replay_sanitized_unit_SOURCES = test/fuzz/replay.c test/fuzz/blob_fuzz.c \
	$(subfile_sources) $(cdf_sources) $(base_serial_sources)
test_fuzz_blob_replay_sanitized_unit_CFLAGS = $(AM_CFLAGS) $(SANITIZE_CFLAGS)
test_fuzz_blob_replay_sanitized_unit_LDADD = $(REPLAY_LIBS)
test_fuzz_frames_replay_sanitized_unit_SOURCES = test/fuzz/replay.c test/fuzz/frames_fuzz.c \
	$(libutil_la_SOURCES) $(subfile_sources) $(cdf_sources) $(journal_sources) \
	$(base_serial_sources)
test_fuzz_frames_replay_sanitized_unit_CFLAGS = $(AM_CFLAGS) $(SANITIZE_CFLAGS)
test_fuzz_frames_replay_sanitized_unit_LDADD = $(REPLAY_LIBS)
endif

FUZZ_CC = clang
FUZZ_CFLAGS = -g -O1 -std=gnu11 -fno-sanitize-recover=undefined \
	-fsanitize=fuzzer,address,undefined
FUZZ_RUNS = 1000000
FUZZ_FORMATS = 1 2 5
fuzzers = test/fuzz/cdf_fuzz test/fuzz/cdl_fuzz test/fuzz/journal_fuzz test/fuzz/hints_fuzz \
	test/fuzz/blob_fuzz test/fuzz/frames_fuzz test/fuzz/log_fuzz

# The fuzz target also includes the tools' common functions.
test/fuzz/frames_fuzz: fuzzed_sources += $(libutil_la_SOURCES)
test/fuzz/frames_fuzz: $(libutil_la_SOURCES)

# Used in a loop over sources. Sets $$path to the C file to compile, which may be a generated one.
fuzzed_file = case $$file in \
	*.c) path=$(srcdir)/$$file;; \
	*.[ly]) path=`echo $$file | sed 's/.$$/c/'`; test -f $$path || path=$(srcdir)/$$path;; \
	*) continue;; \
	esac

$(fuzzers): $(fuzzed_sources) libserial.la test/fuzz/cdf_fuzz.c test/fuzz/cdl_fuzz.c \
	test/fuzz/journal_fuzz.c test/fuzz/hints_fuzz.c test/fuzz/blob_fuzz.c \
	test/fuzz/frames_fuzz.c test/fuzz/log_fuzz.c
	@$(MKDIR_P) test/fuzz
	@sources=; for file in $(fuzzed_sources) $@.c; do \
		$(fuzzed_file); sources="$$sources $$path"; \
	done; \
	$(FUZZ_CC) $(FUZZ_CFLAGS) $(DEFS) -I. $(AM_CPPFLAGS) -o $@ $$sources \
		.libs/libserial.a $(LIBS)

# Each run stores new inputs in test/fuzz/found-*, and the next run reuses them.
fuzz: $(fuzzers)
	@for format in $(FUZZ_FORMATS); do \
		found=test/fuzz/found-$$format; $(MKDIR_P) $$found || exit 1; \
		echo "CDF-$$format: $(FUZZ_RUNS) runs"; \
		CDF_FUZZ_FORMAT=$$format test/fuzz/cdf_fuzz -runs=$(FUZZ_RUNS) -max_len=2048 \
			-verbosity=0 -print_final_stats=1 -dict=$(srcdir)/test/fuzz/cdf.dict \
			-artifact_prefix=test/fuzz/crash-$$format- \
			$$found $(srcdir)/test/fuzz/corpus || exit 1; \
	done
	@echo "CDL: $(FUZZ_RUNS) runs"; $(MKDIR_P) test/fuzz/found-cdl && \
		test/fuzz/cdl_fuzz -runs=$(FUZZ_RUNS) -max_len=2048 -verbosity=0 \
			-print_final_stats=1 -dict=$(srcdir)/test/fuzz/cdl.dict \
			-artifact_prefix=test/fuzz/crash-cdl- \
			test/fuzz/found-cdl $(srcdir)/test/fuzz/cdl-corpus
	@echo "journals: $(FUZZ_RUNS) runs"; $(MKDIR_P) test/fuzz/found-journal && \
		test/fuzz/journal_fuzz -runs=$(FUZZ_RUNS) -max_len=65536 -verbosity=0 \
			-print_final_stats=1 -artifact_prefix=test/fuzz/crash-journal- \
			test/fuzz/found-journal $(srcdir)/test/fuzz/journal-corpus
	@echo "files of hints: $(FUZZ_RUNS) runs"; $(MKDIR_P) test/fuzz/found-hints && \
		test/fuzz/hints_fuzz -runs=$(FUZZ_RUNS) -max_len=4096 -verbosity=0 \
			-print_final_stats=1 -artifact_prefix=test/fuzz/crash-hints- \
			test/fuzz/found-hints $(srcdir)/test/fuzz/hints-corpus
	@echo "subfiles: $(FUZZ_RUNS) runs"; $(MKDIR_P) test/fuzz/found-blob && \
		test/fuzz/blob_fuzz -runs=$(FUZZ_RUNS) -max_len=4608 -verbosity=0 \
			-print_final_stats=1 -dict=$(srcdir)/test/fuzz/cdf.dict \
			-artifact_prefix=test/fuzz/crash-blob- \
			test/fuzz/found-blob $(srcdir)/test/fuzz/blob-corpus
	@echo "values in frames: $(FUZZ_RUNS) runs"; $(MKDIR_P) test/fuzz/found-frames && \
		test/fuzz/frames_fuzz -runs=$(FUZZ_RUNS) -max_len=16384 -verbosity=0 \
			-malloc_limit_mb=64 -print_final_stats=1 -dict=$(srcdir)/test/fuzz/cdf.dict \
			-artifact_prefix=test/fuzz/crash-frames- \
			test/fuzz/found-frames $(srcdir)/test/fuzz/frames-corpus
	@echo "logs: $(FUZZ_RUNS) runs"; $(MKDIR_P) test/fuzz/found-log && \
		test/fuzz/log_fuzz -runs=$(FUZZ_RUNS) -max_len=2048 -verbosity=0 \
			-print_final_stats=1 -artifact_prefix=test/fuzz/crash-log- \
			test/fuzz/found-log $(srcdir)/test/fuzz/log-corpus

.PHONY: fuzz
CLEANFILES += $(fuzzers)

# Links the serial tools into one program, with their main functions renamed.
fuzzed_tools = $(cdfdiff_SOURCES) $(libdiff_la_SOURCES) $(ncmpidump_SOURCES) \
	$(ncmpigen_SOURCES) $(ncmpirefs_SOURCES) $(ncoffsets_SOURCES) $(ncvalidator_SOURCES) $(libutil_la_SOURCES)
EXTRA_DIST += test/fuzz/tools_fuzz.c test/fuzz/parallel_fuzz.c
test/fuzz/tools_fuzz: $(fuzzed_tools) $(fuzzed_sources) libserial.la test/fuzz/tools_fuzz.c
	@$(MKDIR_P) test/fuzz/tools
	@objects=; for file in $(fuzzed_tools) $(fuzzed_sources) test/fuzz/tools_fuzz.c; do \
		$(fuzzed_file); name=`basename $$path .c`; object=test/fuzz/tools/$$name.o; \
		$(FUZZ_CC) $(FUZZ_CFLAGS) $(DEFS) -I. $(AM_CPPFLAGS) -Dmain=$$name \
			-c -o $$object $$path || exit 1; \
		objects="$$objects $$object"; \
	done; \
	$(FUZZ_CC) $(FUZZ_CFLAGS) -o $@ $$objects .libs/libserial.a $(LIBS) -lm

# Fuzzes each tool separately, with the corpus of headers or that of CDL files.
FUZZ_TOOLS = ncmpidump ncmpirefs ncoffsets ncvalidator cdfdiff ncmpigen
fuzz-tools: test/fuzz/tools_fuzz
	@for tool in $(FUZZ_TOOLS); do \
		corpus=corpus dict=cdf; \
		if [ $$tool = ncmpigen ]; then corpus=cdl-corpus dict=cdl; fi; \
		found=test/fuzz/found-$$tool; $(MKDIR_P) $$found || exit 1; \
		echo "$$tool: $(FUZZ_RUNS) runs"; \
		TOOLS_FUZZ=$$tool test/fuzz/tools_fuzz -runs=$(FUZZ_RUNS) -max_len=2048 \
			-verbosity=0 -print_final_stats=1 -dict=$(srcdir)/test/fuzz/$$dict.dict \
			-artifact_prefix=test/fuzz/crash-$$tool- \
			$$found $(srcdir)/test/fuzz/$$corpus || exit 1; \
	done
.PHONY: fuzz-tools
CLEANFILES += test/fuzz/tools_fuzz

# Links the parallel tools into one program, which runs as a single process.
parallel_tools = $(ncmpidiff_SOURCES) $(libdiff_la_SOURCES) $(ncmpicopy_SOURCES) \
	$(ncvalidator_SOURCES) $(libutil_la_SOURCES)
FUZZ_MPICC = MPICH_CC=$(FUZZ_CC) OMPI_CC=$(FUZZ_CC) $(CC)
test/fuzz/parallel_fuzz: $(parallel_tools) $(fuzzed_sources) libpnetcdf.la test/fuzz/parallel_fuzz.c
	@$(MKDIR_P) test/fuzz/parallel
	@objects=; for file in $(parallel_tools) $(fuzzed_sources) test/fuzz/parallel_fuzz.c; do \
		case $$file in *.c) ;; *) continue;; esac; \
		name=`basename $$file .c`; object=test/fuzz/parallel/$$name.o; \
		case " $$objects " in *" $$object "*) continue;; esac; \
		$(FUZZ_MPICC) $(FUZZ_CFLAGS) $(DEFS) -I. $(AM_CPPFLAGS) -Dmain=$$name \
			-DMPI_Init=fuzz_mpi_init -DMPI_Finalize=fuzz_mpi_finalize \
			-c -o $$object $(srcdir)/$$file || exit 1; \
		objects="$$objects $$object"; \
	done; \
	$(FUZZ_MPICC) $(FUZZ_CFLAGS) -o $@ $$objects .libs/libcore.a $(LIBS) -lm

# Leaks are not checked, because MPI itself leaks. ROMIO's buffer is reduced, because allocating a
# buffer of the default size for each file would take nine tenths of the time.
FUZZ_PARALLEL = ncmpidiff ncmpicopy ncvalidator
fuzz-parallel: test/fuzz/parallel_fuzz
	@for tool in $(FUZZ_PARALLEL); do \
		found=test/fuzz/found-parallel-$$tool; $(MKDIR_P) $$found || exit 1; \
		echo "$$tool: $(FUZZ_RUNS) runs"; \
		PNETCDF_HINTS=cb_buffer_size=4096 ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=2 \
		PARALLEL_FUZZ=$$tool test/fuzz/parallel_fuzz \
			-runs=$(FUZZ_RUNS) -max_len=2048 -verbosity=0 -print_final_stats=1 \
			-detect_leaks=0 -dict=$(srcdir)/test/fuzz/cdf.dict \
			-close_fd_mask=2 -artifact_prefix=test/fuzz/crash-$$tool- \
			$$found $(srcdir)/test/fuzz/corpus || exit 1; \
	done
.PHONY: fuzz-parallel
CLEANFILES += test/fuzz/parallel_fuzz
