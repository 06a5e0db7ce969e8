# Sourced, after test/support/tap.sh, by scripts that run test programs on several nodes, which
# test/support/nodes simulates. Skips the tests if nodes cannot be simulated.
top=${srcdir:-.}
nodes=$top/test/support/nodes

# here NODES PROCESSES TEST [ONLY]: runs the test or, if ONLY is given, only the cases whose names
# contain ONLY.
here() {
    env NCMPI_TEST_PROCS="$2" ${4:+NCMPI_TEST_ONLY="$4"} \
        bash "$nodes" "$1" bash "$top/test/support/run-mpi" "test/$3.mpi"
}

# on_nodes NODES PROCESSES PROGRAM...: runs any program. If there are mounts, each node sees only
# its own.
on_nodes() {
    local n=$1
    shift
    bash "$nodes" "$n" bash -c '. "$0/test/support/launch.sh"; launch "$@"' "$top" "$@"
}

if [ "${MPI_FLAVOUR-}" != mpich ]; then
    echo "1..0 # SKIP the recipe for several nodes is for MPICH"
    exit
fi
if ! reason=$(bash "$nodes" 1 2>&1); then
    echo "1..0 # SKIP no network namespaces here: ${reason##*$'\n'}"
    exit
fi
