base_serial_sources = \
	src/lib/base/base_arena.c src/lib/base/base_arena.h \
	src/lib/base/base_bytes.h \
	src/lib/base/base_error.c src/lib/base/base_error.h src/lib/base/base_errors.def \
	src/lib/base/base_fs.c src/lib/base/base_fs.h \
	src/lib/base/base_ids.c src/lib/base/base_ids.h \
	src/lib/base/base_hints_file.c src/lib/base/base_hints_file.h \
	src/lib/base/base_hints_path.c \
	src/lib/base/base_hints_table.c src/lib/base/base_hints_table.h \
	src/lib/base/base_hints.def \
	src/lib/base/base_io.c src/lib/base/base_io.h \
	src/lib/base/base_mem.c src/lib/base/base_mem.h \
	src/lib/base/base_names.c src/lib/base/base_names.h \
	src/lib/base/base_lock.c src/lib/base/base_lock.h \
	src/lib/base/base_owner.c src/lib/base/base_owner.h \
	src/lib/base/base_path.c src/lib/base/base_path.h \
	src/lib/base/base_rights.c src/lib/base/base_rights.h \
	src/lib/base/base_utf8.c src/lib/base/base_utf8.h
libserial_la_SOURCES += $(base_serial_sources) \
	src/lib/base/base_share.h \
	src/lib/base/base_worker.c src/lib/base/base_worker.h \
	src/lib/base/base_sort.c src/lib/base/base_sort.h \
	src/lib/base/base_sum.c src/lib/base/base_sum.h

# As in conv: what takes long is compiled again for processors with AVX2.
if XXHASH
if CONV_AVX2
libserial_la_LIBADD += libbase_avx2.la
noinst_LTLIBRARIES += libbase_avx2.la
libbase_avx2_la_SOURCES = src/lib/base/base_sum_avx2.c
libbase_avx2_la_CFLAGS = $(AM_CFLAGS) -mavx2
endif
endif

libcore_la_SOURCES += \
	src/lib/base/base_hints.c src/lib/base/base_hints.h \
	src/lib/base/base_mpi.c src/lib/base/base_mpi.h
