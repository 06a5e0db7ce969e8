libcore_la_SOURCES += \
	src/lib/driver/driver.c src/lib/driver/driver.h src/lib/driver/driver_registry.c \
	src/lib/driver/driver_fill.c src/lib/driver/driver_fill.h
