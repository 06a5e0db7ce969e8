#!/bin/bash
# Nothing left for later, nothing switched off.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

# none PATTERN: in no source. (The patterns are spelled so that they miss themselves.)
none() {
    local dirs=() dir
    for dir in src include test benchmarks examples dev doc; do
        if [ -d "$top/$dir" ]; then dirs+=("$top/$dir"); fi
    done
    ! grep -rnE --binary-files=without-match "$1" "${dirs[@]}" \
        "$top"/m4/ncmpi*.m4 "$top/configure.ac" "$top/Makefile.am"
}

check "nothing is left to do" none 'TO[D]O|FIX[M]E|HA[C]K\b'
check "no code is switched off" none '^[[:blank:]]*#[[:blank:]]*if[[:blank:]]+[0]\b'
check "no merge was left half done" none '^(<{7}|>{7}) '
# MPI_Offset and int64_t are different types with some MPIs, long and long long: a list of the
# one is no list of the other, whatever a cast says.
check "no list of numbers is taken for one of another type" none \
    '\(const (int64_t|MPI_Offset|long lon[g]) \*\)[a-z_]+(->|\()'
check "no blanks at the ends of lines" none '[[:blank:]]$'
finish
