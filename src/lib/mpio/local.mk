libcore_la_SOURCES += \
	src/lib/mpio/mpio.h \
	src/lib/mpio/mpio_check.c \
	src/lib/mpio/mpio_cover.c \
	src/lib/mpio/mpio_define.c \
	src/lib/mpio/mpio_domain.c src/lib/mpio/mpio_domain.h \
	src/lib/mpio/mpio_exchange.c src/lib/mpio/mpio_exchange.h \
	src/lib/mpio/mpio_file.c src/lib/mpio/mpio_file.h \
	src/lib/mpio/mpio_guard.c \
	src/lib/mpio/mpio_header.c \
	src/lib/mpio/mpio_image.c \
	src/lib/mpio/mpio_move.c src/lib/mpio/mpio_move.h \
	src/lib/mpio/mpio_open.c \
	src/lib/mpio/mpio_direct.c \
	src/lib/mpio/mpio_pack.c src/lib/mpio/mpio_pack.h \
	src/lib/mpio/mpio_pool.c src/lib/mpio/mpio_pool.h \
	src/lib/mpio/mpio_recover.c \
	src/lib/mpio/mpio_share.c src/lib/mpio/mpio_share.h \
	src/lib/mpio/mpio_transfer.c \
	src/lib/mpio/mpio_twophase.c src/lib/mpio/mpio_twophase.h \
	src/lib/mpio/mpio_window.c src/lib/mpio/mpio_window.h
