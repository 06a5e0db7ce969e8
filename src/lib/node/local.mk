libcore_la_SOURCES += \
	src/lib/node/node.h \
	src/lib/node/node_find.c \
	src/lib/node/node_kept.c src/lib/node/node_kept.h \
	src/lib/node/node_shared.c \
	src/lib/node/node_word.c
