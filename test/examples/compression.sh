#!/bin/bash
# Tests the programs in examples/compression, in C and Fortran. On any number of processes, each
# program must write a compressed dataset and print the right sizes, and ncmpijoin must join all of
# these datasets into identical files.
. "${srcdir:-.}/test/examples/two_languages.sh"
packs=no
! grep -q 'define HAVE_ZSTD 1' config.h || ! grep -q 'define HAVE_XXHASH 1' config.h || packs=yes

# makes PROGRAM PROCESSES: runs the program, checks the sizes and errors that it prints, joins its
# subfile and compares the result with the first one.
makes() {
    local values subfile
    rm -f "$dir"/run.nc* "$dir/whole.nc"
    launch "$2" "$1" "$dir/run.nc" >"$dir/said" && cat "$dir/said" &&
        [ "$(grep -ic 'rows, temperature within [1-4]\.[0-9]e-04' "$dir/said")" = "$2" ] &&
        [ "$(ls "$dir"/run.nc.*)" = "$dir/run.nc.0000" ] &&
        read -r values subfile < <(sed -n 's/^ *\([0-9]*\) bytes of values, \([0-9]*\) in .*/\1 \2/p' "$dir/said") &&
        [ "$values" = $((2 * 6 * 480 * 720 * 4)) ] && [ "$subfile" = "$(stat -c %s "$dir/run.nc.0000")" ] || return
    [ $packs = no ] || [ "$subfile" -lt $((values / 4)) ] || return
    ./ncvalidator "$dir/run.nc" && ./ncmpijoin --check "$dir/run.nc" "$dir/whole.nc" || return
    [ -e "$dir/first.nc" ] || mv "$dir/whole.nc" "$dir/first.nc" || return
    [ ! -e "$dir/whole.nc" ] || cmp "$dir/whole.nc" "$dir/first.nc"
}
# Checks that the program writes the same file directly if subfiles and compression are disabled.
direct() {
    PNETCDF_HINTS="nc_blob=disable;nc_compress=none" launch 3 examples/compression/compression "$dir/direct.nc" &&
        cmp "$dir/direct.nc" "$dir/first.nc"
}
in_both compression/compression makes
check "the program writes one file without the hint" direct
finish
