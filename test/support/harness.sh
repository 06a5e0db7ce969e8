#!/bin/bash
# What run-mpi makes of bodies that fail, die and hang.
here=${srcdir:-.}/test/support
unset NCMPI_TEST_PROCS NCMPI_TEST_AMONG NCMPI_TEST_ONLY # the bodies' own counts are told
. "$here/tap.sh"
out=$(mktemp) || exit 99
trap 'rm -f "$out"' EXIT

misbehave() {
    NCMPI_TEST_MISBEHAVE=$1 NCMPI_TEST_LIMIT=2 NCMPI_TEST_TIME_SCALE=1 \
        "$BASH" "$here/run-mpi" test/support/misbehave.mpi >"$out" 2>&1 && return 1
    cat "$out"
}
says() { cat "$out"; grep -q "$1" "$out"; }
# Of the processes started here, which this variable marks.
export NCMPI_TEST_HARNESS=$$
nobody_left() {
    local file
    for file in $(grep -lsz "^NCMPI_TEST_HARNESS=$$\$" /proc/[0-9]*/environ); do
        case $(readlink "${file%environ}exe") in *misbehave*) echo "$file" && return 1 ;; esac
    done
}

check "a failure on one process fails the test" misbehave fail
check "and is told with its place" says '^# rank 2, .*misbehave.c:[0-9]*: .*: 7 instead of 0'
check "the plan counts every case" says '^1\.\.4$'
check "tests before it pass" says '^ok 3 - before'

check "a process that dies fails the test" misbehave die
check "its case counts as failed" says '^not ok 4 - case 2 of 3 processes was not reached'
check "the plan still counts every case" says '^1\.\.4$'

check "a process that hangs fails the test" misbehave hang
check "its case is not reached" says '^not ok 2 - case 2 of 2 processes was not reached (status 124)'
check "the time limit is told" says '^# no end after 2 seconds'
if command -v gdb >/dev/null; then
    check "the stack is shown" says '^#  *#.* hangs '
else
    skip "the stack is shown" "no gdb"
fi
check "no process is left" nobody_left
finish
