libcore_la_SOURCES += \
	src/lib/api/api.h \
	src/lib/api/api_access.c src/lib/api/api_access.h \
	src/lib/api/api_att.c \
	src/lib/api/api_blocking.c \
	src/lib/api/api_buffer.c src/lib/api/api_buffer.h \
	src/lib/api/api_dataset.h \
	src/lib/api/api_cdl.c \
	src/lib/api/api_closing.c src/lib/api/api_closing.h \
	src/lib/api/api_define.c \
	src/lib/api/api_info.c \
	src/lib/api/api_inq.c \
	src/lib/api/api_mode.c \
	src/lib/api/api_nonblocking.c \
	src/lib/api/api_open.c \
	src/lib/api/api_prefetch.c \
	src/lib/api/api_queue.c src/lib/api/api_queue.h \
	src/lib/api/api_runs.c \
	src/lib/api/api_safe.c src/lib/api/api_safe.h \
	src/lib/api/api_table.c \
	src/lib/api/api_trace.c src/lib/api/api_trace.h \
	src/lib/api/api_vard.c \
	src/lib/api/api_words.c src/lib/api/api_words.h

# Generated from src/tables.
nodist_libcore_la_SOURCES = $(API_TYPED) src/lib/api/api_typed_att.c
