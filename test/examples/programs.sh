#!/bin/bash
# Tests every program in examples/C. With any number of processes, it must write the same dataset,
# whose dump is stored next to the program.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
here=${srcdir:-.}/examples/C
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

same_dump() {
    ncdump "$dir/$1.nc" | sed 's/ *$//' | diff "$here/$1.cdl" -
}
aligned() {
    launch 1 examples/C/tuning "$dir/tuning.nc" >"$dir/said" && grep 'starts at byte 4096$' "$dir/said"
}

for source in "$here"/*.c; do
    name=${source##*/} name=${name%.c}
    for n in 1 2 4; do
        rm -f "$dir/$name.nc"
        check "$name runs on $n processes" launch $n "examples/C/$name" "$dir/$name.nc"
        if command -v ncdump >/dev/null; then
            check "$name on $n processes writes the expected file" same_dump "$name"
        else
            skip "$name on $n processes writes the expected file" "no ncdump"
        fi
    done
done
check "the alignment hint is applied" aligned
finish
