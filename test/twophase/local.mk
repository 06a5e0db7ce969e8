# tests: twophase
check_PROGRAMS += test/twophase/domains.mpi
TESTS += test/twophase/domains.mpi
test_twophase_domains_mpi_SOURCES = test/twophase/domains.c
test_twophase_domains_mpi_LDADD = $(MPI_TEST_LIBS)
