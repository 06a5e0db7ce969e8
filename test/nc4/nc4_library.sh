#!/bin/bash
# Tests every installed version of netCDF-C. If netCDF-C was built with PnetCDF, it must call that
# PnetCDF rather than this library's functions with the same names, and vice versa.
. "${srcdir:-.}/test/support/tap.sh"
twin=$PWD/test/nc4/nc4_twin
dir=$(scratch nc4_library) || exit 99
trap 'rm -rf "$dir"' EXIT

if ! command -v ncgen >/dev/null || ! command -v nccopy >/dev/null; then
    echo "1..0 # SKIP no ncgen"
    exit
fi
ncgen -k nc4 -o "$dir/a.nc4" - <<<'netcdf x { dimensions: t = UNLIMITED; variables: short s(t); data: s = 1, 2, 3; }'
nccopy -k cdf5 "$dir/a.nc4" "$dir/a.nc"

# loads LIBRARY: succeeds if the library is installed.
loads() { ! NCMPI_NETCDF4=$1 "$twin" /dev/null | grep -q 'which was not found'; }
# both_ways LIBRARY: reads and writes with LIBRARY while the ncmpi_* functions of this library are
# preloaded.
both_ways() {
    local ours=$PWD/.libs/libpnetcdf.so
    [ -e "$ours" ] || ours=
    LD_PRELOAD=$ours NCMPI_NETCDF4=$1 "$twin" "$dir/a.nc4" "$dir/a.nc" &&
        LD_PRELOAD=$ours NCMPI_NETCDF4=$1 "$twin" -w "$dir/b.nc4" "$dir/a.nc"
}
# driven LIBRARY: runs the netCDF-4 driver's tests with LIBRARY.
driven() {
    NCMPI_NETCDF4=$1 NCMPI_TEST_PROCS='1 3' "$BASH" "${srcdir:-.}/test/support/run-mpi" test/nc4/nc4_datasets.mpi
}

for library in libnetcdf.so.19 libnetcdf_mpi.so.19 libnetcdf_pnetcdf.so.19; do
    if loads $library; then
        check "$library reads and writes" both_ways $library
    else
        skip "$library reads and writes" "it is not here"
    fi
done
# Debian's build of this library requires Open MPI.
library=libnetcdf_pnetcdf.so.19
if [ "${MPI_FLAVOUR-}" = openmpi ] && loads $library; then
    check "$library writes datasets of several processes" driven $library
else
    skip "$library writes datasets of several processes" "not this MPI's"
fi
finish
