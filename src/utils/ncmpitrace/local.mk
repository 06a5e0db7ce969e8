# ncmpitrace.
bin_PROGRAMS += ncmpitrace
ncmpitrace_SOURCES = \
	src/utils/ncmpitrace/trace.h \
	src/utils/ncmpitrace/trace_advice.c \
	src/utils/ncmpitrace/trace_draw.c \
	src/utils/ncmpitrace/trace_json.c \
	src/utils/ncmpitrace/trace_list.c \
	src/utils/ncmpitrace/trace_main.c \
	src/utils/ncmpitrace/trace_read.c \
	src/utils/ncmpitrace/trace_show.c \
	src/utils/ncmpitrace/trace_sum.c
ncmpitrace_LDFLAGS = $(WITHOUT_MPI)
ncmpitrace_LDADD = libutil.la
dist_man_MANS += src/utils/ncmpitrace/ncmpitrace.1
