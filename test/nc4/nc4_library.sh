#!/bin/bash
# Whichever netCDF-C is loaded: one that was itself built with PnetCDF finds its own functions, not this
# library's of the same names, and this one's do not go to that one's.
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

# loads LIBRARY: is it here?
loads() { ! NCMPI_NETCDF4=$1 "$twin" /dev/null | grep -q 'which was not found'; }
# both_ways LIBRARY: reads and writes by it, where ncmpi_* of this library are everybody's.
both_ways() {
    local ours=$PWD/.libs/libpnetcdf.so
    [ -e "$ours" ] || ours=
    LD_PRELOAD=$ours NCMPI_NETCDF4=$1 "$twin" "$dir/a.nc4" "$dir/a.nc" &&
        LD_PRELOAD=$ours NCMPI_NETCDF4=$1 "$twin" -w "$dir/b.nc4" "$dir/a.nc"
}
# driven LIBRARY: the driver's own test by it.
driven() {
    NCMPI_NETCDF4=$1 NCMPI_TEST_PROCS='1 3' "$BASH" "${srcdir:-.}/test/support/run-mpi" test/nc4/nc4_datasets.mpi
}

for library in libnetcdf.so.19 libnetcdf_mpi.so.19 libnetcdf_pnetcdf.so.19; do
    if loads $library; then
        check "reading and writing by $library" both_ways $library
    else
        skip "reading and writing by $library" "it is not here"
    fi
done
# Debian's is Open MPI's.
library=libnetcdf_pnetcdf.so.19
if [ "${MPI_FLAVOUR-}" = openmpi ] && loads $library; then
    check "datasets of several processes by $library" driven $library
else
    skip "datasets of several processes by $library" "not this MPI's"
fi
finish
