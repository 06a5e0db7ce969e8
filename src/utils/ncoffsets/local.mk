# ncoffsets.
bin_PROGRAMS += ncoffsets
ncoffsets_SOURCES = \
	src/utils/ncoffsets/offsets.h \
	src/utils/ncoffsets/offsets_main.c \
	src/utils/ncoffsets/offsets_show.c
ncoffsets_LDFLAGS = $(WITHOUT_MPI)
ncoffsets_LDADD = libutil.la
dist_man_MANS += src/utils/ncoffsets/ncoffsets.1
