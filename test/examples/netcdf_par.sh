#!/bin/bash
# Tests that Debian's netCDF-C for parallel programs, which was built with PnetCDF, runs unchanged
# if this library is preloaded in place of PnetCDF, and that the file has the same contents.
here=${srcdir:-.}
. "$here/test/support/tap.sh"
. "$here/test/support/launch.sh"
debian=/usr/lib/$(gcc -print-multiarch)/netcdf/pnetcdf
[ "$MPI_FLAVOUR" = openmpi ] || { echo "1..0 # SKIP Debian's netCDF-C has Open MPI"; exit 0; }
[ -e "$debian/libnetcdf.so" ] || { echo "1..0 # SKIP no libnetcdf-pnetcdf-dev"; exit 0; }
ours=$(realpath .libs/libpnetcdf.so.8) || { echo "1..0 # SKIP no shared library"; exit 0; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

builds() {
    $MPICC -o "$dir/par" "$here/test/examples/netcdf_par.c" "-I$debian/include" \
        "-L$debian" "-Wl,-rpath,$debian" -lnetcdf
}
runs() {
    launch "$1" env LD_PRELOAD="$ours" PNETCDF_REPORT=1 "$dir/par" "$dir/ours.nc" \
        >"$dir/report" 2>&1 && grep "statistics of $1 process" "$dir/report"
}
same() {
    launch "$1" "$dir/par" "$dir/theirs.nc" && ncdump -n par "$dir/theirs.nc" >"$dir/theirs" &&
        ncdump -n par "$dir/ours.nc" | diff - "$dir/theirs"
}

check 'a program for netcdf_par.h compiles' builds
for n in 1 3; do
    check "a program for netcdf_par.h runs ($n processes)" runs $n
    check "a program for netcdf_par.h writes PnetCDF's file ($n processes)" same $n
done
finish
