#!/bin/bash
# Tests gets of a compressed variable whose unlimited dimension is not its first one, while several
# processes have the file open for writing. In this case, HDF5 requires collective reads, and each
# row needs a separate call.
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
# reads N: runs the program on N processes.
reads() {
    launch -t 30 "$1" "$program" "$where/a.nc" w
}
check "one process reads a variable with an inner unlimited dimension" reads 1
if reads 3 >"$where/out" 2>&1; then
    check "several processes read a variable with an inner unlimited dimension" true
elif grep -q 'libnetcdf-mpi' "$where/out"; then
    skip "several processes read a variable with an inner unlimited dimension" "no netCDF-C for this MPI"
else
    check "several processes read a variable with an inner unlimited dimension" eval 'cat "$where/out"; false'
fi
finish
