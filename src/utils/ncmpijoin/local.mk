# ncmpijoin.
bin_PROGRAMS += ncmpijoin
ncmpijoin_SOURCES = \
	src/utils/ncmpijoin/join.h \
	src/utils/ncmpijoin/join_bytes.c \
	src/utils/ncmpijoin/join_files.c \
	src/utils/ncmpijoin/join_hold.c \
	src/utils/ncmpijoin/join_main.c
ncmpijoin_LDADD = libutil.la
dist_man_MANS += src/utils/ncmpijoin/ncmpijoin.1
