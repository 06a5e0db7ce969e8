libcore_la_SOURCES += \
	src/lib/driver/driver.c src/lib/driver/driver.h \
	src/lib/driver/driver_file.c src/lib/driver/driver_file.h \
	src/lib/driver/driver_fill.c src/lib/driver/driver_fill.h \
	src/lib/driver/driver_share.c src/lib/driver/driver_share.h
