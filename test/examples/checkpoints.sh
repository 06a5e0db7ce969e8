#!/bin/bash
# Tests the programs in examples/checkpoints, in C and Fortran. On any number of processes, each
# program must write the same ten files and no others, regardless of whether closes are deferred.
. "${srcdir:-.}/test/examples/two_languages.sh"

# writes PROGRAM PROCESSES DIRECTORY: runs the program in an empty directory and checks that it
# contains ten files afterwards.
writes() {
    rm -rf "$dir/$3"
    mkdir "$dir/$3" && launch "$2" "$1" "$dir/$3/state" "$dir/$3" &&
        [ "$(ls "$dir/$3" | wc -l)" = 10 ] && ls "$dir/$3" | grep -q '^state\.10\.nc$'
}
directly() {
    PNETCDF_HINTS="nc_burst_buf=disable" writes examples/checkpoints/checkpoints 3 direct
}
# alike PROGRAM PROCESSES: checks that the files are identical to those written without the burst
# buffer, and that the trace records the deferred closes of all ten files on each process.
alike() {
    local trace=$dir/trace
    rm -rf "$trace"
    PNETCDF_HINTS="nc_trace=$trace" writes "$1" "$2" deferred &&
        diff -r "$dir/direct" "$dir/deferred" &&
        [ "$(cat "$trace"* | grep -c 'deferred close')" = $((10 * $2)) ]
}
check "one process writes checkpoints without a log" directly
in_both checkpoints/checkpoints alike
finish
