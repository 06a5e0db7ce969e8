#!/bin/bash
# The programs of examples/F77, with any number of processes, make the files of their twins
# in examples/C.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
twins=${srcdir:-.}/examples/C
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

same_dump() {
    ncdump "$dir/$1.nc" | sed 's/ *$//' | diff "$twins/$1.cdl" -
}

for source in "${srcdir:-.}"/examples/F77/*.f; do
    name=${source##*/} name=${name%.f}
    for n in 1 4; do
        rm -f "$dir/$name.nc"
        check "$name, $n processes" launch $n "examples/F77/$name" "$dir/$name.nc"
        if command -v ncdump >/dev/null; then
            check "$name, $n processes: the file" same_dump "$name"
        else
            skip "$name, $n processes: the file" "no ncdump"
        fi
    done
done
finish
