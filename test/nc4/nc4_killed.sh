#!/bin/bash
# Kills a program that puts values into a netCDF-4 file through a log, at one of the library's own
# system calls or one of HDF5's writes. When the file is opened again, it must contain all values
# whose puts had returned. If the program was killed while HDF5 was writing, the library may instead
# refuse the file with a message, and the logs must remain.
#
#   NC4_KILLED=all   tests every point instead of a sample
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch nc4killed) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed files=$where/files
file=$files/a.nc told=$where/told.d/told
export BURST_NETCDF4=1 BURST_PUTS=30 PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_dirname=$files"

fresh() {
    rm -rf "$files" "$where/told.d" "$where/pids"
    mkdir "$files" "$where/told.d"
}
play() { if [ "$n" = 1 ]; then "$program" "$@"; else launch "$n" "$program" "$@"; fi; }
logs() { find "$files" -name '*.meta' | wc -l; }

# Checks the file with another run of the program. Sets $refused to 1 if the file was refused,
# otherwise to 0.
holds() {
    refused=0
    if "$program" check "$file" "$told" put >"$where/check" 2>&1; then
        [ "$(logs)" = 0 ] || { echo "logs stay"; return 1; }
        [ ! -s "$told.0" ] || ! command -v ncdump >"$where/out" || same_dump
    else
        refused=1
        grep -qE 'HDF5 may have left the file damaged|HDF error' "$where/check" && [ "$(logs)" = "$n" ] && return
        cat "$where/check"
        return 1
    fi
}
same_dump() { ncdump "$file" >"$where/theirs" && ./ncmpidump "$file" >"$where/ours" && cmp "$where/theirs" "$where/ours"; }

# every_point CRASH FIRST STEP: kills the program at every STEP-th point, starting with FIRST, until
# a run survives. Unless CRASH is `own`, some of these points must make the library refuse the file,
# but not all of them.
every_point() {
    local point tried=0 bad=0 none=0
    for ((point = $2; ; point += $3)); do
        fresh
        { "$1" "$point"; } >"$where/out" 2>&1 && break
        tried=$((tried + 1))
        holds || { bad=$((bad + 1)); echo "lost at $point: $(cat "$told.0")"; }
        none=$((none + refused))
    done
    echo "# $1, $n processes: $tried points, $none refused, $bad lost something" | tee -a "$where/summary"
    [ "$bad" = 0 ] && [ "$tried" -gt 2 ] && [ "$none" -lt "$tried" ] && { [ "$1" = own ] || [ "$none" -gt 0 ]; }
}
own() { BURST_CALLS_DIR=$files BURST_PIDS=$where/pids BURST_KILL_AT=$1 play write "$file" "$told"; }
in_hdf5() {
    strace -f -o "$where/trace" -e trace=pwrite64,ftruncate \
        -e inject=pwrite64,ftruncate:signal=KILL:when="$1" "$program" write "$file" "$told"
}

n=1
fresh
if ! play write "$file" "$told" >"$where/out" 2>&1; then
    grep -q 'netCDF-C' "$where/out" && { echo "1..0 # SKIP no netCDF-C"; exit; }
fi
complete() {
    [ "$(logs)" = 0 ] && holds && cp "$file" "$where/logged.nc" && fresh &&
        PNETCDF_HINTS='' play write "$file" "$told" && ./cdfdiff "$where/logged.nc" "$file"
}
check "a file written through a log equals one written without" complete

waiting() {
    fresh
    { own 60; } >"$where/out" 2>&1
    [ "$(logs)" = 1 ] && PNETCDF_HINTS="$PNETCDF_HINTS;nc_burst_buf_recover=always" \
        "$program" check "$file" "$told" refused >"$where/words" && grep -q 'open it for writing once' "$where/words" &&
        holds && [ $refused = 0 ]
}
check "an open for reading reports the log" waiting

step=5
if [ "${NC4_KILLED-}" = all ]; then step=1; fi
check "no put is lost if a process is killed" every_point own 2 $((2 * step + 1))
if strace -o "$where/trace" -e inject=pwrite64:signal=KILL:when=1 true >"$where/out" 2>&1; then
    check "a file is refused if a process was killed while HDF5 wrote" every_point in_hdf5 1 $step
else
    skip "a file is refused if a process was killed while HDF5 wrote" "no strace"
fi

by_hand() {
    fresh
    { own 60; } >"$where/out" 2>&1
    touch -d tomorrow "$file"
    ! "$program" check "$file" "$told" put >"$where/check" 2>&1 && grep -q 'was changed' "$where/check" &&
        ./ncmpilog replay -f -r -d "$file" "$files" && [ "$(logs)" = 0 ] && holds
}
check "ncmpilog replay -f replays a log into a changed file" by_hand

n=3
fresh
export BURST_PUTS=10
if play write "$file" "$told" >"$where/out" 2>&1; then
    check "no put is lost if one of several processes is killed" every_point own 2 $((step == 1 ? 1 : 61))
else
    skip "no put is lost if one of several processes is killed" "no netCDF-C for this MPI"
fi
[ ! -f "$where/summary" ] || sed 's/^# */# /' "$where/summary"
finish
