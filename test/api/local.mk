# tests: api
TESTS += test/api/header.sh test/api/reference.sh
EXTRA_DIST += test/api/header.sh test/api/reference.sh test/api/functions.txt test/api/functions.awk \
	test/api/prototypes.awk test/api/constants.txt
