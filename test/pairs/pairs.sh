#!/bin/bash
# Plays some schedules of two and three jobs on one dataset for each set of hints. Tools run in
# between. dev/pairs plays more.
#
#   PAIRS_SEEDS=N   total number of schedules (24)
. "${srcdir:-.}/test/support/tap.sh"

play() { timeout 600 test/pairs/pairs --seeds "${PAIRS_SEEDS:-24}" "$@"; }

if [ "${MPI_FLAVOUR-}" = mpich ]; then
    check "no schedule of jobs loses or invents a value" play
else
    skip "no schedule of jobs loses or invents a value" "processes are started without a launcher"
fi
finish
