# What developers run.
EXTRA_DIST += .ci/run dev/build dev/check dev/demo dev/lint dev/setup \
	.clang-format .clang-tidy

lint: $(BUILT_SOURCES)
	$(AM_V_at)$(BASH_PATH) $(srcdir)/dev/lint $(DEFS) -I. $(AM_CPPFLAGS) \
		`$(MPICC) -show | tr ' ' '\n' | grep '^-I'`
.PHONY: lint
