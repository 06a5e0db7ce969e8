#!/bin/bash
# Tests logs on a file system that does not reserve space for stores into mapped pages. On such a
# file system, the library writes logs with write calls instead. A preloaded library makes all files
# appear to be on such a file system.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
used=$(scratch unmapped)
trap 'rm -rf "$used"' EXIT

# unmapped PROCESSES TEST: runs the test, and fails unless the program has used the preloaded
# library.
unmapped() {
    env LD_PRELOAD="$PWD/test/support/.libs/other_fs.so" NCMPI_TEST_FS_USED="$used/$2" \
        NCMPI_TEST_PROCS="$1" bash "$top/test/support/run-mpi" "test/burst/$2.mpi" && rm "$used/$2"
}

check "burst_data passes with unmapped logs, 3 processes" unmapped 3 burst_data
check "burst_again passes with unmapped logs, 2 processes" unmapped 2 burst_again
check "burst_posted passes with unmapped logs, 2 processes" unmapped 2 burst_posted
check "burst_faults passes with unmapped logs, 1 process" unmapped 1 burst_faults
check "burst_turns passes with unmapped logs, 2 processes" unmapped 2 burst_turns
finish
