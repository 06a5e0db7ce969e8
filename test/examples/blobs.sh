#!/bin/bash
# The programs of examples/blobs, in C and Fortran: with any number of processes each makes
# a dataset in subfiles, of which ncmpijoin makes the same file.
. "${srcdir:-.}/test/examples/two_languages.sh"

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
in_both blobs/blobs makes
check "one file, without the hint" direct
finish
