#!/bin/bash
# Runs the conformance and the random programs with the log driver on, in every way it can
# be set. Takes minutes; `make check-burst-suites`. Settings: test/support/suites.sh.
set -u
. "${srcdir:-.}/test/support/suites.sh"
# What cannot hold with a log: node counts the default driver's calls; what is logged takes
# memory until it is in the file, also where a bound on that of requests is tested.
suites_rooms='api|random|mpio' suites_but='^test/mpio/node'
export NCMPI_TEST_BUT='a pending request is small'
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-burst.XXXXXX") || exit 99
trap 'rm -rf "$where"' EXIT
on="nc_burst_buf=enable;nc_burst_buf_dirname=$where"
suites "$on;nc_burst_buf_flush=flush_onclose" \
    "$on;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0" \
    "$on;nc_burst_buf_shared_logs=enable" \
    "$on;nc_burst_buf_flush_buffer_size=64" \
    "$on;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0;nc_burst_buf_threads=4" \
    "$on;e10_cache=coherent"
status=$?
# Those of mpio look at a file as soon as it is closed. A create that finds no communicator
# left removes the file that all have open: with the closes before, that is another call.
suites_rooms='api|random' NCMPI_TEST_BUT+=', too many files are an error'
suites "$on;nc_deferred_close=enable" \
    "$on;nc_deferred_close=enable;nc_burst_buf_shared_logs=enable;nc_burst_buf_flush=flush_immediate" ||
    status=1
exit $status
