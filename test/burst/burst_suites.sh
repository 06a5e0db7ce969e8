#!/bin/bash
# Runs the conformance tests and the random programs with the log driver in each of its
# configurations (`make check-burst-suites`). Takes minutes. Settings: test/support/suites.sh.
set -u
. "${srcdir:-.}/test/support/suites.sh"
# Excludes tests that cannot pass with a log. node counts the calls of the default driver. A test of
# the memory limit for requests fails because logged values occupy memory until they are in the
# file.
suites_rooms='api|random|mpio' suites_but='^test/mpio/node'
export NCMPI_TEST_BUT='a pending request uses little memory'
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
# Deferred closes rule out some tests. The mpio tests read a file right after closing it. The test
# that runs out of communicators depends on which create fails, because that create removes the file
# that all processes have open; deferred closes make a different one fail.
suites_rooms='api|random' NCMPI_TEST_BUT+='|too many files are an error'
suites "$on;nc_deferred_close=enable" \
    "$on;nc_deferred_close=enable;nc_burst_buf_shared_logs=enable;nc_burst_buf_flush=flush_immediate" ||
    status=1
exit $status
