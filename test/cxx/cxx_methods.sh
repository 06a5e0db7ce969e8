#!/bin/bash
# Checks that the header pnetcdf declares every class, function and method of the published
# interface with the exact types, that compilers print no warnings for any C++ standard, and that
# the tests of this module call each function of the library.
here=${srcdir:-.}/test/cxx
. "${srcdir:-.}/test/support/tap.sh"
top=$PWD
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

# compile ARGUMENT...: runs the compiler, without warnings for MPI's own C++ headers.
compile() {
    (cd "$dir" && $MPICXX -Wall -Wextra -Werror -Wno-unused-command-line-argument -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX \
        -I"$top/include" "$@")
}
look_at() { compile -fsyntax-only "$@"; }
table() { awk -f "$here/cxx_methods.awk" "$@"; }
every_row() {
    table "$here/cxx_methods.tsv" >"$dir/methods.cpp"
    tail -n 1 "$dir/methods.cpp"
    grep -q '^// 983 rows$' "$dir/methods.cpp" && look_at -std=c++11 methods.cpp
}
# The functions that PnetCDF's header does not define inline must exist in the library, because
# programs built for PnetCDF call them.
every_symbol() {
    {
        table -v calls=1 "$here/cxx_methods.tsv"
        echo 'void assign(NcmpiAtt &a, const NcmpiAtt &b) { a = b; }'
        for class in Type Group Dim Var GroupAtt VarAtt; do
            echo "bool sort(const Ncmpi$class &a, const Ncmpi$class &b) { return a < b || a > b; }"
        done
    } >"$dir/calls.cpp"
    compile -std=c++11 -O0 -c -o calls.o calls.cpp || return 1
    nm "$dir/calls.o" | sed -nE 's/^[0-9a-f ]* [UWV] (_ZN?K?7PnetCDF.*)/\1/p' | sort -u >"$dir/wanted"
    nm -D --defined-only .libs/libpnetcdf*.so | awk '{ print $NF }' | sed 's/@.*//' | sort -u >"$dir/exported"
    [ "$(wc -l <"$dir/wanted")" -gt 850 ] || return 1
    ! comm -23 "$dir/wanted" "$dir/exported" | c++filt | grep .
}
# missed ROW: checks that the program generated for ROW, which the header lacks, does not compile.
missed() {
    printf 'scope\n%s\n' "$1" | table - >"$dir/missed.cpp"
    ! look_at -std=c++11 missed.cpp
}
# standards COMPILER: tries each standard that the compiler may support.
standards() {
    local std
    cat >"$dir/uses.cpp" <<'END'
#include <pnetcdf>
bool same(PnetCDF::NcmpiGroupAtt a, PnetCDF::NcmpiGroupAtt b)
{
    PnetCDF::NcmpiInt i, j;
    return a == b && i == j && i == PnetCDF::ncmpiInt && a.getType() != PnetCDF::ncmpiChar;
}
END
    for std in 11 14 17 20; do
        echo "C++$std"
        MPICH_CXX=$1 OMPI_CXX=$1 look_at -std=c++$std -Wshadow uses.cpp || return 1
    done
}
# symbols LETTER OBJECT...: prints the symbols of the interface that are defined (T) or used (U).
# Constructors and destructors have several symbols, which are merged into one.
symbols() {
    local letter=$1
    shift
    nm "$@" | sed -nE "s/^[0-9a-f ]* $letter (_ZNK?7PnetCDF.*)/\1/p" |
        sed -E 's/C2E/C1E/; s/D[02]E/D1E/' | sort -u
}
# Private functions need not be called by the tests, because public ones call them.
all_are_called() {
    local parts='_ZN7PnetCDF(5Lists|6c_name|16left_define_mode|8NcmpiAttC1ERKNS_10NcmpiGroupEii|9NcmpiFile4open)|_ZNK7PnetCDF5Lists'
    symbols T src/binding/cxx/*.o | grep -vE "^($parts)" >"$dir/there"
    symbols U test/cxx/*.o >"$dir/called"
    [ "$(wc -l <"$dir/there")" -gt 850 ] || return 1
    ! comm -23 "$dir/there" "$dir/called" | c++filt | grep .
}

check "the interface has every class, function and method" every_row
if [ -e .libs/libpnetcdf.so ]; then
    check "the library has every symbol of the interface" every_symbol
else
    skip "the library has every symbol of the interface" "no shared library is built"
fi
check "a missing method is detected" missed \
    "$(printf 'PnetCDF::NcmpiDim\tprototype\tgetNothing\tint\t() const')"
check "a different result type is detected" missed \
    "$(printf 'PnetCDF::NcmpiDim\tprototype\tgetSize\tint\t() const')"
check "a different constructor is detected" missed \
    "$(printf 'PnetCDF::NcmpiDim\tprototype\tNcmpiDim\t\t(const char * x,int y)')"
for compiler in g++ clang++; do
    if command -v $compiler >/dev/null; then
        check "$compiler reports no warning, C++11 to C++20" standards $compiler
    else
        skip "$compiler reports no warning, C++11 to C++20" "no $compiler"
    fi
done
check "the tests call each function" all_are_called
finish
