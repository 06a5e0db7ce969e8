# The format, the writer and the reader of logs know no MPI: ncmpilog and the unit tests
# use them without.
if BURST
libserial_la_SOURCES += \
	src/lib/burst/burst_format.c src/lib/burst/burst_format.h \
	src/lib/burst/burst_holder.c src/lib/burst/burst_holder.h \
	src/lib/burst/burst_left.c \
	src/lib/burst/burst_log.c src/lib/burst/burst_log.h \
	src/lib/burst/burst_reader.c src/lib/burst/burst_reader.h \
	src/lib/burst/burst_sum.h

libcore_la_SOURCES += \
	src/lib/burst/burst.h \
	src/lib/burst/burst_batch.c \
	src/lib/burst/burst_begin.c \
	src/lib/burst/burst_drain.c \
	src/lib/burst/burst_file.c \
	src/lib/burst/burst_find.c \
	src/lib/burst/burst_get.c \
	src/lib/burst/burst_index.c \
	src/lib/burst/burst_open.c \
	src/lib/burst/burst_order.c src/lib/burst/burst_others.c \
	src/lib/burst/burst_overlay.c \
	src/lib/burst/burst_place.c \
	src/lib/burst/burst_pool.c src/lib/burst/burst_pool.h \
	src/lib/burst/burst_post.c \
	src/lib/burst/burst_put.c \
	src/lib/burst/burst_recover.c \
	src/lib/burst/burst_retire.c \
	src/lib/burst/burst_work.c
endif
