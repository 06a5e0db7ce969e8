# tests: api
TESTS += test/api/header.sh test/api/reference.sh test/api/symbols.sh
EXTRA_DIST += test/api/header.sh test/api/reference.sh test/api/symbols.sh test/api/functions.txt test/api/functions.awk \
	test/api/prototypes.awk test/api/constants.txt

# Programs that go through all functions by a table, generated as they are.
EXTRA_DIST += test/api/api_calls.c.m4
CLEANFILES += test/api/api_calls.c
test/api/api_calls.c: test/api/api_calls.c.m4 src/tables/tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -I $(srcdir)/src/tables \
		$(srcdir)/test/api/api_calls.c.m4 > $@.tmp && mv $@.tmp $@

check_LTLIBRARIES += libcalls.la
libcalls_la_SOURCES = test/api/api_calls.h
nodist_libcalls_la_SOURCES = test/api/api_calls.c
libcalls_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/api

check_PROGRAMS += test/api/api_atts.mpi test/api/api_every.mpi
TESTS += test/api/api_atts.mpi test/api/api_every.mpi
test_api_api_atts_mpi_SOURCES = test/api/api_atts.c
test_api_api_atts_mpi_LDADD = libcalls.la $(MPI_TEST_LIBS)
test_api_api_every_mpi_SOURCES = test/api/api_every.c
test_api_api_every_mpi_LDADD = libcalls.la $(MPI_TEST_LIBS)

# Behaviour of datasets.
api_tests = \
	test/api/attributes.mpi \
	test/api/bad_input.mpi \
	test/api/cdl_headers.mpi \
	test/api/collective.mpi \
	test/api/consistency.mpi \
	test/api/convert.mpi \
	test/api/create_open.mpi \
	test/api/data_modes.mpi \
	test/api/define.mpi \
	test/api/elsewhere.mpi \
	test/api/error_order.mpi \
	test/api/error_text.mpi \
	test/api/error_words.mpi \
	test/api/file_layout.mpi \
	test/api/filetypes.mpi \
	test/api/fill.mpi \
	test/api/flexible.mpi \
	test/api/hints.mpi \
	test/api/hints_all.mpi \
	test/api/hints_file.mpi \
	test/api/inquire.mpi \
	test/api/io_errors.mpi \
	test/api/nonblocking_ids.mpi \
	test/api/nonblocking_buffered.mpi \
	test/api/nonblocking_kept.mpi \
	test/api/nonblocking_data.mpi \
	test/api/promises.mpi \
	test/api/records.mpi \
	test/api/redefine.mpi \
	test/api/threads.mpi
check_PROGRAMS += $(api_tests)
TESTS += $(api_tests)
test_api_attributes_mpi_SOURCES = test/api/attributes.c test/api/made_dataset.h
test_api_attributes_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_bad_input_mpi_SOURCES = test/api/bad_input.c test/api/made_dataset.h
test_api_bad_input_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_cdl_headers_mpi_SOURCES = test/api/cdl_headers.c
test_api_cdl_headers_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_collective_mpi_SOURCES = test/api/collective.c test/api/made_dataset.h
test_api_collective_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_consistency_mpi_SOURCES = test/api/consistency.c test/api/made_dataset.h
test_api_consistency_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_convert_mpi_SOURCES = test/api/convert.c test/api/made_dataset.h
test_api_convert_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_create_open_mpi_SOURCES = test/api/create_open.c test/api/made_dataset.h
test_api_create_open_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_data_modes_mpi_SOURCES = test/api/data_modes.c test/api/made_dataset.h
test_api_data_modes_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_define_mpi_SOURCES = test/api/define.c test/api/made_dataset.h
test_api_define_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_elsewhere_mpi_SOURCES = test/api/elsewhere.c
test_api_elsewhere_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_error_order_mpi_SOURCES = test/api/error_order.c test/api/made_dataset.h
test_api_error_order_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_error_text_mpi_SOURCES = test/api/error_text.c test/api/made_dataset.h
test_api_error_text_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_error_words_mpi_SOURCES = test/api/error_words.c test/api/made_dataset.h
test_api_error_words_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_file_layout_mpi_SOURCES = test/api/file_layout.c test/api/made_dataset.h
test_api_file_layout_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_filetypes_mpi_SOURCES = test/api/filetypes.c test/api/made_dataset.h
test_api_filetypes_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_fill_mpi_SOURCES = test/api/fill.c test/api/made_dataset.h
test_api_fill_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_flexible_mpi_SOURCES = test/api/flexible.c test/api/made_dataset.h
test_api_flexible_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_hints_mpi_SOURCES = test/api/hints.c test/api/made_dataset.h
test_api_hints_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_hints_file_mpi_SOURCES = test/api/hints_file.c test/api/made_dataset.h \
	test/support/shortage.c test/support/shortage.h
test_api_hints_file_mpi_LDFLAGS = $(SHORTAGE_WRAP)
test_api_hints_file_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
test_api_hints_all_mpi_SOURCES = test/api/hints_all.c test/api/made_dataset.h
test_api_hints_all_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_inquire_mpi_SOURCES = test/api/inquire.c test/api/made_dataset.h
test_api_inquire_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_io_errors_mpi_SOURCES = test/api/io_errors.c test/api/made_dataset.h
test_api_io_errors_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
test_api_nonblocking_ids_mpi_SOURCES = test/api/nonblocking_ids.c test/api/nonblocking.h test/api/made_dataset.h
test_api_nonblocking_ids_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_nonblocking_kept_mpi_SOURCES = test/api/nonblocking_kept.c test/api/nonblocking.h test/api/made_dataset.h
test_api_nonblocking_kept_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_nonblocking_buffered_mpi_SOURCES = test/api/nonblocking_buffered.c test/api/nonblocking.h test/api/made_dataset.h
test_api_nonblocking_buffered_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_nonblocking_data_mpi_SOURCES = test/api/nonblocking_data.c test/api/nonblocking.h test/api/made_dataset.h
test_api_nonblocking_data_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_promises_mpi_SOURCES = test/api/promises.c test/api/made_dataset.h
test_api_promises_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_records_mpi_SOURCES = test/api/records.c test/api/made_dataset.h
test_api_records_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_redefine_mpi_SOURCES = test/api/redefine.c test/api/made_dataset.h
test_api_redefine_mpi_LDADD = $(MPI_TEST_LIBS)
test_api_threads_mpi_SOURCES = test/api/threads.c test/api/nonblocking.h test/api/made_dataset.h
test_api_threads_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/api/safe_mode.mpi
TESTS += test/api/safe_mode.mpi
test_api_safe_mode_mpi_SOURCES = test/api/safe_mode.c test/api/made_dataset.h
test_api_safe_mode_mpi_LDADD = $(MPI_TEST_LIBS)

# Faults on one process, crossed with the ways of access.
check_PROGRAMS += test/api/fault_matrix.mpi
TESTS += test/api/fault_matrix.mpi
test_api_fault_matrix_mpi_SOURCES = test/api/fault_matrix.c test/api/fault_calls.c \
	test/api/fault_calls.h test/api/made_dataset.h
test_api_fault_matrix_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)

check_PROGRAMS += test/api/overflow.mpi
TESTS += test/api/overflow.mpi
test_api_overflow_mpi_SOURCES = test/api/overflow.c test/api/fault_calls.c \
	test/api/fault_calls.h test/api/made_dataset.h
test_api_overflow_mpi_LDADD = $(MPI_TEST_LIBS)

check_PROGRAMS += test/api/memory_short.mpi
TESTS += test/api/memory_short.mpi
test_api_memory_short_mpi_SOURCES = test/api/memory_short.c test/api/fault_calls.c \
	test/api/fault_calls.h test/api/made_dataset.h test/support/shortage.c \
	test/support/shortage.h
test_api_memory_short_mpi_LDFLAGS = $(SHORTAGE_WRAP)
test_api_memory_short_mpi_LDADD = $(MPI_TEST_LIBS)

# Each call that can fail does, in each step of a dataset's life: a part, and all.
each_fault_steps = test/api/each_fault_steps.c test/api/each_fault_mixed.c \
	test/api/each_fault_later.c test/api/each_fault.h test/api/each_fault_scene.h
check_PROGRAMS += test/api/each_fault.mpi
TESTS += test/api/each_fault.mpi
test_api_each_fault_mpi_SOURCES = test/api/each_fault.c $(each_fault_steps) \
	test/api/fault_calls.c test/api/fault_calls.h \
	test/api/made_dataset.h $(fault_mpi) $(kept_files) test/support/shortage.c test/support/shortage.h
test_api_each_fault_mpi_LDFLAGS = $(SHORTAGE_WRAP)
test_api_each_fault_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
EXTRA_DIST += test/api/each_fault.sh
check-faults: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) $(BASH_PATH) $(srcdir)/test/api/each_fault.sh
.PHONY: check-faults

check_PROGRAMS += test/api/call_order.mpi
TESTS += test/api/call_order.mpi
test_api_call_order_mpi_SOURCES = test/api/call_order.c
test_api_call_order_mpi_LDADD = $(MPI_TEST_LIBS)

# The same steps at random, for long: `make check-soak` takes half an hour.
check_PROGRAMS += test/api/soak.mpi
TESTS += test/api/soak.mpi
test_api_soak_mpi_SOURCES = test/api/soak.c $(each_fault_steps) \
	test/api/fault_calls.c test/api/fault_calls.h \
	test/api/made_dataset.h $(fault_mpi) $(kept_files) test/support/shortage.c test/support/shortage.h
test_api_soak_mpi_LDFLAGS = $(SHORTAGE_WRAP)
test_api_soak_mpi_LDADD = libfault.la $(MPI_TEST_LIBS)
check-soak: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) NCMPI_SOAK=$${NCMPI_SOAK:-1800} \
		NCMPI_TEST_LIMIT=86400 $(BASH_PATH) $(srcdir)/test/support/run-mpi test/api/soak.mpi
.PHONY: check-soak

# Every collective function, with one argument after the other wrong on one process: a part,
# and all.
check_PROGRAMS += test/api/one_bad.mpi
TESTS += test/api/one_bad.mpi
test_api_one_bad_mpi_SOURCES = test/api/one_bad.c test/api/one_bad_calls.c \
	test/api/one_bad_data.c test/api/one_bad_scene.c test/api/one_bad.h
test_api_one_bad_mpi_LDADD = libcalls.la $(MPI_TEST_LIBS)
check-one-bad: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) NCMPI_ONE_BAD=all NCMPI_TEST_LIMIT=86400 \
		NCMPI_TEST_PROCS="$${NCMPI_TEST_PROCS:-1 2 3 4}" \
		$(BASH_PATH) $(srcdir)/test/support/run-mpi test/api/one_bad.mpi
.PHONY: check-one-bad

# Hints, variables and paths that nobody means well with: a part, and all.
check_PROGRAMS += test/api/hostile.mpi
TESTS += test/api/hostile.mpi
test_api_hostile_mpi_SOURCES = test/api/hostile.c test/api/made_dataset.h
test_api_hostile_mpi_LDADD = $(MPI_TEST_LIBS)
check-hostile: check-programs
	@$(AM_TESTS_ENVIRONMENT) srcdir=$(srcdir) NCMPI_HOSTILE=all NCMPI_TEST_LIMIT=86400 \
		NCMPI_TEST_PROCS="$${NCMPI_TEST_PROCS:-1 2 3 4}" \
		$(BASH_PATH) $(srcdir)/test/support/run-mpi test/api/hostile.mpi
.PHONY: check-hostile

# Real files; with check-realdata the large ones too.
check_PROGRAMS += test/api/realdata
TESTS += test/api/realdata.sh
EXTRA_DIST += test/api/realdata.sh
test_api_realdata_SOURCES = test/api/realdata.c test/support/element_sum.h
test_api_realdata_LDADD = libcore.la
check-realdata:
	REALDATA=all $(MAKE) check TESTS=test/api/realdata.sh
.PHONY: check-realdata
