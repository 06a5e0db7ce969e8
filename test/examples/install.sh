#!/bin/bash
# Installs and uses the library as a user would. Compiles the programs in README.md, doc/cxx.md and
# examples/F90 with the flags that pkg-config prints, against the shared and the static library, and
# runs them. The installed documents' links must work, and the tools must find the library if the
# installed tree was moved. Then uninstalls the library, which must remove every installed file.
support=${srcdir:-.}/test/support
readme=$(realpath "${srcdir:-.}/README.md")
cxx_doc=$(realpath "${srcdir:-.}/doc/cxx.md")
example=$(realpath "${srcdir:-.}/examples/F90/first_file.f90")
. "$support/tap.sh"
. "$support/launch.sh"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
MPICXX=${MPICC/mpicc/mpicxx}

installed() {
    (cd "$dir/root" && find . ! -type d)
}
install_it() {
    make -s install "DESTDIR=$dir/root" && installed
}
has() {
    find "$dir/root" -path "*/$1" | grep .
}
everything() {
    local tool
    for tool in ncmpidump ncmpidiff ncmpigen ncmpihints ncmpijoin ncmpirefs ncvalidator ncoffsets ncmpitrace cdfdiff pnetcdf-config \
        pnetcdf_version; do
        has "bin/$tool" && has "man1/$tool.1" || return 1
    done
    has man3/pnetcdf.3 && has cmake/pnetcdf/pnetcdf-config.cmake || return 1
    if [ -n "$MPIF90" ]; then has include/pnetcdf.inc && has include/pnetcdf.mod || return 1; fi
    has libpnetcdf.a || has libpnetcdf.so.8
}
settings() {
    PKG_CONFIG_PATH=$(dirname "$(has pkgconfig/pnetcdf.pc)") \
        PKG_CONFIG_SYSROOT_DIR=$dir/root pkg-config "$@" pnetcdf
}
extract() {
    sed -n '/^```c$/,/^```$/{/^```/d;p}' "$readme" >"$dir/ranks.c" &&
        cp "$dir/ranks.c" "$dir/ranks.cc" && grep main "$dir/ranks.c"
}
shared() {
    $1 -Wall -Werror -o "$dir/$3" "$dir/$2" $(settings --cflags --libs)
}
static() {
    $1 -Wall -Werror -o "$dir/$3" "$dir/$2" $(settings --cflags) \
        "$(has libpnetcdf.a)" $(settings --static --libs | tr ' ' '\n' | grep -v pnetcdf)
}
cxx_program() {
    sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$cxx_doc" >"$dir/squares.cc" && grep main "$dir/squares.cc"
}
cxx_runs() (
    export LD_LIBRARY_PATH=$(dirname "$(has libpnetcdf.so)")
    cd "$dir" && launch 3 "./$1" >said && grep -x 5 said # not through a pipe: launch would kill grep
)
# Checks that a C program does not load the C++ library, unless it is part of libpnetcdf.
no_cxx() {
    [ -z "$(has libpnetcdf_cxx.so)" ] || ! readelf -d "$dir/$1" | grep -E 'NEEDED.*(stdc\+\+|_cxx)'
}
fortran() {
    cp "$example" "$dir/first_file.f90" &&
        $MPIF90 -o "$dir/f90-shared" "$dir/first_file.f90" $(settings --cflags --libs)
}
fortran_runs() (
    export LD_LIBRARY_PATH=$(dirname "$(has libpnetcdf.so)")
    cd "$dir" && launch 3 ./f90-shared
)
runs() (
    export LD_LIBRARY_PATH=$(dirname "$(has libpnetcdf.so)")
    cd "$dir" && rm -f ranks.nc && launch 3 "./$1" &&
        printf '%d %d %d\n' 0 1 2 >expected &&
        tail -c 12 ranks.nc | od -A n -t d4 --endian=big | xargs >found &&
        cmp expected found
)
documents() {
    local docs file link bad=0
    docs=$(dirname "$(has "doc/*/LICENSE")") && cd "$docs" && [ -s examples/C/first_file.c ] || return
    for file in $(find . -name '*.md'); do
        for link in $(grep -oE '\]\([^)# ]+' "$file" | cut -c3- | grep -vE '://|\.\./src/|\.\./test/driver/|^pnetcdf\.3$'); do
            [ -e "$(dirname "$file")/$link" ] || { echo "$file: $link"; bad=1; }
        done
    done
    return $bad
}
# Every tool and library of the moved tree must load the libraries of that tree, and no others.
moves() (
    unset LD_LIBRARY_PATH
    mv "$dir/root" "$dir/moved" || exit
    for file in $(find "$dir/moved" -path '*/bin/*' -o -name '*.so*' -type f); do
        ldd "$file" 2>/dev/null | grep libpnetcdf | grep -vF "$dir/moved" && echo "$file" && exit 1
    done
    mv "$dir/moved" "$dir/root"
)
uninstall_it() {
    make -s uninstall "DESTDIR=$dir/root" && installed && [ -z "$(installed)" ]
}

check "make install succeeds" install_it
check "the header is installed" has include/pnetcdf.h
check "pkg-config's file is installed" has pkgconfig/pnetcdf.pc
check "libraries, tools and manual pages are installed" everything
check "documents are installed, and their links work" documents
[ -z "$(has libpnetcdf.so)" ] || check "the installed tree may be moved" moves
check "README.md has a program" extract
if ! command -v pkg-config >/dev/null; then
    skip "programs are built and run" "no pkg-config"
else
    if [ -n "$(has libpnetcdf.so)" ]; then
        check "README.md's C program links with the shared library" shared "$MPICC" ranks.c c-shared
        check "README.md's C program runs with the shared library" runs c-shared
        check "README.md's C program loads no C++ library" no_cxx c-shared
        check "README.md's program in C++ links with the shared library" shared "$MPICXX" ranks.cc cc-shared
        check "README.md's program in C++ runs with the shared library" runs cc-shared
    fi
    if [ -n "$(has include/pnetcdf)" ]; then
        check "doc/cxx.md has a program" cxx_program
        [ -z "$(has libpnetcdf.so)" ] || {
            check "doc/cxx.md's program links with the shared library" shared "$MPICXX" squares.cc cxx-shared
            check "doc/cxx.md's program runs with the shared library" cxx_runs cxx-shared
        }
        [ -z "$(has libpnetcdf.a)" ] || {
            check "doc/cxx.md's program links with the static library" static "$MPICXX" squares.cc cxx-static
            check "doc/cxx.md's program runs with the static library" cxx_runs cxx-static
        }
    fi
    if [ -n "$(has include/pnetcdf.mod)" ] && [ -n "$(has libpnetcdf.so)" ]; then
        check "a Fortran 90 program links with the shared library" fortran
        check "a Fortran 90 program runs with the shared library" fortran_runs
    fi
    if [ -n "$(has libpnetcdf.a)" ]; then
        check "README.md's C program links with the static library" static "$MPICC" ranks.c c-static
        check "README.md's C program runs with the static library" runs c-static
    fi
fi
check "make uninstall removes all files" uninstall_it
finish
