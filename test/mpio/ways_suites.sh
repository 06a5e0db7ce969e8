#!/bin/bash
# Runs the conformance matrix, the random programs and the data tests with every way of
# transfer forced. Takes minutes; `make check-ways`. Settings: test/support/suites.sh.
set -u
. "${srcdir:-.}/test/support/suites.sh"
export NCMPI_TEST_PROCS=${NCMPI_TEST_PROCS-1 2 3 4}
# Threads that call collectively at the same time must go direct: src/lib/base/base_worker.h.
suites_but=/threads
# As if each process were a node, so that leaders exchange; shared blocks so small that
# every call takes many of them.
suites nc_file_io=mpi nc_transfer=direct nc_transfer=view nc_transfer=node \
    'nc_transfer=node;nc_node_procs=1' \
    'nc_transfer=node;nc_node_procs=2;nc_node_share_size=1000' \
    'nc_transfer=node;nc_node_procs=1;nc_node_share_size=65536;striping_unit=8192' \
    'nc_transfer=node;nc_node_procs=3' \
    'nc_transfer=view;nc_ibuf_size=1000'
