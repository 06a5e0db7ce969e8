#!/bin/bash
# Changes definitions, adds records and creates datasets while the data's file system, the logs'
# file system or shared memory is full or nearly full, or while descriptors run out. All data for
# which a call returned success must be in the file. Otherwise the file must contain the old dataset
# or the complete new one. The test mounts real file systems.
#
#   SMALL_FS=all   tests every change with every amount of free space, not only a sample
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-small.XXXXXX") || exit 99
mounted=()
tidy() {
    launch_kill
    for m in "${mounted[@]}"; do umount "$m"; done
    rm -rf "$where"
}
trap tidy EXIT
program=test/mpio/redef_killed
changes='0 7 10' logged=7 step=90 sizes='2 16' numbers='6 8 10 12 16 20 24'
if [ "${SMALL_FS-}" = all ]; then
    changes='0 1 2 3 4 5 6 7 8 9 10' logged='6 7 10' step=4 sizes='1 2 4 6 8 12 16 20 24 32 48'
    numbers='4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 24 26 28 30 32 40'
fi

play() { # PROCESSES ARGUMENT...
    local n=$1
    shift
    if [ "$n" = 1 ]; then timeout 60 "$program" "$@"; else launch -t 60 "$n" "$program" "$@"; fi
}

# small KIND: mounts a file system of a few megabytes at $where/KIND.
small() {
    local at=$where/$1
    mkdir "$at"
    case $1 in
    tmpfs) mount -t tmpfs -o size=3m tmpfs "$at" ;;
    ext4)
        truncate -s 8M "$where/image" && mkfs.ext4 -q -m 0 -O ^has_journal "$where/image" &&
            mount -o loop "$where/image" "$at" ;;
    esac >"$where/said" 2>&1 || return 1
    mounted+=("$at")
}

# leave KIB DIRECTORY: fills the directory's file system until only KIB KiB are free.
leave() {
    local free
    rm -f "$2/ballast"
    free=$(df --output=avail -k "$2" | tail -n 1)
    [ "$free" -gt "$1" ] || return 1
    # allocates as much as possible, because some file systems do not report their free space
    # exactly
    fallocate -l $(((free - $1) * 1024)) "$2/ballast" 2>/dev/null ||
        head -c $(((free - $1) * 1024)) /dev/zero >"$2/ballast" 2>/dev/null || true
}

# judge FILE CHANGE STATUS: frees space and checks the dataset.
cases=0 lost=0 lied=0 hung=0 refused=0
judge() {
    local is
    cases=$((cases + 1))
    if [ "$3" = 124 ] || grep -q 'no end after' "$where/out"; then hung=$((hung + 1)); fi
    if [ "$3" != 0 ]; then refused=$((refused + 1)); fi
    is=$(play 1 check "$1" "$2" '' 2>"$where/why" | grep -E '^(old|new)$')
    if [ -z "$is" ]; then
        lost=$((lost + 1))
    elif [ "$3" = 0 ] && [ "$is" = old ]; then
        lied=$((lied + 1))
    else
        return
    fi
    echo "change $2, told $3, is ${is:-neither}: $what"
    cat "$where/why"
}

fresh() { # FILE CHANGE
    rm -f "$1"*
    if [ "$2" != 10 ]; then cp "$where/made.nc" "$1"; fi
}

# table NAME LEAST: prints how often each result occurred, and checks that at least LEAST runs have
# failed.
table() {
    echo "# $1: $cases cases, $refused refused, $lost lost, $hung hung, $lied lied" |
        tee -a "$where/summary"
    [ $((lost + hung + lied)) = 0 ] && [ "$cases" -gt 1 ] && [ "$refused" -ge "$2" ]
}

# full NAME PROCESSES DATA SMALL HINTS: tests every change with little free space on SMALL, the file
# system of either the data or the logs. If a log cannot be written, the library writes the values
# directly to the file, so calls need not fail.
full() {
    local name=$1 n=$2 data=$3 small=$4 hints=$5 change room rc which=$changes least=1
    if [ -n "$hints" ]; then which=$logged least=0; fi
    for change in $which; do
        for ((room = 0; room <= 320; room += step)); do
            what="$room KiB left"
            fresh "$data/a.nc" "$change"
            leave "$room" "$small" || return 1
            PNETCDF_HINTS=$hints play "$n" try "$data/a.nc" "$change" >"$where/out" 2>&1
            rc=$?
            rm -f "$small/ballast"
            PNETCDF_HINTS=$hints judge "$data/a.nc" "$change" "$rc"
        done
    done
    rm -f "$data"/a.nc*
    table "$name, $n processes" $least
}

# MPI itself needs some shared memory. If it cannot allocate that, the result proves nothing.
shared() { # PROCESSES
    local mib rc what=
    for mib in $sizes; do
        what="$mib MiB of shared memory"
        fresh "$where/a.nc" 7
        # shellcheck disable=SC2016 # the inner shell expands them
        unshare -m bash -c 'mount -t tmpfs -o size='"$mib"'m tmpfs /dev/shm && . "$srcdir/test/support/launch.sh" &&
            launch -t 60 "$@"' - "$1" "$program" try "$where/a.nc" 7 >"$where/out" 2>&1
        rc=$?
        judge "$where/a.nc" 7 "$rc"
    done
    table "little shared memory, $1 processes" 0
}

descriptors() {
    local n change rc what
    for change in $changes; do
        for n in $numbers; do
            what="$n descriptors"
            fresh "$where/a.nc" "$change"
            (ulimit -n "$n" && exec timeout 60 "$program" try "$where/a.nc" "$change") >"$where/out" 2>&1
            rc=$?
            judge "$where/a.nc" "$change" "$rc"
        done
    done
    table descriptors 1
}

timeout 60 "$program" make "$where/made.nc" || exit 99
for kind in tmpfs ext4; do
    if small $kind; then
        at=$where/$kind buffered="nc_burst_buf=enable;nc_burst_buf_dirname=$at"
        check "a full $kind loses nothing" full "$kind" 1 "$at" "$at" ''
        check "logs on a full $kind lose nothing" full "logs on $kind" 1 "$where" "$at" "$buffered"
        if [ "${SMALL_FS-}" = all ]; then
            check "a full $kind loses nothing, three processes" full "$kind" 3 "$at" "$at" ''
            check "logs on a full $kind lose nothing, three processes" full "logs on $kind" 3 "$where" "$at" "$buffered"
        fi
    else
        skip "a full $kind loses nothing" "no file system can be mounted here: $(head -n 1 "$where/said")"
    fi
done
export srcdir=${srcdir:-.}
if unshare -m mount -t tmpfs -o size=1m tmpfs /dev/shm 2>/dev/null; then
    check "little shared memory loses nothing" shared 3
else
    skip "little shared memory loses nothing" "there are no mount namespaces here"
fi
check "a lack of descriptors loses nothing" descriptors
cat "$where/summary"
finish
