/* What the bodies of the tests in C++ are made of, besides check.h. */
#ifndef CXX_CHECK_HPP
#define CXX_CHECK_HPP

#include <pnetcdf>

#include "check.h"

/* The exception that a statement throws: its class, and its code. */
#define CHECK_THROWS(type, code, ...)                                                    \
    do {                                                                                 \
        try {                                                                            \
            __VA_ARGS__;                                                                 \
            check_that(false, "nothing is thrown by " #__VA_ARGS__, __FILE__, __LINE__); \
        } catch (const PnetCDF::exceptions::type &e) {                                   \
            CHECK_NC(code, e.errorCode());                                               \
        }                                                                                \
    } while (0)

/* A body as check.h wants it: what it throws is a failure. */
template <void (*body)()> void guarded()
{
    try {
        body();
    } catch (const std::exception &e) {
        check_that(false, e.what(), __FILE__, __LINE__);
    }
}

/* The case's own format. */
inline PnetCDF::NcmpiFile::FileFormat own_format()
{
    return check.format == 1   ? PnetCDF::NcmpiFile::classic
           : check.format == 2 ? PnetCDF::NcmpiFile::classic2
                               : PnetCDF::NcmpiFile::classic5;
}

/* A new file of it. */
inline PnetCDF::NcmpiFile new_file(const char *name)
{
    return PnetCDF::NcmpiFile(MPI_COMM_WORLD, check_path(name),
                              PnetCDF::NcmpiFile::replace, own_format());
}

#endif
