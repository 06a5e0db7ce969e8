#!/bin/bash
# Runs random programs and a few data tests with each transfer method. `make check-ways` runs all
# data tests, on more process counts.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

# through_mpi_io TEST: runs a test on two processes, which access the file through MPI-IO.
through_mpi_io() {
    env PNETCDF_HINTS=nc_file_io=mpi NCMPI_TEST_PROCS=2 \
        bash "$top/test/support/run-mpi" "$1"
}

# forced HINTS: runs random programs with these hints on three processes.
forced() {
    env PNETCDF_HINTS="$1" NCMPI_TEST_PROCS=3 \
        bash "$top/test/support/run-mpi" test/random/random_program.mpi
}

for hints in nc_transfer=direct 'nc_transfer=view;nc_ibuf_size=1000' \
    nc_file_io=mpi 'nc_transfer=node;nc_node_share_size=1000' 'nc_transfer=node;nc_node_procs=1'; do
    if [ -x test/random/random_program.mpi ]; then
        check "random programs pass with $hints" forced "$hints"
    else
        skip "random programs pass with $hints" "netCDF is not there to compare with"
    fi
done
for test in api/io_errors api/create_open api/bad_input api/records mpio/ways; do
    check "$test passes with nc_file_io=mpi" through_mpi_io test/$test.mpi
done
finish
