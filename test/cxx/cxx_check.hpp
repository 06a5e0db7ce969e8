/* Helper functions for tests in C++, in addition to check.h. */
#ifndef CXX_CHECK_HPP
#define CXX_CHECK_HPP

#include <pnetcdf>

#include "check.h"

/* Checks that a statement throws an exception of this class with this code. */
#define CHECK_THROWS(type, code, ...)                                                    \
    do {                                                                                 \
        try {                                                                            \
            __VA_ARGS__;                                                                 \
            check_that(false, "nothing is thrown by " #__VA_ARGS__, __FILE__, __LINE__); \
        } catch (const PnetCDF::exceptions::type &e) {                                   \
            CHECK_NC(code, e.errorCode());                                               \
        }                                                                                \
    } while (0)

/* Adapts a test body to check.h. An exception thrown by the body is a failure. */
template <void (*body)()> void guarded()
{
    try {
        body();
    } catch (const std::exception &e) {
        check_that(false, e.what(), __FILE__, __LINE__);
    }
}

/* Returns the file format of the test case. */
inline PnetCDF::NcmpiFile::FileFormat own_format()
{
    return check.format == 1   ? PnetCDF::NcmpiFile::classic
           : check.format == 2 ? PnetCDF::NcmpiFile::classic2
                               : PnetCDF::NcmpiFile::classic5;
}

/* Creates a file in the format of the test case. */
inline PnetCDF::NcmpiFile new_file(const char *name)
{
    return PnetCDF::NcmpiFile(MPI_COMM_WORLD, check_path(name),
                              PnetCDF::NcmpiFile::replace, own_format());
}

#endif
