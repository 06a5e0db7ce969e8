libcore_la_SOURCES += \
	src/lib/twophase/twophase.c src/lib/twophase/twophase.h \
	src/lib/twophase/twophase_cover.c \
	src/lib/twophase/twophase_domain.c src/lib/twophase/twophase_domain.h \
	src/lib/twophase/twophase_engine.h \
	src/lib/twophase/twophase_exchange.c src/lib/twophase/twophase_exchange.h \
	src/lib/twophase/twophase_pack.c src/lib/twophase/twophase_pack.h \
	src/lib/twophase/twophase_window.c src/lib/twophase/twophase_window.h
