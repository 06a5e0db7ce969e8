#!/bin/bash
# Checks how programs link with the shared library. A program must run with this library even if it
# was linked with another one that has no symbol versions, such as PnetCDF's. C programs must not
# load a C++ library.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
MPICXX=${MPICXX:-${MPICC/mpicc/mpicxx}}
libs=$PWD/.libs
example=$(realpath "${srcdir:-.}/examples/cxx/first_file.cpp")
[ -e "$libs/libpnetcdf.so" ] || { echo '1..0 # SKIP no shared library is built'; exit 0; }
soname=$(readelf -d "$libs/libpnetcdf.so" | sed -n 's/.*Library soname: \[\(.*\)\]/\1/p')
version=$(sed -n 's/^#define PNETCDF_VERSION "\(.*\)"$/\1/p' include/pnetcdf.h)

needs() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
loads() { LD_LIBRARY_PATH=$libs ldd "$1"; }
says() (
    export LD_LIBRARY_PATH=$libs
    cd "$scratch" && launch 1 "./$1" >said && cat said && grep -F "$version (" said
)

cat >"$scratch/version.c" <<'END'
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

# Links the program with a library of the same name that has no symbol versions and only one
# function, ncmpi_inq_libvers.
without_versions() {
    mkdir "$scratch/other" &&
        echo 'const char *ncmpi_inq_libvers(void) { return "another library"; }' >"$scratch/other.c" &&
        $MPICC -w -shared -fPIC -Wl,-soname,"$soname" -o "$scratch/other/libpnetcdf.so" "$scratch/other.c" &&
        $MPICC -Iinclude -o "$scratch/unversioned" "$scratch/version.c" -L"$scratch/other" -lpnetcdf &&
        needs "$scratch/unversioned" | grep -xF "$soname"
}
in_c() { $MPICC -Iinclude -o "$scratch/in-c" "$scratch/version.c" "$@" && needs "$scratch/in-c" | grep -xF "$soname"; }
no_cxx() { loads "$1" && ! loads "$1" | grep -E 'libpnetcdf_cxx|libstdc\+\+|libc\+\+'; }
asks_for_a_version() { readelf -V "$scratch/in-c" | grep -F 'PNETCDF_1.15'; }

check "a program links with a library without symbol versions" without_versions
check "a program linked without symbol versions runs with this library" says unversioned
check "a C program links" in_c "$libs/libpnetcdf.so"
check "a C program runs" says in-c
if grep -q '^SYMBOL_VERSIONS = -Wl' Makefile; then
    check "a C program requires the interface's symbol version" asks_for_a_version
fi

# If the C++ interface is a separate library, libpnetcdf.so is installed as a linker script that
# names both libraries.
cxx=$(readelf -d "$libs/libpnetcdf_cxx.so" 2>/dev/null | sed -n 's/.*Library soname: \[\(.*\)\]/\1/p')
installs_the_script() {
    mkdir "$scratch/lib" && cp -P "$libs"/libpnetcdf.so* "$libs"/libpnetcdf_cxx.so* "$scratch/lib" &&
        rm "$scratch/lib/libpnetcdf.so" &&
        make -s install-exec-hook DESTDIR="$scratch" libdir=/lib && cat "$scratch/lib/libpnetcdf.so"
}
in_cxx() { $MPICXX -std=c++11 -Iinclude -o "$scratch/$1" "$example" "${@:2}"; }
makes_a_file() (
    export LD_LIBRARY_PATH=$libs
    cd "$scratch" && rm -f first_file.nc && launch 1 "./$1" && [ -s first_file.nc ]
)
# PnetCDF has a single libpnetcdf.so, which includes the C++ methods.
with_one_library() {
    mkdir "$scratch/one" && $MPICXX -shared -Wl,-soname,"$soname" -o "$scratch/one/libpnetcdf.so" \
        -Wl,--whole-archive .libs/libcxx.a -Wl,--no-whole-archive &&
        in_cxx one-library "$scratch/one/libpnetcdf.so" -Wl,--allow-shlib-undefined &&
        needs "$scratch/one-library" | grep -xF "$soname" && ! needs "$scratch/one-library" | grep -xF "$cxx"
}
preloaded() { (export LD_PRELOAD=$libs/$cxx && makes_a_file "$1"); }

if [ -n "$cxx" ]; then
    check "the linker script is installed" installs_the_script
    check "-lpnetcdf links a C program" in_c -L"$scratch/lib" -lpnetcdf
    check "a C program loads no C++ library" no_cxx "$scratch/in-c"
    check "a C program linked by -lpnetcdf runs" says in-c
    check "-lpnetcdf links a C++ program" in_cxx in-cxx -L"$scratch/lib" -lpnetcdf
    check "the path of libpnetcdf.so links a C++ program" in_cxx in-cxx "$scratch/lib/libpnetcdf.so"
    check "a C++ program runs" makes_a_file in-cxx
    check "a C++ program links with a single library like PnetCDF's" with_one_library
    check "a C++ program for a single library runs with libpnetcdf_cxx" preloaded one-library
else
    skip "a C program loads no C++ library" "C++ is not apart"
fi
finish
