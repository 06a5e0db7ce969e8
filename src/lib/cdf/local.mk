cdf_sources = \
	src/lib/cdf/cdf.h src/lib/cdf/cdf_impl.h \
	src/lib/cdf/cdf_att.c \
	src/lib/cdf/cdf_compare.c \
	src/lib/cdf/cdf_decode.c \
	src/lib/cdf/cdf_def.c \
	src/lib/cdf/cdf_envelope.c src/lib/cdf/cdf_envelope.h \
	src/lib/cdf/cdf_encode.c \
	src/lib/cdf/cdf_examine.c \
	src/lib/cdf/cdf_foreign.c \
	src/lib/cdf/cdf_layout.c \
	src/lib/cdf/cdf_model.c \
	src/lib/cdf/cdf_move.c \
	src/lib/cdf/cdf_name.c \
	src/lib/cdf/cdf_type.c \
	src/lib/cdf/cdf_vacancy.c
libserial_la_SOURCES += $(cdf_sources)
