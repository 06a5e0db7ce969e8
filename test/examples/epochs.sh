#!/bin/bash
# Tests the programs in examples/stage, in C and Fortran, on any number of processes. They must read
# the right values, and must read them from the staged copy.
. "${srcdir:-.}/test/examples/two_languages.sh"

# reads PROGRAM PROCESSES: checks that all epochs are read, and that the report shows bytes read
# from the stage and no fallbacks to the file.
reads() {
    rm -f "$dir/run.nc" "$dir/report"
    PNETCDF_REPORT=$dir/report launch "$2" "$1" "$dir/run.nc" "$dir" >"$dir/said" &&
        [ "$(grep -c '^epoch .*780' "$dir/said")" = 3 ] &&
        grep -qE 'stage: bytes (read from the stage|copied)' "$dir/report" &&
        ! grep -q 'stage: fallbacks to the file' "$dir/report"
}
in_both stage/epochs reads
finish
