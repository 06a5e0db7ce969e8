libcore_la_SOURCES += \
	src/lib/trace/trace_stats.c src/lib/trace/trace_stats.h \
	src/lib/trace/trace_stats.def \
	src/lib/trace/trace_record.c src/lib/trace/trace_record.h \
	src/lib/trace/trace_parts.def src/lib/trace/trace_impl.h \
	src/lib/trace/trace_file.c src/lib/trace/trace_text.c
