#!/bin/bash
# Tests staged reads when the hint nc_node_procs divides one node into several. They send requests
# through sockets, as real nodes do, and ThreadSanitizer observes the threads that reply.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

# parts TEST: runs a test on 2 processes, each of which is a node.
parts() {
    PNETCDF_HINTS=nc_node_procs=1 NCMPI_TEST_PROCS=2 \
        bash "$top/test/support/run-mpi" "test/stage/$1.mpi"
}

for test in stage_far stage_behind; do
    check "$test passes with one process per node" parts $test
done
finish
