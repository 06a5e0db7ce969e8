# tests: utils
check_PROGRAMS += test/utils/random_classic
test_utils_random_classic_LDADD = libserial.la -lm
TESTS += test/utils/config_scripts.sh test/utils/cmake.sh
EXTRA_DIST += test/utils/config_scripts.sh test/utils/cmake.sh
