#!/bin/bash
# Staged reads on several nodes: test/support/nodes makes them.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
nodes=$top/test/support/nodes

# here NODES PROCESSES TEST [ONLY]
here() {
    env NCMPI_TEST_PROCS="$2" ${4:+NCMPI_TEST_ONLY="$4"} \
        bash "$nodes" "$1" bash "$top/test/support/run-mpi" "test/stage/$3.mpi"
}

# mirrored TEST [ONLY]: with one staged file of 2 nodes
mirrored() { PNETCDF_HINTS='nc_stage_scope=global' here 2 4 "$@"; }

if [ "${MPI_FLAVOUR-}" != mpich ]; then
    echo "1..0 # SKIP the recipe for several nodes is for MPICH"
    exit
fi
if ! reason=$(bash "$nodes" 1 2>&1); then
    echo "1..0 # SKIP no network namespaces here: ${reason##*$'\n'}"
    exit
fi
check "blocks go between 2 nodes" here 2 4 stage_far
check "blocks go between 3 nodes" here 3 3 stage_far
check "a writer and readers, 2 nodes" here 2 4 stage_data "readers and a writer"
check "what is kept, 2 nodes" here 2 4 stage_data "kept"
check "what is kept, one staged file" mirrored stage_data "kept"
check "calls on sockets fail, 2 nodes" here 2 2 stage_sockets
check "what is kept of subfiles, 2 nodes" here 2 4 stage_subfiles "kept"
check "what is kept of subfiles, one staged file" mirrored stage_subfiles "kept"
killed() { PNETCDF_HINTS='nc_stage_scope=global' bash "$nodes" 2 bash "$top/test/stage/stage_kill.sh" 2; }
check "a killed program leaves one staged file to the next" killed
finish
