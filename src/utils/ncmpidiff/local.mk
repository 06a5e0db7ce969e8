# ncmpidiff: see cdfdiff for most of it.
bin_PROGRAMS += ncmpidiff
ncmpidiff_SOURCES = \
	src/utils/common/util_whole.c src/utils/common/util_whole.h \
	src/utils/ncmpidiff/ncmpidiff.h \
	src/utils/ncmpidiff/ncmpidiff_header.c \
	src/utils/ncmpidiff/ncmpidiff_main.c
ncmpidiff_LDADD = libdiff.la libpnetcdf.la
dist_man_MANS += src/utils/ncmpidiff/ncmpidiff.1
