#!/bin/bash
# Tests that a CMake project finds an installed library, no matter how it capitalises the name, and
# links with it. The FindPnetCDF.cmake modules in PIO, SCORPIO and netCDF-C must also find the
# library, with their own search methods.
here=${srcdir:-.}
. "$here/test/support/tap.sh"
. "$here/test/support/launch.sh"
command -v cmake >/dev/null || { echo "1..0 # SKIP no cmake"; exit 0; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# stage DIR LIBRARY...: installs these libraries and the other files into DIR, which is not
# configure's prefix.
stage() {
    local dir=$1
    shift
    mkdir -p "$dir/include" "$dir/lib/cmake/pnetcdf" "$dir/lib/pkgconfig" "$dir/bin" &&
        cp -P "$@" "$dir/lib" && cp src/utils/pnetcdf-config/pnetcdf-config "$dir/bin" &&
        cp pnetcdf.pc "$dir/lib/pkgconfig" && cp include/pnetcdf.h "$dir/include" && cp src/packaging/*.cmake "$dir/lib/cmake/pnetcdf" &&
        if [ -n "$fortran" ]; then cp include/pnetcdf.mod include/pnetcdf.inc "$dir/include"; fi
}

# project NAME LINE...: creates a project whose CMakeLists.txt has these lines.
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
# fortran_project NAME LINE...: creates a Fortran project, to be built by a compiler that does not
# find MPI by itself.
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
# CMake must stop while it configures, and name the compiler that it should be given.
other_mpi() {
    local right
    ! MPICC=$1 configures other shared >"$scratch/out" 2>&1
    right=$(tr -s ' \n' ' ' <"$scratch/out" |
        sed -n 's/.*PnetCDF was built with \([^ ]*\) ([a-z]*), and this project uses another MPI;.*/\1/p')
    cat "$scratch/out"
    rm -r "$scratch/other/build"
    [ "$right" = "$(sed -n 's/^mpicc=//p' pnetcdf.pc)" ] && MPICC=$right configures other shared
}

# finder NAME < MODULE: creates a project that uses a module which sets PnetCDF_INCLUDE_DIR and
# PnetCDF_LIBRARY. The project then makes the same checks as the I/O layers of climate models.
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
# by_path NAME TREE: builds the project with all search paths pointing to TREE.
by_path() { PnetCDF_PATH=$scratch/$2 PATH=$scratch/$2/bin:$PATH \
    PKG_CONFIG_PATH=$scratch/$2/lib/pkgconfig builds "$1" "$2"; }
led_to() { grep -E "^$2:.*=$scratch/$1/" "$scratch/$3/build/CMakeCache.txt"; }

fortran=
if [ -e include/pnetcdf.mod ] && command -v gfortran >/dev/null; then fortran=yes; fi
version=$(sed -n 's/^#define PNETCDF_VERSION "\(.*\)"$/\1/p' include/pnetcdf.h)
program='add_executable(main main.c)'
if [ -e .libs/libpnetcdf.so ]; then
    check "a tree with the shared library is installed" stage "$scratch/shared" .libs/libpnetcdf.so*
    project shared 'find_package(PnetCDF 1.14 CONFIG REQUIRED COMPONENTS C)' "$program" \
        'target_link_libraries(main PnetCDF::PnetCDF_C)'
    check "find_package finds the shared library, and a program links" builds shared shared
    check "a program runs with the shared library" runs shared
    project upper 'find_package(PNETCDF CONFIG REQUIRED)' "$program" \
        'if(NOT PNETCDF_FOUND)' 'message(FATAL_ERROR "PNETCDF_FOUND is not set")' 'endif()' \
        'target_include_directories(main PRIVATE ${PnetCDF_INCLUDE_DIRS})' \
        'target_link_libraries(main ${PnetCDF_LIBRARIES})'
    check "the package's name may be in capitals" builds upper shared
    project newer 'find_package(PnetCDF 99 CONFIG REQUIRED)'
    check "a version newer than the library's is refused" refused newer shared
    case $MPI_FLAVOUR in mpich) other=mpicc.openmpi ;; *) other=mpicc.mpich ;; esac
    if command -v $other >/dev/null; then
        project other 'find_package(PnetCDF CONFIG REQUIRED COMPONENTS C)'
        check "a project with another MPI is refused" other_mpi $other
    fi
    project parts 'find_package(PnetCDF CONFIG REQUIRED COMPONENTS C Pascal)'
    check "an unknown component is refused" refused parts shared

    finder searched <<'END'
find_path(PnetCDF_INCLUDE_DIR NAMES pnetcdf.h)
find_library(PnetCDF_LIBRARY NAMES pnetcdf)
END
    check "a find module that searches for header and library works" by_path searched shared
    check "a searching find module leads to the installed library" led_to shared PnetCDF_LIBRARY searched
    check "a program built with a searching find module runs" runs searched
    finder roots <<'END'
find_path(PnetCDF_INCLUDE_DIR NAMES pnetcdf.h HINTS $ENV{PnetCDF_PATH} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(PnetCDF_LIBRARY NAMES libpnetcdf.so HINTS $ENV{PnetCDF_PATH} PATH_SUFFIXES lib NO_DEFAULT_PATH)
END
    check "a find module with a given root works" by_path roots shared
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
    check "a find module that runs pnetcdf-config works" by_path config shared
    check "pnetcdf-config leads to the installed library" led_to shared PnetCDF_LIBRARY config
    check "a program built with pnetcdf-config runs" runs config
    finder pc <<'END'
find_package(PkgConfig REQUIRED)
pkg_check_modules(PC_PNETCDF REQUIRED pnetcdf)
find_path(PnetCDF_INCLUDE_DIR NAMES pnetcdf.h HINTS ${PC_PNETCDF_INCLUDE_DIRS} NO_DEFAULT_PATH)
find_library(PnetCDF_LIBRARY NAMES ${PC_PNETCDF_LIBRARIES} HINTS ${PC_PNETCDF_LIBRARY_DIRS} NO_DEFAULT_PATH)
END
    check "a find module that runs pkg-config works" by_path pc shared
    if [ -n "$fortran" ]; then
        fortran_project fortran 'find_package(PnetCDF CONFIG REQUIRED COMPONENTS Fortran)'
        check "a Fortran program links" builds_fortran fortran shared
        check "a Fortran program runs" runs fortran
        project language 'find_package(PnetCDF CONFIG REQUIRED COMPONENTS Fortran)'
        check "a project without Fortran has no Fortran component" no_language language shared
    else
        skip "a Fortran program links" "no module pnetcdf, or no gfortran"
    fi
fi
if [ -e .libs/libpnetcdf.a ]; then
    check "a tree with the static library is installed" stage "$scratch/static" .libs/libpnetcdf.a
    project static 'find_package(PnetCDF CONFIG REQUIRED)' "$program" \
        'target_link_libraries(main PnetCDF::PnetCDF)'
    check "find_package finds the static library, and a program links" builds static static
    check "a program runs with the static library" runs static
fi
finish
