# ncmpidump, and with it the files that all tools share.
AM_CPPFLAGS += -I$(srcdir)/src/utils/common
noinst_LTLIBRARIES += libutil.la
libutil_la_SOURCES = \
	src/utils/common/util_classic.c src/utils/common/util_classic.h \
	src/utils/common/util_message.c src/utils/common/util_message.h \
	src/utils/common/util_number.c src/utils/common/util_number.h \
	src/utils/common/util_options.c src/utils/common/util_options.h \
	src/utils/common/util_out.c src/utils/common/util_out.h
libutil_la_LIBADD = libserial.la -lm

# The compiler is MPI's, and the MPI library need not be loaded for a serial tool.
WITHOUT_MPI = -Wl,--as-needed

bin_PROGRAMS += ncmpidump
ncmpidump_SOURCES = \
	src/utils/ncmpidump/dump.h \
	src/utils/ncmpidump/dump_att.c \
	src/utils/ncmpidump/dump_calendar.c \
	src/utils/ncmpidump/dump_data.c \
	src/utils/ncmpidump/dump_date.c src/utils/ncmpidump/dump_date.h \
	src/utils/ncmpidump/dump_header.c \
	src/utils/ncmpidump/dump_main.c \
	src/utils/ncmpidump/dump_name.c src/utils/ncmpidump/dump_name.h \
	src/utils/ncmpidump/dump_read.c src/utils/ncmpidump/dump_read.h \
	src/utils/ncmpidump/dump_select.c \
	src/utils/ncmpidump/dump_text.c src/utils/ncmpidump/dump_text.h \
	src/utils/ncmpidump/dump_value.c src/utils/ncmpidump/dump_value.h
ncmpidump_LDFLAGS = $(WITHOUT_MPI)
ncmpidump_LDADD = libutil.la
dist_man_MANS += src/utils/ncmpidump/ncmpidump.1
