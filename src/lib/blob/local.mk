# Maps and what subfiles say of them know no MPI: the tools use them without.
blob_serial_sources = \
	src/lib/blob/blob_foreign.c src/lib/blob/blob_foreign.h \
	src/lib/blob/blob_foreign_home.c \
	src/lib/blob/blob_map.c src/lib/blob/blob_map.h \
	src/lib/blob/blob_moment.c src/lib/blob/blob_moment.h \
	src/lib/blob/blob_names.h \
	src/lib/blob/blob_source.c src/lib/blob/blob_source.h
# What calls code that is compiled for several processors.
libserial_la_SOURCES += src/lib/blob/blob_sum.c src/lib/blob/blob_sum.h
libserial_la_SOURCES += $(blob_serial_sources)
libcore_la_SOURCES += \
	src/lib/blob/blob.h \
	src/lib/blob/blob_close.c \
	src/lib/blob/blob_define.c \
	src/lib/blob/blob_foreign_open.c \
	src/lib/blob/blob_hold.c src/lib/blob/blob_hold.h \
	src/lib/blob/blob_join.c \
	src/lib/blob/blob_move.c \
	src/lib/blob/blob_open.c \
	src/lib/blob/blob_own.c src/lib/blob/blob_own.h \
	src/lib/blob/blob_read.c \
	src/lib/blob/blob_remove.c \
	src/lib/blob/blob_settle.c src/lib/blob/blob_settle.h \
	src/lib/blob/blob_sub.c \
	src/lib/blob/blob_sums.c \
	src/lib/blob/blob_transfer.c \
	src/lib/blob/blob_walk.c src/lib/blob/blob_walk.h
