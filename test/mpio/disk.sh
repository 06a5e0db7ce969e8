#!/bin/bash
# Tests of what the kernel does with a file, on the file system of the directory they are
# started in: the others lie in memory, where the end of a file moves in another way.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

on_disk() {
    env TMPDIR="$PWD" NCMPI_TEST_PROCS="$1" bash "$top/test/support/run-mpi" "test/$2.mpi"
}

check "holes, 4 processes" on_disk 4 mpio/holes
check "ways, 3 processes" on_disk 3 mpio/ways
check "two openings, 2 processes" on_disk 2 mpio/two_openings
finish
