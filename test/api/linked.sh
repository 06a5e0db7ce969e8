#!/bin/bash
# What programs need of the shared library to run: they start with it whichever library they were
# linked with, one without versions of symbols (PnetCDF's) too; and those in C load no C++ library.
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

# A library of the same name that has the function, and nothing else.
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

check "a program is linked with a library without versions" without_versions
check "it runs with this one" says unversioned
check "a program in C is linked" in_c "$libs/libpnetcdf.so"
check "it runs" says in-c
if grep -q '^SYMBOL_VERSIONS = -Wl' Makefile; then
    check "it asks for the version of the interface" asks_for_a_version
fi

# A C++ library beside it: what is installed in place of libpnetcdf.so names both.
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
# As PnetCDF has it: methods, too, are in the library of that name.
with_one_library() {
    mkdir "$scratch/one" && $MPICXX -shared -Wl,-soname,"$soname" -o "$scratch/one/libpnetcdf.so" \
        -Wl,--whole-archive .libs/libcxx.a -Wl,--no-whole-archive &&
        in_cxx one-library "$scratch/one/libpnetcdf.so" -Wl,--allow-shlib-undefined &&
        needs "$scratch/one-library" | grep -xF "$soname" && ! needs "$scratch/one-library" | grep -xF "$cxx"
}
preloaded() { (export LD_PRELOAD=$libs/$cxx && makes_a_file "$1"); }

if [ -n "$cxx" ]; then
    check "the linker script is installed" installs_the_script
    check "-lpnetcdf links a program in C" in_c -L"$scratch/lib" -lpnetcdf
    check "which loads no C++ library" no_cxx "$scratch/in-c"
    check "and runs" says in-c
    check "-lpnetcdf links a program in C++" in_cxx in-cxx -L"$scratch/lib" -lpnetcdf
    check "so does the path of libpnetcdf.so" in_cxx in-cxx "$scratch/lib/libpnetcdf.so"
    check "it runs" makes_a_file in-cxx
    check "a program in C++ is linked with PnetCDF's one library" with_one_library
    check "with libpnetcdf_cxx preloaded, it runs" preloaded one-library
else
    skip "a program in C loads no C++ library" "C++ is not apart"
fi
finish
