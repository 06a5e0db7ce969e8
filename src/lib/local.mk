# libserial: the rooms without MPI, for the tools, the fuzzers and the unit tests.
# libcore: everything, with hidden symbols in reach of the tests.
# libpnetcdf: what is installed.
noinst_LTLIBRARIES += libserial.la libcore.la
lib_LTLIBRARIES += libpnetcdf.la

libserial_la_SOURCES =
libserial_la_LIBADD =
libcore_la_SOURCES =
libcore_la_LIBADD = libserial.la
libpnetcdf_la_SOURCES =
libpnetcdf_la_LIBADD = libcore.la
libpnetcdf_la_LDFLAGS = -version-info $(LIBRARY_VERSION_INFO) $(LIBRARY_RELEASE) -no-undefined

include src/lib/base/local.mk
include src/lib/cdf/local.mk
include src/lib/journal/local.mk
include src/lib/conv/local.mk
include src/lib/cdl/local.mk
include src/lib/region/local.mk
include src/lib/trace/local.mk
include src/lib/dataset/local.mk
include src/lib/access/local.mk
include src/lib/node/local.mk
include src/lib/file/local.mk
include src/lib/twophase/local.mk
include src/lib/driver/local.mk
include src/lib/mpio/local.mk
include src/lib/blob/local.mk
include src/lib/burst/local.mk
include src/lib/stage/local.mk
include src/lib/api/local.mk
