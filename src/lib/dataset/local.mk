libcore_la_SOURCES += src/lib/dataset/dataset.c src/lib/dataset/dataset.h
