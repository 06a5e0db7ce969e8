#!/bin/bash
# Runs the conformance matrix, the random programs and the data tests with staged reads: of whole
# files, with a small staged file, of subfiles, with the burst buffer, and with both. Takes minutes;
# run by `make check-ways`. For the settings, see test/support/suites.sh.
set -u
. "${srcdir:-.}/test/support/suites.sh"
export NCMPI_TEST_PROCS=${NCMPI_TEST_PROCS-1 2 3 4}
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-stage.XXXXXX") || exit 99
trap 'rm -rf "$where"' EXIT
on="nc_stage=enable;nc_stage_dirname=$where"
suites "$on" "$on;nc_stage_block_size=4096;nc_stage_size=8192" \
    "$on;nc_stage_keep=enable;nc_stage_prefetch=open"
of_all=$?
# The runs below omit the test that checks that a pending request uses little memory, because a
# logged request uses more. They also omit the suites that compare the bytes of the file, because
# these differ with blobs.
export NCMPI_TEST_BUT='a pending request uses little memory'
suites_but='/(bad_input|file_layout|records)\.'
log="nc_burst_buf=enable;nc_burst_buf_dirname=$where"
suites "$on;$log" "$on;nc_blob=enable" \
    "$on;nc_blob=enable;nc_num_subfiles=64;nc_stage_block_size=4096;nc_stage_size=16384" \
    "$on;nc_blob=enable;nc_num_subfiles=2;nc_stage_keep=enable;nc_stage_prefetch=open" \
    "$on;nc_blob=enable;nc_num_subfiles=2;$log"
with_others=$?
[ $of_all = 0 ] && [ $with_others = 0 ]
