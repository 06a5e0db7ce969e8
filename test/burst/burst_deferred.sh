#!/bin/bash
# What is left of deferred closes when a program ends: in good order, with an error that
# nobody is there to be told of, or killed.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-deferred.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
files=$where/files told=$where/told.d/told
export BURST_PUTS=12 # the last adds a record, which the header must tell of at the end
export PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_dirname=$files;nc_deferred_close=enable"

# write PROCESSES HOW: the program, which leaves its dataset so.
write() {
    rm -rf "$files" "$where/told.d"
    mkdir "$files" "$where/told.d"
    BURST_LEAVE=$2 launch "$1" "$program" write "$files/a.nc" "$told" >"$where/out" 2>&1
}
is_complete() {
    [ "$(ls "$files")" = a.nc ] || { ls "$files"; return 1; }
    PNETCDF_HINTS='' launch 1 "$program" check "$files/a.nc" "$told" put
}
finalized() { write 1 finalize && is_complete && write 3 finalize && is_complete; }
read_serially() {
    write 3 finalize && test/support/nc_read "$files/a.nc" >"$where/read" && [ -s "$where/read" ]
}
told() {
    write "$1" full
    grep -q "^NC_[A-Z]*: $files/a.nc, whose close was deferred: " "$where/out" &&
        [ "$(grep -c deferred "$where/out")" = 1 ] || { cat "$where/out"; return 1; }
    launch 1 "$program" check "$files/a.nc" "$told" put && is_complete
}
told_once() { told 1 && told 3; }
killed() {
    { write "$1" kill; } 2>/dev/null
    ls "$files" | grep -q '\.meta$' || { ls "$files"; return 1; }
    launch "$1" "$program" check "$files/a.nc" "$told" refused || return 1
    launch 1 "$program" check "$files/a.nc" "$told" put && is_complete
}
all_killed() { killed 1 && killed 3; }
check "MPI_Finalize completes what is left" finalized
check "what MPI_Finalize cannot write is told, and not lost" told_once
check "a job killed behind its close loses nothing" all_killed
if [ -x test/support/nc_read ]; then
    check "netCDF-C reads what MPI_Finalize has completed" read_serially
else
    skip "netCDF-C reads what MPI_Finalize has completed" "no netCDF-C"
fi
finish
