#!/bin/bash
# Tests deferred joins when the program ends normally, when the join fails but no call remains that
# could return the error, and when the program is killed.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-behind.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
files=$where/files told=$where/told.d/told fault=test/support/.libs/fault.so
export BURST_PUTS=12 BURST_LOGS=0

# write PROCESSES HOW HINTS: runs the program. HOW selects how it ends: see BURST_LEAVE in
# burst_killed.c.
write() {
    rm -rf "$files" "$where/told.d"
    mkdir "$files" "$where/told.d"
    PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2;nc_blob_join=behind;$3" BURST_LEAVE=$2 \
        launch "$1" "$program" write "$files/a.nc" "$told" >"$where/out" 2>&1
}
has_all() { PNETCDF_HINTS='' launch "$1" "$program" check "$files/a.nc" "$told" put; }
is_one_file() {
    [ "$(ls "$files")" = a.nc ] && ./ncvalidator "$files/a.nc" >"$where/valid" &&
        [ "$(head -c 3 "$files/a.nc")" = CDF ] && has_all 1 && return
    ls "$files"
    return 1
}
logged="nc_burst_buf=enable;nc_burst_buf_dirname=$files"
finalized() {
    local n hints
    for n in 1 3; do
        for hints in '' "$logged" "$logged;nc_deferred_close=enable"; do
            write "$n" finalize "$hints" && is_one_file || return 1
        done
    done
}
told() {
    LD_PRELOAD=$PWD/$fault NCMPI_FAULT="rename:1:EIO:$files/*" write "$1" finalize ''
    grep -q "^NC_[A-Z]*: deferred close of $files/a.nc: " "$where/out" &&
        [ "$(grep -c deferred "$where/out")" = 1 ] && [ -e "$files/a.nc.0000" ] &&
        ! ls "$files" | grep -q joining && has_all 2 && return
    cat "$where/out"
    return 1
}
told_once() { told 1 && told 3; }
killed() {
    { write "$1" kill "$2"; } 2>/dev/null
    [ -e "$files/a.nc.0000" ] && PNETCDF_HINTS=$2 has_all "$1" || { ls "$files"; return 1; }
    PNETCDF_HINTS="nc_blob_join=behind;$2" launch "$1" "$program" again "$files/a.nc" &&
        [ "$(ls "$files")" = a.nc ] || { ls "$files"; return 1; }
}
all_killed() { killed 1 '' && killed 3 '' && killed 3 "$logged"; }
check "MPI_Finalize completes deferred joins" finalized
if [ -e "$fault" ]; then
    check "MPI_Finalize reports joins that it could not complete" told_once
else
    skip "MPI_Finalize reports joins that it could not complete" "no fault.so"
fi
check "a job killed after a deferred close leaves the subfiles" all_killed
finish
