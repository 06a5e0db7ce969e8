#!/bin/bash
# Tests staging together with other drivers. A dataset in subfiles must read as it does without
# staging, and logs must be replayed before anything is staged.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-stage.XXXXXX") || exit 99
trap 'rm -rf "$where"' EXIT
on="nc_stage=enable;nc_stage_dirname=$where;nc_stage_block_size=4096"

# with HINTS TEST [ONLY]: runs a test with staging and these hints.
with() {
    env PNETCDF_HINTS="$on;$1" NCMPI_TEST_PROCS='1 3' ${3:+NCMPI_TEST_ONLY="$3"} \
        bash "$top/test/support/run-mpi" "test/$2.mpi"
}
check "other libraries' subfiles are staged" with '' blob/foreign_read
check "datasets in subfiles are staged" with 'nc_blob=enable' api/collective
check "datasets with logs are staged" with "nc_burst_buf=enable;nc_burst_buf_dirname=$where" api/collective
check "datasets in subfiles with logs are staged" with "nc_blob=enable;nc_burst_buf=enable;nc_burst_buf_dirname=$where" \
    api/collective
left() { ls -A "$where" | grep ncmpi-stage && return 1 || return 0; }
check "no staged file remains" left
finish
