libcore_la_SOURCES += src/lib/driver/driver.h
