m4_include(`cxx_tables.m4')m4_dnl
/* Generated from cxx_pnetcdf.m4: the C++ interface of PnetCDF. */
/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pnetcdf
 * Parallel netCDF in C++: classes over the functions of pnetcdf.h, which tells what each of
 * them does, whether it is collective, and its errors. doc/cxx.md tells what is particular:
 *
 * - A result of C other than NC_NOERR is thrown, as an exception with the code, the words
 *   of ncmpi_strerror(), and where in this library that was. What is collective in C is so
 *   here: a process that meets an error alone must not leave out the next collective call.
 * - What defines something goes to define mode first, and what blocks for data leaves it.
 * - An NcmpiFile that goes out of scope is closed, by all its processes together. The others
 *   (groups, dimensions, variables, attributes) are names of what is in the file: copied and
 *   dropped at no cost, and good for nothing when the file is closed.
 * - What only netCDF-4 files have can be neither made nor found: exceptions::NcNotNc4.
 */
#ifndef PNETCDF_CXX
#define PNETCDF_CXX

#include <exception>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <mpi.h>
#include <pnetcdf.h>

/* Compares two of a class. The function in the library is not const, as in PnetCDF's. C++20
 * tries both ways round and takes that for two candidates, unless it is const. */
#if __cplusplus >= 202002L
#define PNETCDF_COMPARISON(CLASS, BASE)                                                  \
    bool operator==(const CLASS &rhs) const { return BASE::operator==(rhs); }
#else
#define PNETCDF_COMPARISON(CLASS, BASE) bool operator==(const CLASS &rhs);
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
namespace PnetCDF
{
m4_include([cxx_exceptions.m4])m4_dnl
m4_include([cxx_types.m4])m4_dnl
m4_include([cxx_names.m4])m4_dnl
m4_include([cxx_var.m4])m4_dnl
m4_include([cxx_group.m4])m4_dnl
} // namespace PnetCDF
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#undef PNETCDF_COMPARISON

#endif
