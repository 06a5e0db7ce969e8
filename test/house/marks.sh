#!/bin/bash
# Checks that no source contains unfinished work or disabled code.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

# none PATTERN: succeeds if no source matches. The patterns below are written so that they do not
# match themselves.
none() {
    local dirs=() dir
    for dir in src include test benchmarks examples dev doc; do
        if [ -d "$top/$dir" ]; then dirs+=("$top/$dir"); fi
    done
    ! grep -rnE --binary-files=without-match "$1" "${dirs[@]}" \
        "$top"/m4/ncmpi*.m4 "$top/configure.ac" "$top/Makefile.am"
}

check "no source has a marker for unfinished work" none 'TO[D]O|FIX[M]E|HA[C]K\b'
check "no code is disabled by the preprocessor" none '^[[:blank:]]*#[[:blank:]]*if[[:blank:]]+[0]\b'
check "no source has conflict markers" none '^(<{7}|>{7}) '
# Some MPIs define MPI_Offset and int64_t as different types (long and long long). There, an array
# of one type is not an array of the other, and a cast would hide that.
check "no array is cast to a pointer to another type" none \
    '\(const (int64_t|MPI_Offset|long lon[g]) \*\)[a-z_]+(->|\()'
check "no line ends with blanks" none '[[:blank:]]$'
finish
