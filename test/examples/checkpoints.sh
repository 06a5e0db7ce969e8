#!/bin/bash
# The programs of examples/checkpoints, in C and Fortran: with any number of processes each makes
# the same ten files, whether their closes are deferred or not, and leaves nothing else.
. "${srcdir:-.}/test/examples/two_languages.sh"

# writes PROGRAM PROCESSES WHERE
writes() {
    rm -rf "$dir/$3"
    mkdir "$dir/$3" && launch "$2" "$1" "$dir/$3/state" "$dir/$3" &&
        [ "$(ls "$dir/$3" | wc -l)" = 10 ] && ls "$dir/$3" | grep -q '^state\.10\.nc$'
}
directly() {
    PNETCDF_HINTS="nc_burst_buf=disable" writes examples/checkpoints/checkpoints 3 direct
}
# Each is the same without the log; all but the last were completed by the next create.
alike() {
    local trace=$dir/trace
    rm -rf "$trace"
    PNETCDF_HINTS="nc_trace=$trace" writes "$1" "$2" deferred &&
        diff -r "$dir/direct" "$dir/deferred" &&
        [ "$(cat "$trace"* | grep -c 'deferred close')" = $((10 * $2)) ]
}
check "one process and no log" directly
in_both checkpoints/checkpoints alike
finish
