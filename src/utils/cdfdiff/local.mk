# cdfdiff and ncmpidiff, which share all but reading.
AM_CPPFLAGS += -I$(srcdir)/src/utils/cdfdiff
noinst_LTLIBRARIES += libdiff.la
libdiff_la_SOURCES = \
	src/utils/cdfdiff/diff.h \
	src/utils/cdfdiff/diff_data.c \
	src/utils/cdfdiff/diff_draw.c \
	src/utils/cdfdiff/diff_header.c \
	src/utils/cdfdiff/diff_map.c \
	src/utils/cdfdiff/diff_options.c \
	src/utils/cdfdiff/diff_report.c \
	src/utils/cdfdiff/diff_run.c \
	src/utils/cdfdiff/diff_value.c
libdiff_la_LIBADD = libutil.la

bin_PROGRAMS += cdfdiff
cdfdiff_SOURCES = src/utils/cdfdiff/cdfdiff_main.c
cdfdiff_LDFLAGS = $(WITHOUT_MPI)
cdfdiff_LDADD = libdiff.la
dist_man_MANS += src/utils/cdfdiff/cdfdiff.1
