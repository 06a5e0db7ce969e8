libcore_la_SOURCES += \
	src/lib/mpio/mpio.h \
	src/lib/mpio/mpio_check.c \
	src/lib/mpio/mpio_define.c \
	src/lib/mpio/mpio_direct.c \
	src/lib/mpio/mpio_header.c \
	src/lib/mpio/mpio_image.c \
	src/lib/mpio/mpio_move.c src/lib/mpio/mpio_move.h \
	src/lib/mpio/mpio_open.c \
	src/lib/mpio/mpio_recover.c \
	src/lib/mpio/mpio_transfer.c
