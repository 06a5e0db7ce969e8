#!/bin/bash
# Compares measurements of the code's structure (aims.py) with the upper bounds in aims.tsv. A
# change that exceeds a bound must raise the bound and give a reason. "aims.sh update" writes the
# table in doc/architecture.md, which is generated from aims.tsv.
top=$(realpath "${srcdir:-.}")
build=$PWD
export LC_ALL=C
measure() { python3 "$top/test/house/aims.py" "$@"; }

# Prints doc/architecture.md with the current table between its markers.
updated() {
    measure table "$top/test/house/aims.tsv" | awk '
        NR == FNR { table = table $0 "\n"; next }
        /^<!-- end of aims/ { on = 0 }
        !on { print }
        /^<!-- begin of aims/ { printf "\n%s\n", table; on = 1 }' - "$top/doc/architecture.md"
}
if [ "${1-}" = update ]; then
    text=$(updated) && printf '%s\n' "$text" >"$top/doc/architecture.md"
    exit
fi

. "$top/test/support/tap.sh"
scratch=$(realpath "$(mktemp -d)") || exit 99
trap 'rm -rf "$scratch"' EXIT

# within KIND ARGUMENT...: succeeds if no measure of this kind exceeds its bound. Each measure must
# have a bound.
within() {
    measure "$@" >"$scratch/measured" || return 1
    awk -F'\t' '
        NR == FNR { if (!/^#/) bound[$1] = $2; next }
        !($1 in bound) { print $1 ": " $2 " has no bound"; bad = 1; next }
        { print $1 ": " $2 ", at most " bound[$1]; if ($2 <= 0 || $2 > bound[$1]) { print "too large"; bad = 1 } }
        END { exit bad }' "$top/test/house/aims.tsv" "$scratch/measured" >"$scratch/compared" && return
    cat "$scratch/compared"
    return 1
}

# Fails if more than 3 % of the static functions have a name that another file also uses.
names() {
    find "$top/src/lib" -name '*.c' -print0 | xargs -0 awk '
        /^static .*[a-z_0-9]+\(/ && !/;$/ {
            name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            n++; if (name in file && file[name] != FILENAME) twice[name] = 1
            file[name] = FILENAME; count[name]++
        }
        END {
            for (name in twice) shared += count[name]
            percent = int(100 * shared / n + 0.5)
            if (percent > 3) { print percent "% of the names are not unique"; exit 1 }
        }'
}

has_table() { updated | diff - "$top/doc/architecture.md"; }

check "the sources are no larger than their bounds" within sources "$top"
check "the names of functions contain an object" names
check "doc/architecture.md has the current table" has_table
preload=$build/test/support/.libs/yield.so
if command -v valgrind >/dev/null && [ -e "$build/.libs/libpnetcdf.so" ] && [ -n "${MPICC-}" ] && [ -e "$preload" ]; then
    check "calls pass through no more functions and files than allowed" within calls "$top" \
        "$build/.libs" "$build/include" "$preload" ${MPIEXEC:-mpiexec} -n 2
else
    skip "functions and files that calls pass through" "no valgrind"
fi
finish
