#!/bin/bash
# A CMake project finds an installed library, under any case of its name, and links to it.
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
    mkdir -p "$dir/include" "$dir/lib/cmake/pnetcdf" && cp -P "$@" "$dir/lib" &&
        cp include/pnetcdf.h "$dir/include" && cp src/packaging/*.cmake "$dir/lib/cmake/pnetcdf" &&
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
