libcore_la_SOURCES += \
	src/lib/driver/driver.c src/lib/driver/driver.h \
	src/lib/driver/driver_file.c src/lib/driver/driver_file.h \
	src/lib/driver/driver_fill.c src/lib/driver/driver_fill.h \
	src/lib/driver/driver_share.c src/lib/driver/driver_share.h \
	src/lib/driver/driver_stats.c src/lib/driver/driver_stats.h \
	src/lib/driver/driver_stats.def \
	src/lib/driver/driver_trace.c src/lib/driver/driver_trace.h \
	src/lib/driver/driver_trace.def src/lib/driver/driver_trace_impl.h \
	src/lib/driver/driver_trace_file.c src/lib/driver/driver_trace_text.c
