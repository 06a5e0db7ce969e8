# Tests of the tree itself.
house_tests = test/house/rooms.sh test/house/sizes.sh test/house/marks.sh \
	test/house/format.sh test/house/exports.sh
TESTS += $(house_tests)
EXTRA_DIST += $(house_tests)
