m4_include(`cxx_tables.m4')m4_dnl
/* Generated from cxx_pnetcdf.m4: PnetCDF's C++ interface. */
/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pnetcdf
 * Parallel netCDF in C++: classes that call the functions of pnetcdf.h. That header
 * documents each function, whether it is collective, and its errors. doc/cxx.md describes
 * the differences:
 *
 * - A result other than NC_NOERR is thrown as an exception. It contains the code, the
 *   message from ncmpi_strerror(), and the location in this library. Functions that are
 *   collective in C are also collective here: a process with a local error must still
 *   make the next collective call.
 * - Functions that define objects enter define mode first. Blocking data access leaves
 *   it.
 * - An NcmpiFile that goes out of scope closes the file, which is collective. Other
 *   objects (groups, dimensions, variables, attributes) refer to objects in the file.
 *   They are cheap to copy and destroy, and become invalid when the file is closed.
 * - Features that only netCDF-4 files have can be neither created nor found: methods for
 *   them throw exceptions::NcNotNc4. */
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

/* Compares two objects of a class. The library's function is not const, as in PnetCDF.
 * But C++20 tries both orders of the operands, and a call is ambiguous unless the
 * function is const. */
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
