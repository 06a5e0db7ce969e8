#!/bin/bash
# Runs the conformance matrix with netCDF-4 files instead of classic ones: NC_NETCDF4 in place of
# CDF-5, and netCDF-4's classic model in place of the other formats. For the settings, see
# test/support/suites.sh.
#
# NC4_SUITES=all runs all applicable tests instead of a few.
set -u
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/suites.sh"
if NCMPI_TEST_PROCS=1 NCMPI_TEST_ONLY="abort removes" "$BASH" "${srcdir:-.}/test/support/run-mpi" \
    test/nc4/nc4_datasets.mpi | grep -q SKIP; then
    echo "1..0 # SKIP no netCDF-C"
    exit
fi
export NCMPI_TEST_NETCDF4=1
[ "${NC4_SUITES-}" = all ] || NCMPI_TEST_PROCS=1 # not every netCDF-C supports several writing processes
export NCMPI_TEST_PROCS=${NCMPI_TEST_PROCS-1}
# Skips tests that examine the bytes of a classic file, that expect subfiles or MPI-IO's hints, or
# that require the library's own quantization rather than netCDF-C's.
suites_rooms=api
suites_but='/(bad_input|cdl_headers|file_layout|promises|records|redefine|quantize_netcdf)\.'
# Cases that are skipped, with the reasons:
but=(
    "a file-system prefix is stripped" # this case and the next expect a classic format number
    "format and version"
    "names have a maximum length" # netCDF-C's limit is one byte less
    "dimension lengths have bounds" # the bounds differ
    "wide records end before 2^63" # the bounds differ; HDF5 computes for hours with strides of 2^59
    "starts beyond all offsets are refused" # also the next three: netCDF-4 has other limits on records
    "filling records beyond all offsets is refused"
    "records that become too long are refused"
    "the last possible record can be written"
    "after reopening every variable is in fill mode" # also the next one: netCDF-4 files store fill modes
    "records appended to a reopened file are filled"
    "bytes of headers and filling are counted" # HDF5 does not count bytes
    "a pending request uses little memory" # netCDF-C adds a buffer of 4 MiB
    "a reopened file is quantized as before" # netCDF-C quantizes if it finds the attributes
)
if [ "$NCMPI_TEST_PROCS" != 1 ]; then
    # Only one thread at a time may call functions on files that are open in parallel.
    but+=("quantized, threads make collective calls on different datasets") # not without "quantized", which would match other cases
    # If several processes write, independent puts cannot add records.
    but+=("interleaved columns are put in any order" "file types select records"
        "file types select elements of a fixed-size variable and of records")
    but+=("attributes of process 0 take precedence in data mode" "file types beyond the last record are refused"
        "records are added by the wait")
    but+=("data is moved between post and wait" "one call accesses several variables" "quantized, all threads use one dataset")
    but+=("too many files are an error") # returns other errors (see below), and takes minutes
fi
NCMPI_TEST_BUT=$(IFS='|'; echo "${but[*]}")
export NCMPI_TEST_BUT
[ "${NC4_SUITES-}" = all ] || SUITES_TESTS=${SUITES_TESTS-/(attributes|collective|filetypes|nonblocking_kept|safe_mode)\.}
check "the conformance matrix passes on netCDF-4 files" suites ''
if [ "${NC4_SUITES-}" = all ]; then
    where=$(scratch suites) || exit 99
    trap 'rm -rf "$where"' EXIT
    NCMPI_TEST_BUT+='|too many files are an error' # HDF5 may run out of files first, with a different error
    check "the conformance matrix passes on netCDF-4 files with logs" suites "nc_burst_buf=enable;nc_burst_buf_dirname=$where"
fi
finish
