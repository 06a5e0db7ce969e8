#!/bin/bash
# Logs on a file system that does not keep room for what is stored into its pages: they are
# written instead. The tests of logs are told that all files lie on such a one.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

unmapped() {
    env LD_PRELOAD="$PWD/test/support/.libs/other_fs.so" NCMPI_TEST_PROCS="$1" \
        bash "$top/test/support/run-mpi" "test/burst/$2.mpi"
}

check "log, 3 processes" unmapped 3 burst_data
check "failing calls, 2 processes" unmapped 2 burst_again
check "posted requests, 2 processes" unmapped 2 burst_posted
check "each write fails, 1 process" unmapped 1 burst_faults
check "turns, 2 processes" unmapped 2 burst_turns
finish
