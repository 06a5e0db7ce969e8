# Sourced by scripts that run bodies on several nodes, which test/support/nodes makes, after
# test/support/tap.sh; they are skipped where there can be none.
top=${srcdir:-.}
nodes=$top/test/support/nodes

# here NODES PROCESSES TEST [ONLY]: the test, all of it or the cases with ONLY in their
# names.
here() {
    env NCMPI_TEST_PROCS="$2" ${4:+NCMPI_TEST_ONLY="$4"} \
        bash "$nodes" "$1" bash "$top/test/support/run-mpi" "test/$3.mpi"
}

# on_nodes NODES PROCESSES PROGRAM...: any program; each node sees its own mount, if there are some.
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
