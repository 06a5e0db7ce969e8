# What all tools share.
AM_CPPFLAGS += -I$(srcdir)/src/utils/common
noinst_LTLIBRARIES += libutil.la
libutil_la_SOURCES = \
	src/utils/common/util_blob.c src/utils/common/util_blob.h \
	src/utils/common/util_blob_foreign.c \
	src/utils/common/util_blob_impl.h src/utils/common/util_blob_lay.c \
	src/utils/common/util_blob_moment.c \
	src/utils/common/util_blob_sums.c \
	src/utils/common/util_classic.c src/utils/common/util_classic.h \
	src/utils/common/util_json.c src/utils/common/util_json.h \
	src/utils/common/util_message.c src/utils/common/util_message.h \
	src/utils/common/util_name.c src/utils/common/util_name.h \
	src/utils/common/util_number.c src/utils/common/util_number.h \
	src/utils/common/util_options.c src/utils/common/util_options.h \
	src/utils/common/util_out.c src/utils/common/util_out.h \
	src/utils/common/util_piece.c src/utils/common/util_piece.h \
	src/utils/common/util_plot.c src/utils/common/util_plot.h \
	src/utils/common/util_progress.c src/utils/common/util_progress.h \
	src/utils/common/util_read.c src/utils/common/util_read.h \
	src/utils/common/util_rights.c src/utils/common/util_rights.h \
	src/utils/common/util_select.c src/utils/common/util_select.h \
	src/utils/common/util_slab.c src/utils/common/util_slab.h \
	src/utils/common/util_type.c src/utils/common/util_type.h
libutil_la_LIBADD = libserial.la -lm

# The compiler is MPI's, and the MPI library need not be loaded for a serial tool.
WITHOUT_MPI = -Wl,--as-needed
