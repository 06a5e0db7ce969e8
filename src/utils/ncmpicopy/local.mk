# ncmpicopy.
bin_PROGRAMS += ncmpicopy
ncmpicopy_SOURCES = \
	src/utils/common/util_whole.c src/utils/common/util_whole.h \
	src/utils/ncmpicopy/copy.h \
	src/utils/ncmpicopy/copy_bytes.c \
	src/utils/ncmpicopy/copy_data.c \
	src/utils/ncmpicopy/copy_define.c \
	src/utils/ncmpicopy/copy_main.c \
	src/utils/ncmpicopy/copy_plan.c
ncmpicopy_LDADD = libutil.la libpnetcdf.la
dist_man_MANS += src/utils/ncmpicopy/ncmpicopy.1
