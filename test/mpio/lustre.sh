#!/bin/bash
# On a file system that locks as Lustre does, as far as the library is told, with nodes that
# share it: nodes then look after servers rather than parts of the file.
. "${srcdir:-.}/test/support/tap.sh"

# lustre PROCESSES TEST [ONLY]
lustre() {
    env LD_PRELOAD="$PWD/test/support/.libs/other_fs.so" NCMPI_TEST_FS=lustre \
        PNETCDF_HINTS=nc_node_procs=1 NCMPI_TEST_PROCS="$1" ${3:+NCMPI_TEST_ONLY="$3"} \
        bash "${srcdir:-.}/test/support/run-mpi" "test/$2.mpi"
}

check "runs by turns, by server" lustre "2 3 5" mpio/stripes
check "every way" lustre 4 mpio/ways "neighbours"
check "collective calls" lustre 3 api/collective
check "data that moves" lustre 3 api/redefine
check "random programs" lustre 4 random/random_program
finish
