#!/bin/bash
# A CMake project finds an installed library, under any case of its name, and links to it; and
# so do modules FindPnetCDF.cmake in the ways that those of PIO, SCORPIO and netCDF-C search.
here=${srcdir:-.}
. "$here/test/support/tap.sh"
. "$here/test/support/launch.sh"
command -v cmake >/dev/null || { echo "1..0 # SKIP no cmake"; exit 0; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# stage DIR LIBRARY...: an installed tree, elsewhere than where configure was told.
stage() {
    local dir=$1
    shift
    mkdir -p "$dir/include" "$dir/lib/cmake/pnetcdf" "$dir/lib/pkgconfig" "$dir/bin" &&
        cp -P "$@" "$dir/lib" && cp src/utils/pnetcdf-config/pnetcdf-config "$dir/bin" &&
        cp pnetcdf.pc "$dir/lib/pkgconfig" && cp include/pnetcdf.h "$dir/include" && cp src/packaging/*.cmake "$dir/lib/cmake/pnetcdf" &&
        if [ -n "$fortran" ]; then cp include/pnetcdf.mod include/pnetcdf.inc "$dir/include"; fi
}

# project NAME LINE...: a project whose CMakeLists.txt has these lines.
project() {
    local dir=$scratch/$1
    shift
    mkdir -p "$dir" && cat >"$dir/main.c" <<'END'
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    puts(ncmpi_inq_libvers());
    return MPI_Finalize();
}
END
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(example C)' "$@" \
        >"$dir/CMakeLists.txt"
}
# A project in Fortran, whose compilers know nothing of MPI.
fortran_project() {
    local dir=$scratch/$1
    shift
    mkdir -p "$dir" && cat >"$dir/main.f90" <<'END'
program main
  use mpi
  use pnetcdf
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  print *, trim(nf90mpi_inq_libvers())
  call MPI_Finalize(ierr)
end program
END
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(example C Fortran)' "$@" \
        'add_executable(main main.f90)' 'target_link_libraries(main PnetCDF::PnetCDF_Fortran)' \
        >"$dir/CMakeLists.txt"
}
builds_fortran() {
    cmake -S "$scratch/$1" -B "$scratch/$1/build" "-DCMAKE_PREFIX_PATH=$scratch/$2" \
        -DCMAKE_C_COMPILER=cc -DCMAKE_Fortran_COMPILER=gfortran \
        "-DMPI_C_COMPILER=$(command -v "$MPICC")" "-DMPI_Fortran_COMPILER=$(command -v "$MPIF90")" &&
        cmake --build "$scratch/$1/build"
}
no_language() {
    ! configures "$@" >"$scratch/out" 2>&1
    grep 'does not enable the language Fortran' "$scratch/out"
}
configures() {
    cmake -S "$scratch/$1" -B "$scratch/$1/build" "-DCMAKE_PREFIX_PATH=$scratch/$2" \
        "-DCMAKE_C_COMPILER=$MPICC"
}
builds() { configures "$1" "$2" && cmake --build "$scratch/$1/build"; }
runs() {
    launch 1 "$scratch/$1/build/main" >"$scratch/out"
    cat "$scratch/out"
    grep -F "$version" "$scratch/out"
}
refused() { ! configures "$@"; }

# finder NAME < MODULE: a project with a module of its own that sets PnetCDF_INCLUDE_DIR and
# PnetCDF_LIBRARY, and with the checks that the I/O layers of climate models make afterwards.
finder() {
    mkdir -p "$scratch/$1/cmake" && cat >"$scratch/$1/cmake/FindPnetCDF.cmake"
    project "$1" 'list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_SOURCE_DIR}/cmake")' \
        'find_package(MPI REQUIRED COMPONENTS C)' 'find_package(PnetCDF MODULE)' \
        'file(STRINGS "${PnetCDF_INCLUDE_DIR}/pnetcdf.h" lines REGEX "^#define[ \t]+PNETCDF_VERSION_(MAJOR|MINOR|SUB)")' \
        'string(REGEX REPLACE ".*PNETCDF_VERSION_MAJOR[ \t]*([0-9]+).*" "\\1" major "${lines}")' \
        'string(REGEX REPLACE ".*PNETCDF_VERSION_MINOR[ \t]*([0-9]+).*" "\\1" minor "${lines}")' \
        'string(REGEX REPLACE ".*PNETCDF_VERSION_SUB[ \t]*([0-9]+).*" "\\1" sub "${lines}")' \
        "if(NOT \"\${major}.\${minor}.\${sub}\" STREQUAL \"$version\")" \
        'message(FATAL_ERROR "version ${major}.${minor}.${sub}")' 'endif()' \
        'include(CheckSymbolExists)' 'include(CheckLibraryExists)' \
        'set(CMAKE_REQUIRED_INCLUDES ${PnetCDF_INCLUDE_DIR} ${MPI_C_INCLUDE_DIRS})' \
        'set(CMAKE_REQUIRED_LIBRARIES ${PnetCDF_LIBRARY} MPI::MPI_C)' \
        'foreach(name ncmpi_put_varn_float_all ncmpi_iput_varn ncmpi_inq_malloc_size)' \
        'check_symbol_exists(${name} pnetcdf.h HAVE_${name})' \
        'if(NOT HAVE_${name})' 'message(FATAL_ERROR "no ${name}")' 'endif()' 'endforeach()' \
        "$program" 'target_include_directories(main PRIVATE ${PnetCDF_INCLUDE_DIR})' \
        'target_link_libraries(main ${PnetCDF_LIBRARY} MPI::MPI_C)'
}
# by_path NAME TREE: what is asked for is in no place but TREE.
by_path() { PnetCDF_PATH=$scratch/$2 PATH=$scratch/$2/bin:$PATH \
    PKG_CONFIG_PATH=$scratch/$2/lib/pkgconfig builds "$1" "$2"; }
led_to() { grep -E "^$2:.*=$scratch/$1/" "$scratch/$3/build/CMakeCache.txt"; }

fortran=
if [ -e include/pnetcdf.mod ] && command -v gfortran >/dev/null; then fortran=yes; fi
version=$(sed -n 's/^#define PNETCDF_VERSION "\(.*\)"$/\1/p' include/pnetcdf.h)
program='add_executable(main main.c)'
if [ -e .libs/libpnetcdf.so ]; then
    check "a tree with the shared library" stage "$scratch/shared" .libs/libpnetcdf.so*
    project shared 'find_package(PnetCDF 1.14 CONFIG REQUIRED COMPONENTS C)' "$program" \
        'target_link_libraries(main PnetCDF::PnetCDF_C)'
    check "it is found and linked" builds shared shared
    check "the program runs" runs shared
    project upper 'find_package(PNETCDF CONFIG REQUIRED)' "$program" \
        'if(NOT PNETCDF_FOUND)' 'message(FATAL_ERROR "PNETCDF_FOUND is not set")' 'endif()' \
        'target_include_directories(main PRIVATE ${PnetCDF_INCLUDE_DIRS})' \
        'target_link_libraries(main ${PnetCDF_LIBRARIES})'
    check "its name may be in capitals" builds upper shared
    project newer 'find_package(PnetCDF 99 CONFIG REQUIRED)'
    check "a version that it has not is refused" refused newer shared
    project parts 'find_package(PnetCDF CONFIG REQUIRED COMPONENTS C Pascal)'
    check "a component that it has not is refused" refused parts shared

    finder searched <<'END'
find_path(PnetCDF_INCLUDE_DIR NAMES pnetcdf.h)
find_library(PnetCDF_LIBRARY NAMES pnetcdf)
END
    check "a module that searches for header and library finds them" by_path searched shared
    check "there" led_to shared PnetCDF_LIBRARY searched
    check "and the program runs" runs searched
    finder roots <<'END'
find_path(PnetCDF_INCLUDE_DIR NAMES pnetcdf.h HINTS $ENV{PnetCDF_PATH} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(PnetCDF_LIBRARY NAMES libpnetcdf.so HINTS $ENV{PnetCDF_PATH} PATH_SUFFIXES lib NO_DEFAULT_PATH)
END
    check "one that is told a root does" by_path roots shared
    finder config <<'END'
find_program(PNETCDF_CONFIG pnetcdf-config)
foreach(what prefix includedir libdir has-fortran version)
    execute_process(COMMAND ${PNETCDF_CONFIG} --${what} OUTPUT_VARIABLE ${what}
        RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(status OR "${${what}}" STREQUAL "")
        message(FATAL_ERROR "--${what}: ${status}")
    endif()
endforeach()
find_path(PnetCDF_INCLUDE_DIR NAMES pnetcdf.h HINTS ${includedir} NO_DEFAULT_PATH)
find_library(PnetCDF_LIBRARY NAMES pnetcdf HINTS ${libdir} ${prefix}/lib NO_DEFAULT_PATH)
END
    check "one that asks pnetcdf-config does" by_path config shared
    check "there" led_to shared PnetCDF_LIBRARY config
    check "and the program runs" runs config
    finder pc <<'END'
find_package(PkgConfig REQUIRED)
pkg_check_modules(PC_PNETCDF REQUIRED pnetcdf)
find_path(PnetCDF_INCLUDE_DIR NAMES pnetcdf.h HINTS ${PC_PNETCDF_INCLUDE_DIRS} NO_DEFAULT_PATH)
find_library(PnetCDF_LIBRARY NAMES ${PC_PNETCDF_LIBRARIES} HINTS ${PC_PNETCDF_LIBRARY_DIRS} NO_DEFAULT_PATH)
END
    check "one that asks pkg-config does" by_path pc shared
    if [ -n "$fortran" ]; then
        fortran_project fortran 'find_package(PnetCDF CONFIG REQUIRED COMPONENTS Fortran)'
        check "a program in Fortran is linked" builds_fortran fortran shared
        check "and runs" runs fortran
        project language 'find_package(PnetCDF CONFIG REQUIRED COMPONENTS Fortran)'
        check "without the language there is no such component" no_language language shared
    else
        skip "a program in Fortran is linked" "no module pnetcdf, or no gfortran"
    fi
fi
if [ -e .libs/libpnetcdf.a ]; then
    check "a tree with the static library" stage "$scratch/static" .libs/libpnetcdf.a
    project static 'find_package(PnetCDF CONFIG REQUIRED)' "$program" \
        'target_link_libraries(main PnetCDF::PnetCDF)'
    check "it is found and linked" builds static static
    check "the program runs" runs static
fi
finish
