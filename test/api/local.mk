# tests: api
TESTS += test/api/header.sh
EXTRA_DIST += test/api/header.sh test/api/functions.txt test/api/functions.awk \
	test/api/prototypes.awk test/api/constants.txt
