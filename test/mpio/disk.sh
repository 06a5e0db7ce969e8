#!/bin/bash
# Repeats tests that depend on the kernel's file system, in the current directory instead of on
# tmpfs, because disk file systems extend files differently.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

on_disk() {
    env TMPDIR="$PWD" NCMPI_TEST_PROCS="$1" bash "$top/test/support/run-mpi" "test/$2.mpi"
}

check "holes passes on disk, 4 processes" on_disk 4 mpio/holes
check "ways passes on disk, 3 processes" on_disk 3 mpio/ways
check "two_openings passes on disk, 2 processes" on_disk 2 mpio/two_openings
finish
