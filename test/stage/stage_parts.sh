#!/bin/bash
# Staged reads where the hint nc_node_procs makes several nodes of one: they ask each other
# through sockets as real ones do, and ThreadSanitizer sees the threads that answer.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

# parts TEST: each of 2 processes is a node
parts() {
    PNETCDF_HINTS=nc_node_procs=1 NCMPI_TEST_PROCS=2 \
        bash "$top/test/support/run-mpi" "test/stage/$1.mpi"
}

for test in stage_far stage_behind; do
    check "$test, nodes of one process" parts $test
done
finish
