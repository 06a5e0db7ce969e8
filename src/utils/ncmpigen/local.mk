# ncmpigen.
bin_PROGRAMS += ncmpigen
ncmpigen_SOURCES = \
	src/utils/ncmpigen/gen.h \
	src/utils/ncmpigen/gen_c.c \
	src/utils/ncmpigen/gen_data.c \
	src/utils/ncmpigen/gen_file.c \
	src/utils/ncmpigen/gen_fortran.c \
	src/utils/ncmpigen/gen_main.c
ncmpigen_LDFLAGS = $(WITHOUT_MPI)
ncmpigen_LDADD = libutil.la
dist_man_MANS += src/utils/ncmpigen/ncmpigen.1
