libserial_la_SOURCES += src/lib/cdf/cdf.h
