#!/bin/bash
# Runs the conformance matrix, the random programs and the data tests with the blob driver: with one
# subfile, several subfiles and one subfile per process, with and without compression, and with the
# burst buffer above it. Takes minutes (make check-ways). For the settings, see
# test/support/suites.sh.
set -u
. "${srcdir:-.}/test/support/suites.sh"
export NCMPI_TEST_PROCS=${NCMPI_TEST_PROCS-1 2 3 4}
# Excludes tests that examine the bytes of a file.
suites_but='/(bad_input|file_layout|records)\.'
suites 'nc_blob=enable' 'nc_blob=enable;nc_num_subfiles=2' \
    'nc_num_subfiles=64;pnetcdf_subfiling=enable' \
    'nc_blob=enable;nc_num_subfiles=2;nc_burst_buf=enable' \
    'nc_blob=enable;nc_compress=zstd' 'nc_blob=enable;nc_num_subfiles=2;nc_compress=lz4' \
    'nc_num_subfiles=64;pnetcdf_subfiling=enable;nc_compress=zstd' \
    'nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd;nc_burst_buf=enable'
