#!/bin/bash
# Repeats tests as if the file were on Lustre and each process on a separate node. Preloads
# other_fs.so, which reports Lustre's file system type. The library then assigns servers, not
# contiguous parts of the file, to nodes.
. "${srcdir:-.}/test/support/tap.sh"
used=$(scratch lustre)
trap 'rm -rf "$used"' EXIT

# lustre PROCESSES TEST [ONLY]: runs the test or, if ONLY is given, only the cases whose names
# contain ONLY. Fails unless the program has used the preloaded library.
lustre() {
    env LD_PRELOAD="$PWD/test/support/.libs/other_fs.so" NCMPI_TEST_FS=lustre \
        NCMPI_TEST_FS_USED="$used/fs" \
        PNETCDF_HINTS=nc_node_procs=1 NCMPI_TEST_PROCS="$1" ${3:+NCMPI_TEST_ONLY="$3"} \
        bash "${srcdir:-.}/test/support/run-mpi" "test/$2.mpi" && rm "$used/fs"
}

check "stripes passes on Lustre" lustre "2 3 5" mpio/stripes
check "ways passes on Lustre: neighbours" lustre 4 mpio/ways "neighbours"
check "collective passes on Lustre" lustre 3 api/collective
check "redefine passes on Lustre" lustre 3 api/redefine
check "random programs pass on Lustre" lustre 4 random/random_program
finish
