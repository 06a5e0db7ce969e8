# Tests of the tree itself.
house_tests = test/house/rooms.sh test/house/sizes.sh test/house/marks.sh \
	test/house/format.sh test/house/exports.sh test/house/promises.sh test/house/words.sh \
	test/house/headers.sh test/house/collective.sh test/house/aims.sh \
	test/house/commands.sh
EXTRA_DIST += test/house/way.c
EXTRA_DIST += test/house/commands.txt test/house/commands.cdl
TESTS += $(house_tests)
EXTRA_DIST += $(house_tests)

EXTRA_DIST += .editorconfig test/house/collective.py test/house/collective_source.py \
	test/house/collective_tables.py test/house/collective_sample.c
EXTRA_DIST += test/house/lint .clang-format .clang-tidy test/.clang-tidy
.PHONY: lint
lint: all
	$(AM_V_at)$(BASH_PATH) $(srcdir)/test/house/lint $(DEFS) -I. $(AM_CPPFLAGS) \
		`$(MPICC) -show -c x.c | tr ' ' '\n' | grep '^-I'`
