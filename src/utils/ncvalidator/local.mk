# ncvalidator.
bin_PROGRAMS += ncvalidator
ncvalidator_SOURCES = \
	src/utils/ncvalidator/validator.h \
	src/utils/ncvalidator/validator_blob.c \
	src/utils/ncvalidator/validator_check.c \
	src/utils/ncvalidator/validator_finish.c \
	src/utils/ncvalidator/validator_force.c \
	src/utils/ncvalidator/validator_main.c \
	src/utils/ncvalidator/validator_repair.c
ncvalidator_LDFLAGS = $(WITHOUT_MPI)
ncvalidator_LDADD = libutil.la
dist_man_MANS += src/utils/ncvalidator/ncvalidator.1
