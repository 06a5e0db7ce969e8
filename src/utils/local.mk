# The tools. files.list lists their sources and manual pages.
AM_CPPFLAGS += -I$(srcdir)/src/utils/common -I$(srcdir)/src/utils/cdfdiff

# libutil has the code that all tools share. libdiff has the code that cdfdiff and ncmpidiff share:
# everything except reading.
noinst_LTLIBRARIES += libutil.la libdiff.la
libutil_la_LIBADD = libserial.la -lm
libdiff_la_LIBADD = libutil.la

bin_SCRIPTS += src/utils/pnetcdf-config/pnetcdf-config \
	src/utils/pnetcdf_version/pnetcdf_version
bin_PROGRAMS += cdfdiff ncmpicopy ncmpidiff ncmpidump ncmpigen ncmpihints ncmpijoin ncmpirefs \
	ncmpitrace ncoffsets ncvalidator

ncmpicopy_SOURCES += $(whole_sources)
ncmpicopy_LDFLAGS = $(TOOL_RUNPATH)
ncmpicopy_LDADD = libutil.la libpnetcdf.la
ncmpidiff_SOURCES += $(whole_sources)
ncmpidiff_LDFLAGS = $(TOOL_RUNPATH)
ncmpidiff_LDADD = libdiff.la libpnetcdf.la
ncmpijoin_LDADD = libutil.la libcore.la

# All tools are linked by MPI's compiler wrapper, but serial tools must not load the MPI library.
WITHOUT_MPI = -Wl,--as-needed
cdfdiff_LDFLAGS = $(WITHOUT_MPI)
cdfdiff_LDADD = libdiff.la
ncmpidump_LDFLAGS = $(WITHOUT_MPI)
ncmpidump_LDADD = libutil.la
ncmpigen_LDFLAGS = $(WITHOUT_MPI)
ncmpigen_LDADD = libutil.la
ncmpihints_LDFLAGS = $(WITHOUT_MPI)
ncmpihints_LDADD = libutil.la
ncmpirefs_LDFLAGS = $(WITHOUT_MPI)
ncmpirefs_LDADD = libutil.la
ncmpitrace_LDFLAGS = $(WITHOUT_MPI)
ncmpitrace_LDADD = libutil.la
ncoffsets_LDFLAGS = $(WITHOUT_MPI)
ncoffsets_LDADD = libutil.la
ncvalidator_LDFLAGS = $(WITHOUT_MPI)
ncvalidator_LDADD = libutil.la

# ncmpilog is an MPI program that uses internal interfaces of the library.
if BURST
bin_PROGRAMS += ncmpilog
ncmpilog_LDADD = libutil.la libcore.la
else
EXTRA_DIST += src/utils/ncmpilog/ncmpilog.1
endif
