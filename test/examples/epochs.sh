#!/bin/bash
# The programs of examples/stage, in C and Fortran, with any number of processes: what they read is
# right, and comes from the stage.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
examples=${srcdir:-.}/examples/stage
top=$PWD
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

compile() {
    $MPIF90 -fcheck=all -I"$top/include" -o "$dir/fortran" "$examples/epochs.f90" \
        "$top/.libs/libpnetcdf.so" -Wl,-rpath,"$top/.libs"
}
# reads PROGRAM PROCESSES: all epochs, from the stage.
reads() {
    rm -f "$dir/run.nc" "$dir/report"
    PNETCDF_REPORT=$dir/report launch "$2" "$1" "$dir/run.nc" "$dir" >"$dir/said" &&
        [ "$(grep -c '^epoch .*780' "$dir/said")" = 3 ] &&
        grep -q 'stage: bytes read there' "$dir/report" &&
        ! grep -q 'the file was read instead' "$dir/report"
}
for n in 1 2 4; do
    check "in C, $n processes" reads examples/stage/epochs $n
done
if [ -n "${MPIF90:-}" ] && [ -e .libs/libpnetcdf.so ] && [ -e include/pnetcdf.mod ]; then
    check "in Fortran: compiled" compile
    for n in 1 4; do
        check "in Fortran, $n processes" reads "$dir/fortran" $n
    done
else
    skip "in Fortran" "no Fortran, or no shared library"
fi
finish
