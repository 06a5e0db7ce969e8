# ncmpidump.
bin_PROGRAMS += ncmpidump
ncmpidump_SOURCES = \
	src/utils/ncmpidump/dump.h \
	src/utils/ncmpidump/dump_att.c \
	src/utils/ncmpidump/dump_calendar.c \
	src/utils/ncmpidump/dump_data.c \
	src/utils/ncmpidump/dump_date.c src/utils/ncmpidump/dump_date.h \
	src/utils/ncmpidump/dump_header.c \
	src/utils/ncmpidump/dump_json.c \
	src/utils/ncmpidump/dump_main.c \
	src/utils/ncmpidump/dump_select.c \
	src/utils/ncmpidump/dump_text.c src/utils/ncmpidump/dump_text.h \
	src/utils/ncmpidump/dump_value.c src/utils/ncmpidump/dump_value.h
ncmpidump_LDFLAGS = $(WITHOUT_MPI)
ncmpidump_LDADD = libutil.la
dist_man_MANS += src/utils/ncmpidump/ncmpidump.1
