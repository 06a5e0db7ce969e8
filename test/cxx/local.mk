# The C++ interface.
cxx_tests = test/cxx/cxx_every.mpi test/cxx/cxx_objects.mpi test/cxx/cxx_files.mpi
cxx_scripts = test/cxx/cxx_methods.sh test/cxx/cxx_examples.sh
EXTRA_DIST += $(cxx_scripts) test/cxx/cxx_methods.awk test/cxx/cxx_methods.tsv

if HAVE_CXX
check_PROGRAMS += $(cxx_tests)
TESTS += $(cxx_tests) $(cxx_scripts)
# What the library is linked from, so that programs are what they seem.
CXX_TEST_LIBS = libcxx.la $(MPI_TEST_LIBS)
CXX_TEST_CPPFLAGS = $(AM_CPPFLAGS) $(CXX_MPI_CPPFLAGS) -I$(srcdir)/test/cxx
test_cxx_cxx_every_mpi_SOURCES = test/cxx/cxx_every.cpp test/cxx/cxx_check.hpp
test_cxx_cxx_every_mpi_CPPFLAGS = $(CXX_TEST_CPPFLAGS)
test_cxx_cxx_every_mpi_LDADD = $(CXX_TEST_LIBS)
test_cxx_cxx_objects_mpi_SOURCES = test/cxx/cxx_objects.cpp test/cxx/cxx_check.hpp
test_cxx_cxx_objects_mpi_CPPFLAGS = $(CXX_TEST_CPPFLAGS)
test_cxx_cxx_objects_mpi_LDADD = $(CXX_TEST_LIBS)
test_cxx_cxx_files_mpi_SOURCES = test/cxx/cxx_files.cpp test/cxx/cxx_check.hpp
test_cxx_cxx_files_mpi_CPPFLAGS = $(CXX_TEST_CPPFLAGS)
test_cxx_cxx_files_mpi_LDADD = $(CXX_TEST_LIBS)
endif
