# The example programs, and what a user does with an installed library.
TESTS += test/examples/climate.sh test/examples/install.sh
EXTRA_DIST += test/examples/climate.sh test/examples/install.sh
