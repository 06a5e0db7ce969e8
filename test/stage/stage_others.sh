#!/bin/bash
# Staged reads on top of other drivers: a dataset whose values are not where its header says, in
# its own file, is read as without them. Logs are replayed before.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-stage.XXXXXX") || exit 99
trap 'rm -rf "$where"' EXIT
on="nc_stage=enable;nc_stage_dirname=$where;nc_stage_block_size=4096"

# with HINTS TEST [ONLY]
with() {
    env PNETCDF_HINTS="$on;$1" NCMPI_TEST_PROCS='1 3' ${3:+NCMPI_TEST_ONLY="$3"} \
        bash "$top/test/support/run-mpi" "test/$2.mpi"
}
check "subfiles that other libraries made" with '' blob/foreign_read
check "blobs" with 'nc_blob=enable' api/collective
check "a log" with "nc_burst_buf=enable;nc_burst_buf_dirname=$where" api/collective
check "blobs and a log" with "nc_blob=enable;nc_burst_buf=enable;nc_burst_buf_dirname=$where" \
    api/collective
left() { ls -A "$where" | grep ncmpi-stage && return 1 || return 0; }
check "nothing is left" left
finish
