# The example programs, and what a user does with an installed library.
example_tests = test/examples/climate.sh test/examples/install.sh test/examples/programs.sh \
	test/examples/netcdf_par.sh
TESTS += $(example_tests)
EXTRA_DIST += $(example_tests) test/examples/netcdf_par.c
