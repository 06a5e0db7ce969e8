libcore_la_SOURCES += \
	src/lib/access/access_request.c src/lib/access/access_request.h
