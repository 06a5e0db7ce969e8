#!/bin/bash
# Runs the conformance matrix with netCDF-4 files in the place of classic ones: NC_NETCDF4 for CDF-5,
# and its classic model for the others. Settings: test/support/suites.sh.
#
# NC4_SUITES=all: every test that can be; else a few.
set -u
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/suites.sh"
if NCMPI_TEST_PROCS=1 NCMPI_TEST_ONLY="abort removes" "$BASH" "${srcdir:-.}/test/support/run-mpi" \
    test/nc4/nc4_datasets.mpi | grep -q SKIP; then
    echo "1..0 # SKIP no netCDF-C"
    exit
fi
export NCMPI_TEST_NETCDF4=1
[ "${NC4_SUITES-}" = all ] || NCMPI_TEST_PROCS=1 # not everywhere can several write
export NCMPI_TEST_PROCS=${NCMPI_TEST_PROCS-1}
# Left out: what looks at the bytes of a classic file, reckons with subfiles or MPI-IO's hints,
# or would take netCDF-C's own way of quantizing for another one.
suites_rooms=api
suites_but='/(bad_input|cdl_headers|file_layout|promises|records|redefine|quantize_netcdf)\.'
# Names of cases, and why:
but=(
    "a file-system prefix is stripped" # they ask for the classic format's number
    "format and version"
    "a name has a longest length" # netCDF-C's is shorter by a byte
    "dimension lengths have bounds" # other ones
    "wide records end before 2^63" # likewise; HDF5 computes for hours with strides of 2^59
    "starts beyond all offsets" # these four: the classic model has as many records as netCDF-4 itself
    "records to fill beyond all offsets"
    "records that become too long"
    "the last record there can be"
    "after reopening every variable is in fill mode" # a netCDF-4 file tells fill modes
    "records appended to a reopened file are filled"
    "bytes of headers and filling are counted" # HDF5 counts nothing
    "a pending request is small" # a buffer of 4 MiB beside it
    "a file that is opened again goes on" # netCDF-C quantizes what says so
)
if [ "$NCMPI_TEST_PROCS" != 1 ]; then
    # Of files that are open in parallel one thread may make calls at a time.
    but+=("quantized, collective calls of threads on different datasets") # this name has the plain one's in it
    # Where several processes write, independent puts do not add records.
    but+=("interleaved columns in any order" "record variables" "a fixed variable and records")
    but+=("attributes of process 0 hold in data mode" "records that are not there" "records grow at the wait")
    but+=("data is moved between post and wait" "several variables in one call" "quantized, all threads on one dataset")
    but+=("too many files are an error") # of other kinds, as with a log below, and after minutes
fi
NCMPI_TEST_BUT=$(IFS='|'; echo "${but[*]}")
export NCMPI_TEST_BUT
[ "${NC4_SUITES-}" = all ] || SUITES_TESTS=${SUITES_TESTS-/(attributes|collective|filetypes|nonblocking_kept|safe_mode)\.}
check "the conformance matrix passes on netCDF-4 files" suites ''
if [ "${NC4_SUITES-}" = all ]; then
    where=$(scratch suites) || exit 99
    trap 'rm -rf "$where"' EXIT
    NCMPI_TEST_BUT+='|too many files are an error' # of other kinds: HDF5 may be the first to lack one
    check "and with their puts in a log" suites "nc_burst_buf=enable;nc_burst_buf_dirname=$where"
fi
finish
