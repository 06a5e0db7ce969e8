# ncmpihints.
bin_PROGRAMS += ncmpihints
ncmpihints_SOURCES = \
	src/utils/ncmpihints/hints.h \
	src/utils/ncmpihints/hints_list.c \
	src/utils/ncmpihints/hints_main.c \
	src/utils/ncmpihints/hints_path.c
ncmpihints_LDFLAGS = $(WITHOUT_MPI)
ncmpihints_LDADD = libutil.la
dist_man_MANS += src/utils/ncmpihints/ncmpihints.1
