#!/bin/bash
# Counts how many more instructions a put from Fortran takes than the same put from C. Unlike times,
# instruction counts are the same on any machine.
. "${srcdir:-.}/test/support/tap.sh"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
times=50

if ! command -v valgrind >/dev/null || ! command -v callgrind_annotate >/dev/null; then
    echo "1..0 # SKIP no valgrind"
    exit 0
fi
if grep -q '^LDFLAGS = .*-fsanitize' Makefile; then
    echo "1..0 # SKIP sanitizers count too"
    exit 0
fi

# Prints lines "CASE C FORTRAN-77 FORTRAN-90": instructions per put.
count() {
    valgrind --tool=callgrind --callgrind-out-file="$dir/out" \
        benchmarks/f90_puts "$dir/f.nc" 1 "$times" >"$dir/log" 2>&1 || { cat "$dir/log"; return 1; }
    callgrind_annotate --auto=no --inclusive=yes --threshold=100 "$dir/out" |
        sed -nE 's/^ *([0-9,]+) .*in_(c|f77|f90)_([a-z0-9_]+).*/\3 \2 \1/p' | tr -d , |
        awk -v times=$times '{n[$1, $2] = int($3 / times); name[$1]} END {
            for (i in name) print i, n[i, "c"], n[i, "f77"], n[i, "f90"]}' | sort >"$dir/table"
    [ "$(wc -l <"$dir/table")" = 11 ]
}
# within COLUMN MOST: checks that each put takes at most MOST instructions or one percent more than
# in C, whichever is greater.
within() {
    awk -v c="$1" -v most="$2" '!($2 > 500 && $c > 500) ||
        ($c - $2 > most && $c > 1.01 * $2) {print; bad = 1}
        END {exit bad}' "$dir/table"
}

check "the instructions of eleven puts in three languages" count
check "Fortran 77 adds less than 240 instructions to a put" within 3 240
check "Fortran 90 adds less than 370 instructions to a put" within 4 370
sed 's/^/# /' "$dir/table"
finish
