#!/bin/bash
# Random programs with each way of transfer forced. `make check-ways` does it with all tests
# of data, on more numbers of processes.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

# forced HINTS: on three processes.
forced() {
    env PNETCDF_HINTS="$1" NCMPI_TEST_PROCS=3 \
        bash "$top/test/support/run-mpi" test/random/random_program.mpi
}

for hints in nc_transfer=direct 'nc_transfer=view;nc_ibuf_size=1000' \
    'nc_transfer=node;nc_node_share_size=1000' 'nc_transfer=node;nc_node_procs=1'; do
    if [ -x test/random/random_program.mpi ]; then
        check "random programs, $hints" forced "$hints"
    else
        skip "random programs, $hints" "netCDF is not there to compare with"
    fi
done
finish
