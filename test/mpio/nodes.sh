#!/bin/bash
# Bodies of the data functions, on several nodes that share a file: what passes on one
# node passes there. test/support/nodes makes the nodes.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
nodes=$top/test/support/nodes

# here NODES PROCESSES TEST [ONLY]: the test, all of it or the cases with ONLY in their
# names.
here() {
    env NCMPI_TEST_PROCS="$2" ${4:+NCMPI_TEST_ONLY="$4"} \
        bash "$nodes" "$1" bash "$top/test/support/run-mpi" "test/$3.mpi"
}

# What has to be true for any of it: processes on two nodes are no neighbours.
apart() {
    bash "$nodes" "$1" bash -c '. "$0/test/support/launch.sh"; launch "$1" uname -n' \
        "$top" "$2" | sort | uniq -c | awk -v n="$1" '
            $2 ~ /^node/ { nodes++ } END { exit nodes != n }'
}

if [ "${MPI_FLAVOUR-}" != mpich ]; then
    echo "1..0 # SKIP the recipe for several nodes is for MPICH"
    exit
fi
if ! reason=$(bash "$nodes" 1 2>&1); then
    echo "1..0 # SKIP no network namespaces here: ${reason##*$'\n'}"
    exit
fi
check "two nodes are two" apart 2 4
check "three nodes are three" apart 3 6
check "every way, 2 nodes" here 2 4 mpio/ways "neighbours"
check "every way, 3 nodes" here 3 6 mpio/ways "record variables"
check "collective calls, 2 nodes" here 2 4 api/collective
check "records, 3 nodes" here 3 6 api/records
check "data that moves, 2 nodes" here 2 4 api/redefine
check "random programs, 2 nodes" here 2 4 random/random_program
finish
