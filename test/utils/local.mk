# tests: utils
check_PROGRAMS += test/utils/random_classic
test_utils_random_classic_LDADD = libserial.la -lm
