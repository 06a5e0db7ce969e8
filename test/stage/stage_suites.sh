#!/bin/bash
# Runs the conformance matrix, the random programs and the data tests with reads staged:
# everything, little of it at a time, of subfiles, with the burst buffer and both. Takes minutes;
# `make check-ways`. Settings: test/support/suites.sh.
set -u
. "${srcdir:-.}/test/support/suites.sh"
export NCMPI_TEST_PROCS=${NCMPI_TEST_PROCS-1 2 3 4}
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-stage.XXXXXX") || exit 99
trap 'rm -rf "$where"' EXIT
on="nc_stage=enable;nc_stage_dirname=$where"
suites "$on" "$on;nc_stage_block_size=4096;nc_stage_size=8192" \
    "$on;nc_stage_keep=enable;nc_stage_prefetch=open"
of_all=$?
# With a log a pending request is not small; the bytes of a file with blobs are others.
export NCMPI_TEST_BUT='a pending request is small'
suites_but='/(bad_input|file_layout|records)\.'
log="nc_burst_buf=enable;nc_burst_buf_dirname=$where"
suites "$on;$log" "$on;nc_blob=enable" \
    "$on;nc_blob=enable;nc_num_subfiles=64;nc_stage_block_size=4096;nc_stage_size=16384" \
    "$on;nc_blob=enable;nc_num_subfiles=2;nc_stage_keep=enable;nc_stage_prefetch=open" \
    "$on;nc_blob=enable;nc_num_subfiles=2;$log"
with_others=$?
[ $of_all = 0 ] && [ $with_others = 0 ]
