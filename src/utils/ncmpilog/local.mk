# ncmpilog: an MPI program; it works below the public interface.
if BURST
bin_PROGRAMS += ncmpilog
ncmpilog_SOURCES = \
	src/utils/ncmpilog/log.h \
	src/utils/ncmpilog/log_find.c \
	src/utils/ncmpilog/log_main.c \
	src/utils/ncmpilog/log_replay.c \
	src/utils/ncmpilog/log_show.c
ncmpilog_LDADD = libutil.la libcore.la
dist_man_MANS += src/utils/ncmpilog/ncmpilog.1
else
EXTRA_DIST += src/utils/ncmpilog/ncmpilog.1
endif
