#!/bin/bash
# Checks that every program in examples/C has a counterpart in examples/cxx that writes the same
# file, byte for byte, with any number of processes, and that the program in doc/cxx.md prints what
# the document says.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
examples=${srcdir:-.}/examples
doc=${srcdir:-.}/doc/cxx.md
top=$PWD
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
# If the C++ library is separate, it must come first on the command line. Once installed,
# libpnetcdf.so names both libraries.
libraries=("$top"/.libs/libpnetcdf{_cxx,}.so)
[ -e "${libraries[0]}" ] || libraries=("${libraries[1]}")

compile() {
    local name=${1##*/}
    $MPICXX -std=c++11 -I"$top/include" -o "$dir/${name%.cpp}" "$1" \
        "${libraries[@]}" -Wl,-rpath,"$top/.libs"
}
each_has_a_twin() {
    local source name
    for source in "$examples"/C/*.c; do
        name=${source##*/} name=${name%.c}
        [ -e "$examples/cxx/$name.cpp" ] || { echo "$name.cpp"; return 1; }
    done
}
# same_as_in_c NAME PROCESSES: checks that the program runs, and writes the same bytes as its C
# counterpart.
same_as_in_c() {
    rm -f "$dir/$1.nc" "$dir/$1.c.nc"
    launch "$2" "$dir/$1" "$dir/$1.nc" && launch "$2" "examples/C/$1" "$dir/$1.c.nc" &&
        cmp "$dir/$1.c.nc" "$dir/$1.nc"
}
documented() {
    sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$doc" >"$dir/squares.cpp" &&
        compile "$dir/squares.cpp" && (cd "$dir" && launch 3 ./squares) >"$dir/said" &&
        [ "$(cat "$dir/said")" = 5 ]
}

if [ ! -e .libs/libpnetcdf.so ]; then
    skip "the examples" "no shared library is built"
    finish
fi
check "every C program has a counterpart in C++" each_has_a_twin
for source in "$examples"/cxx/*.cpp; do
    name=${source##*/} name=${name%.cpp}
    check "$name compiles" compile "$source"
    for n in 1 4; do
        check "$name on $n processes writes the bytes of the C program" same_as_in_c "$name" $n
    done
done
check "the program in doc/cxx.md compiles and runs" documented
finish
