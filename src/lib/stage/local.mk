libserial_la_SOURCES += src/lib/stage/stage_table.c src/lib/stage/stage_table.h
libcore_la_SOURCES += \
	src/lib/stage/stage.h \
	src/lib/stage/stage_ahead.c src/lib/stage/stage_ahead.h \
	src/lib/stage/stage_ask.c \
	src/lib/stage/stage_copy.c src/lib/stage/stage_copy.h \
	src/lib/stage/stage_fetch.c \
	src/lib/stage/stage_get.c \
	src/lib/stage/stage_keep.c src/lib/stage/stage_keep.h \
	src/lib/stage/stage_mirror.c \
	src/lib/stage/stage_nodes.c src/lib/stage/stage_nodes.h \
	src/lib/stage/stage_open.c \
	src/lib/stage/stage_serve.c \
	src/lib/stage/stage_source.c \
	src/lib/stage/stage_space.c
