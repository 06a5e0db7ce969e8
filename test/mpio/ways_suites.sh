#!/bin/bash
# Runs the conformance matrix, the random programs and the data tests with each transfer method
# (`make check-ways`). Takes minutes. See test/support/suites.sh for settings.
set -u
. "${srcdir:-.}/test/support/suites.sh"
export NCMPI_TEST_PROCS=${NCMPI_TEST_PROCS-1 2 3 4}
# If several threads make collective calls at the same time, they must use direct transfer; see
# src/lib/base/base_worker.h.
suites_but=/threads
# Some of these hints make each process a node, so that node leaders exchange data. Others make the
# shared blocks so small that every call needs many of them.
suites nc_file_io=mpi nc_transfer=direct nc_transfer=view nc_transfer=node \
    'nc_transfer=node;nc_node_procs=1' \
    'nc_transfer=node;nc_node_procs=2;nc_node_share_size=1000' \
    'nc_transfer=node;nc_node_procs=1;nc_node_share_size=65536;striping_unit=8192' \
    'nc_transfer=node;nc_node_procs=3' \
    'nc_transfer=view;nc_ibuf_size=1000'
