#!/bin/bash
# A compressed variable with a dimension without limit that is not its first one: HDF5 wants all
# processes that write the file to read it together, and each row takes a call.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch nc4_inner) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
command -v ncgen >/dev/null || { echo "1..0 # SKIP no ncgen"; exit; }
ncgen -k nc4 -o "$where/a.nc" - <<'X' || exit 99
netcdf a { dimensions: x = 6; u = UNLIMITED;
variables: int w(x, u); w:_DeflateLevel = 1; w:_ChunkSizes = 1, 4;
data: w = {1, 2, 3, 4, 5}, {6, 7}, {8, 9, 10, 11, 12}, {13}, {14, 15}, {16}; }
X
program=test/nc4/nc4_inner
# reads N: on N processes
reads() {
    launch -t 30 "$1" "$program" "$where/a.nc" w
}
check "one process reads it" reads 1
if reads 3 >"$where/out" 2>&1; then
    check "several that write read it together" true
elif grep -q 'libnetcdf-mpi' "$where/out"; then
    skip "several that write read it together" "no netCDF-C for this MPI"
else
    check "several that write read it together" eval 'cat "$where/out"; false'
fi
finish
