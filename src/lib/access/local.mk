libcore_la_SOURCES += \
	src/lib/access/access_order.c \
	src/lib/access/access_place.c \
	src/lib/access/access_request.h \
	src/lib/access/access_runs.c src/lib/access/access_runs.h \
	src/lib/access/access_stream.c \
	src/lib/access/access_survey.c \
	src/lib/access/access_tile.c src/lib/access/access_tile.h \
	src/lib/access/access_values.c src/lib/access/access_values.h \
	src/lib/access/access_walk.c src/lib/access/access_walk.h
