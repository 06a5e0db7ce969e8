# tests: stage
if HAVE_CMOCKA
check_PROGRAMS += test/stage/stage_table.unit
TESTS += test/stage/stage_table.unit
test_stage_stage_table_unit_SOURCES = test/stage/stage_table_test.c
test_stage_stage_table_unit_LDADD = libserial.la -lcmocka
endif

check_PROGRAMS += test/stage/stage_data.mpi
TESTS += test/stage/stage_data.mpi
test_stage_stage_data_mpi_SOURCES = test/stage/stage_data.c test/stage/stage_scene.c test/stage/stage_scene.h
test_stage_stage_data_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/stage/stage_subfiles.mpi
TESTS += test/stage/stage_subfiles.mpi
test_stage_stage_subfiles_mpi_SOURCES = test/stage/stage_subfiles.c test/stage/stage_scene.c test/stage/stage_scene.h \
	test/blob/foreign_make.c test/blob/foreign_make.h
test_stage_stage_subfiles_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/stage/stage_behind.mpi
TESTS += test/stage/stage_behind.mpi
test_stage_stage_behind_mpi_SOURCES = test/stage/stage_behind.c test/stage/stage_ints.h
test_stage_stage_behind_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/stage/stage_far.mpi
TESTS += test/stage/stage_far.mpi test/stage/stage_nodes.sh test/stage/stage_parts.sh
test_stage_stage_far_mpi_SOURCES = test/stage/stage_far.c test/stage/stage_ints.h
test_stage_stage_far_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/stage/stage_sockets.mpi
TESTS += test/stage/stage_sockets.mpi
test_stage_stage_sockets_mpi_SOURCES = test/stage/stage_sockets.c test/stage/stage_ints.h $(fault_socket)
test_stage_stage_sockets_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/stage/stage_faults.mpi test/stage/stage_killed
TESTS += test/stage/stage_faults.mpi test/stage/stage_kill.sh
test_stage_stage_faults_mpi_SOURCES = test/stage/stage_faults.c test/stage/stage_ints.h
test_stage_stage_faults_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
test_stage_stage_killed_SOURCES = test/stage/stage_killed.c
test_stage_stage_killed_LDADD = libcore.la
EXTRA_DIST += test/stage/stage_kill.sh
TESTS += test/stage/stage_others.sh
EXTRA_DIST += test/stage/stage_others.sh test/stage/stage_nodes.sh test/stage/stage_parts.sh test/stage/stage_suites.sh
