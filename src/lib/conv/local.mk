libserial_la_SOURCES += src/lib/conv/conv.h
