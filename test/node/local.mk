# tests: node
check_PROGRAMS += test/node/node_words.mpi
TESTS += test/node/node_words.mpi
test_node_node_words_mpi_SOURCES = test/node/node_words.c
test_node_node_words_mpi_LDADD = $(MPI_TEST_LIBS)
