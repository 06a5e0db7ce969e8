#!/bin/bash
# The programs of examples/blobs, in C and Fortran: with any number of processes each makes
# a dataset in subfiles, of which ncmpijoin makes the same file.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
examples=${srcdir:-.}/examples/blobs
top=$PWD
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

compile() {
    $MPIF90 -fcheck=all -I"$top/include" -o "$dir/fortran" "$examples/blobs.f90" \
        "$top/.libs/libpnetcdf.so" -Wl,-rpath,"$top/.libs"
}
# makes PROGRAM PROCESSES: the first file that was joined is what all are like.
makes() {
    rm -f "$dir"/run.nc* "$dir/whole.nc"
    launch "$2" "$1" "$dir/run.nc" && [ "$(ls "$dir"/run.nc.* | wc -l)" = "$(($2 < 2 ? $2 : 2))" ] &&
        ./ncmpijoin --check "$dir/run.nc" "$dir/whole.nc" || return
    [ -e "$dir/first.nc" ] || mv "$dir/whole.nc" "$dir/first.nc" || return
    [ ! -e "$dir/whole.nc" ] || cmp "$dir/whole.nc" "$dir/first.nc"
}
# The same program without the hint, and its values.
direct() {
    PNETCDF_HINTS="nc_blob=disable" launch 3 examples/blobs/blobs "$dir/direct.nc" &&
        cmp "$dir/direct.nc" "$dir/first.nc" && ./ncmpidump -v depth "$dir/first.nc" | grep -q 'depth = 12.5'
}
for n in 1 2 4; do
    check "in C, $n processes" makes examples/blobs/blobs $n
done
check "one file, without the hint" direct
if [ -n "${MPIF90:-}" ] && [ -e .libs/libpnetcdf.so ] && [ -e include/pnetcdf.mod ]; then
    check "in Fortran: compiled" compile
    for n in 1 4; do
        check "in Fortran, $n processes" makes "$dir/fortran" $n
    done
else
    skip "in Fortran" "no Fortran, or no shared library"
fi
finish
