#!/bin/bash
# What the house is measured by, against where it stands: doc/architecture.md has the table.
# A number may fall; who lets one rise has a reason, and changes the bound and the table.
top=$(realpath "${srcdir:-.}")
build=$PWD
. "$top/test/support/tap.sh"
export LC_ALL=C
scratch=$(realpath "$(mktemp -d)") || exit 99
trap 'rm -rf "$scratch"' EXIT

lib() { find "$top/src/lib" -name '*.[ch]' "$@" | sort; }

# at_most NUMBER WHAT 63 33
at_most() {
    echo "$2: $1, at most $3"
    [ -n "$1" ] && [ "$1" -gt 0 ] && [ "$1" -le "$3" ]
}

# Files that match, of those that are not in the rooms named.
files_with() { # PATTERN ROOM...
    local pattern=$1
    shift
    lib -name '*.c' | grep -vE "/src/lib/($(tr ' ' '|' <<<"$*"))/" | xargs grep -lE "$pattern" | wc -l
}

# The stage's sockets, twice, and CDL, which may come through a pipe.
opens_outside_file() {
    at_most "$(files_with '\b(open|openat|pread|pwrite|fsync|fdatasync|flock|fcntl)\(' file base)" \
        "files outside file and base that open, read, write or lock" 3
}

slots() {
    at_most "$(awk '/^struct driver_ops/ {on = 1} on && /\(\*/ {n++} /^};/ {on = 0} END {print n}' \
        "$top/src/lib/driver/driver.h")" "slots of a driver" 20
}

lines() { at_most "$(lib -print0 | xargs -0 cat | wc -l)" "lines of src/lib" 53298; }

# Names of static functions that stand in more than one file, in percent of all.
names() {
    lib -name '*.c' | xargs awk '
        /^static .*[a-z_0-9]+\(/ && !/;$/ {
            name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            n++; if (name in file && file[name] != FILENAME) twice[name] = 1
            file[name] = FILENAME; count[name]++
        }
        END { for (name in twice) shared += count[name]; print int(100 * shared / n + 0.5) }' >"$scratch/names"
    at_most "$(cat "$scratch/names")" "static functions that share a name, percent" 3
}

# ---- the way of a call, as compiled ----

# way PROGRAM-ARGUMENT FUNCTION: "FUNCTIONS FILES" that one call passes, of those of src/lib.
way() {
    "$MPICC" -g -I"$build/include" -o "$scratch/way" "$top/test/house/way.c" -L"$build/.libs" \
        -Wl,-rpath,"$build/.libs" -lpnetcdf >"$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
    (cd "$scratch" && valgrind --tool=callgrind --callgrind-out-file=out --toggle-collect="$2" \
        ./way "$1" way.nc) >"$scratch/said" 2>&1 || { tail "$scratch/said"; return 1; }
    # "fl=(7) FILE", "fn=(3) FUNCTION"; a name is written where its number first comes, which
    # may be in the line of a call (cfi, cfl).
    awk -F= '/^(fl|fi|fe|cfi|cfl)=/ {
            id = $2; sub(/ .*/, "", id)
            if ($2 ~ / /) { name[id] = $2; sub(/^[^ ]* /, "", name[id]) }
            if (/^fl=/) file = name[id]
        }
        /^fn=/ && file ~ /src\/lib\/.*\.c$/ {
            id = $2; sub(/ .*/, "", id)
            n += !(id in seen); seen[id] = 1
            files += !(file in of); of[file] = 1
        }
        END { print n, files }' "$scratch/out"
}

short_way() { # ARGUMENT FUNCTION FUNCTIONS FILES
    local n files
    read -r n files < <(way "$1" "$2")
    at_most "$n" "functions of $2" "$3" && at_most "$files" "files of $2" "$4"
}

check "who opens files is known" opens_outside_file
check "a driver has few slots" slots
check "the library does not grow unseen" lines
check "names say what they act on" names
if command -v valgrind >/dev/null && [ -e "$build/.libs/libpnetcdf.so" ] && [ -n "${MPICC-}" ]; then
    check "a collective put passes few functions" short_way put ncmpi_put_vara_int_all 41 21
    check "a collective get" short_way get ncmpi_get_vara_int_all 37 19
    check "a wait for one request" short_way wait ncmpi_wait_all 45 21
    export PNETCDF_HINTS=nc_burst_buf=enable
    check "a put to the log" short_way put ncmpi_put_vara_int_all 54 24
    export PNETCDF_HINTS=nc_stage=enable
    check "a staged get" short_way read ncmpi_get_vara_int_all 63 33
else
    skip "the ways of calls" "no valgrind"
fi
finish
