#!/bin/bash
# Tests run-mpi with tests that fail, crash and hang.
here=${srcdir:-.}/test/support
unset NCMPI_TEST_PROCS NCMPI_TEST_AMONG NCMPI_TEST_ONLY # use the programs' own process counts
. "$here/tap.sh"
out=$(mktemp) || exit 99
trap 'rm -f "$out"' EXIT

misbehave() {
    NCMPI_TEST_MISBEHAVE=$1 NCMPI_TEST_LIMIT=2 NCMPI_TEST_TIME_SCALE=1 \
        "$BASH" "$here/run-mpi" test/support/misbehave.mpi >"$out" 2>&1 && return 1
    cat "$out"
}
says() { cat "$out"; grep -q "$1" "$out"; }
# This variable marks the processes that this script starts.
export NCMPI_TEST_HARNESS=$$
no_process_remains() {
    local file
    for file in $(grep -lsz "^NCMPI_TEST_HARNESS=$$\$" /proc/[0-9]*/environ); do
        case $(readlink "${file%environ}exe") in *misbehave*) echo "$file" && return 1 ;; esac
    done
}

check "a failure on one process fails the test" misbehave fail
check "a failure is reported with its rank and line" says '^# rank 2, .*misbehave.c:[0-9]*: .*: 7 instead of 0'
check "the plan counts every case, also after a failure" says '^1\.\.4$'
check "tests before a failure pass" says '^ok 3 - before'

check "a process that dies fails the test" misbehave die
check "the case of a process that died counts as failed" says '^not ok 4 - case 2 of 3 processes was not reached'
check "the plan counts every case, also after a process died" says '^1\.\.4$'

check "a process that hangs fails the test" misbehave hang
check "the case of a process that hangs is reported as not reached" says '^not ok 2 - case 2 of 2 processes was not reached (status 124)'
check "the time limit is reported" says '^# no end after 2 seconds'
if command -v gdb >/dev/null; then
    check "the stack of a process that hangs is printed" says '^#  *#.* hangs '
else
    skip "the stack of a process that hangs is printed" "no gdb"
fi
check "no process remains" no_process_remains
finish
