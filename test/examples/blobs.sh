#!/bin/bash
# Tests the programs in examples/blobs, in C and Fortran. On any number of processes, each program
# must write a dataset in subfiles, and ncmpijoin must join all of these datasets into identical
# files.
. "${srcdir:-.}/test/examples/two_languages.sh"

# makes PROGRAM PROCESSES: runs the program, joins its subfiles and compares the result with the
# first one.
makes() {
    rm -f "$dir"/run.nc* "$dir/whole.nc"
    launch "$2" "$1" "$dir/run.nc" && [ "$(ls "$dir"/run.nc.* | wc -l)" = "$(($2 < 2 ? $2 : 2))" ] &&
        ./ncmpijoin --check "$dir/run.nc" "$dir/whole.nc" || return
    [ -e "$dir/first.nc" ] || mv "$dir/whole.nc" "$dir/first.nc" || return
    [ ! -e "$dir/whole.nc" ] || cmp "$dir/whole.nc" "$dir/first.nc"
}
# Checks that the program writes the same file directly if subfiles are disabled, and that its
# values are right.
direct() {
    PNETCDF_HINTS="nc_blob=disable" launch 3 examples/blobs/blobs "$dir/direct.nc" &&
        cmp "$dir/direct.nc" "$dir/first.nc" && ./ncmpidump -v depth "$dir/first.nc" | grep -q 'depth = 12.5'
}
in_both blobs/blobs makes
check "the program writes one file without the hint" direct
finish
