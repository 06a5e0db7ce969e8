# Without MPI: ncvalidator and the unit tests use all of it.
journal_sources = \
	src/lib/journal/journal.h \
	src/lib/journal/journal_file.c src/lib/journal/journal_impl.h \
	src/lib/journal/journal_find.c \
	src/lib/journal/journal_format.c \
	src/lib/journal/journal_owner.c \
	src/lib/journal/journal_rounds.c
libserial_la_SOURCES += $(journal_sources)
