#!/bin/bash
# Tests deferred closes when the program ends: normally, with an error that it never sees, or by a
# signal.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-deferred.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
files=$where/files told=$where/told.d/told
export BURST_PUTS=12 # the last put adds a record, so the header must be updated as well
export PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_dirname=$files;nc_deferred_close=enable"

# write PROCESSES HOW: runs the program. BURST_LEAVE=HOW determines how the program ends.
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
    grep -q "^NC_[A-Z]*: deferred close of $files/a.nc: " "$where/out" &&
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
check "MPI_Finalize completes deferred closes" finalized
check "MPI_Finalize reports values that it could not write, and keeps them" told_once
check "nothing is lost if a job is killed after its close" all_killed
if [ -x test/support/nc_read ]; then
    check "netCDF-C reads a dataset that MPI_Finalize has completed" read_serially
else
    skip "netCDF-C reads a dataset that MPI_Finalize has completed" "no netCDF-C"
fi
finish
