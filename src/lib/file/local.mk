libcore_la_SOURCES += \
	src/lib/file/file.h \
	src/lib/file/file_descriptor.c src/lib/file/file_descriptor.h \
	src/lib/file/file_guard.c \
	src/lib/file/file_identity.c src/lib/file/file_identity.h \
	src/lib/file/file_lend.c src/lib/file/file_lend.h \
	src/lib/file/file_open.c \
	src/lib/file/file_scatter.c \
	src/lib/file/file_transfer.c
