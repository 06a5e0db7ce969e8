#!/bin/bash
# Checks that every program in examples/C has a counterpart in examples/F77 that writes the same
# file, byte for byte, with any number of processes.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
twins=${srcdir:-.}/examples/C
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

same_dump() {
    ncdump "$dir/$1.nc" | sed 's/ *$//' | diff "$twins/$1.cdl" -
}

each_has_a_twin() {
    local source name
    for source in "$twins"/*.c; do
        name=${source##*/} name=${name%.c}
        [ -e "${srcdir:-.}/examples/F77/$name.f" ] || { echo "$name.f"; return 1; }
    done
}
same_bytes() {
    launch 1 "examples/C/$1" "$dir/$1.c.nc" && cmp "$dir/$1.c.nc" "$dir/$1.nc"
}

check "every C program has a counterpart in Fortran 77" each_has_a_twin
for source in "${srcdir:-.}"/examples/F77/*.f; do
    name=${source##*/} name=${name%.f}
    for n in 1 4; do
        rm -f "$dir/$name.nc"
        check "$name runs on $n processes" launch $n "examples/F77/$name" "$dir/$name.nc"
        if command -v ncdump >/dev/null; then
            check "$name on $n processes writes the expected file" same_dump "$name"
        else
            skip "$name on $n processes writes the expected file" "no ncdump"
        fi
    done
    check "$name writes the bytes of the C program" same_bytes "$name"
done
finish
