# Random programs that write down what came of every call, to be compared with those of
# another library: dev/differ.
check_PROGRAMS += test/differ/differ
test_differ_differ_SOURCES = test/differ/differ.c test/differ/differ.h \
	test/differ/differ_access.c test/differ/differ_access.h test/differ/differ_define.c \
	test/differ/differ_file.c test/differ/differ_memory.c test/differ/differ_requests.c
test_differ_differ_LDADD = libpnetcdf.la
