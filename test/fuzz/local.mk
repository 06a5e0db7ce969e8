# Fuzzing of the header's codec. `make check` replays the corpus, plainly and under
# the sanitizers; `make fuzz` looks for new inputs (FUZZ_CC must be clang).
fuzzed_sources = $(cdf_sources) $(base_serial_sources)
replay_sources = test/fuzz/replay.c test/fuzz/cdf_fuzz.c test/fuzz/cdf_fuzz.h
EXTRA_DIST += test/fuzz/README.md test/fuzz/cdf.dict test/fuzz/corpus

check_PROGRAMS += test/fuzz/replay.unit
TESTS += test/fuzz/replay.unit
test_fuzz_replay_unit_SOURCES = $(replay_sources)
test_fuzz_replay_unit_LDADD = libserial.la

if HAVE_SANITIZERS
check_PROGRAMS += test/fuzz/replay_sanitized.unit
TESTS += test/fuzz/replay_sanitized.unit
test_fuzz_replay_sanitized_unit_SOURCES = $(replay_sources) $(fuzzed_sources)
test_fuzz_replay_sanitized_unit_CFLAGS = $(AM_CFLAGS) $(SANITIZE_CFLAGS)
endif

FUZZ_CC = clang
FUZZ_CFLAGS = -g -O1 -std=gnu11 -fno-sanitize-recover=undefined \
	-fsanitize=fuzzer,address,undefined
FUZZ_RUNS = 1000000
FUZZ_FORMATS = 1 2 5

test/fuzz/cdf_fuzz: $(fuzzed_sources) test/fuzz/cdf_fuzz.c
	@$(MKDIR_P) test/fuzz
	@sources=; for file in $(fuzzed_sources) test/fuzz/cdf_fuzz.c; do \
		case $$file in *.c) sources="$$sources $(srcdir)/$$file";; esac; \
	done; \
	$(FUZZ_CC) $(FUZZ_CFLAGS) $(DEFS) -I. $(AM_CPPFLAGS) -o $@ $$sources $(LIBS)

# What is found is kept in test/fuzz/found-*, and used again the next time.
fuzz: test/fuzz/cdf_fuzz
	@for format in $(FUZZ_FORMATS); do \
		found=test/fuzz/found-$$format; $(MKDIR_P) $$found || exit 1; \
		echo "CDF-$$format: $(FUZZ_RUNS) runs"; \
		CDF_FUZZ_FORMAT=$$format test/fuzz/cdf_fuzz -runs=$(FUZZ_RUNS) -max_len=2048 \
			-verbosity=0 -print_final_stats=1 -dict=$(srcdir)/test/fuzz/cdf.dict \
			-artifact_prefix=test/fuzz/crash-$$format- \
			$$found $(srcdir)/test/fuzz/corpus || exit 1; \
	done

.PHONY: fuzz
CLEANFILES += test/fuzz/cdf_fuzz
