#!/bin/bash
# The programs of examples/stage, in C and Fortran, with any number of processes: what they read is
# right, and comes from the stage.
. "${srcdir:-.}/test/examples/two_languages.sh"

# reads PROGRAM PROCESSES: all epochs, from the stage.
reads() {
    rm -f "$dir/run.nc" "$dir/report"
    PNETCDF_REPORT=$dir/report launch "$2" "$1" "$dir/run.nc" "$dir" >"$dir/said" &&
        [ "$(grep -c '^epoch .*780' "$dir/said")" = 3 ] &&
        grep -qE 'stage: bytes (read there|copied)' "$dir/report" &&
        ! grep -q 'the file was read instead' "$dir/report"
}
in_both stage/epochs reads
finish
