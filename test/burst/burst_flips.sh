#!/bin/bash
# Tests that a log in which any single byte was changed is either replayed correctly or refused.
. "${srcdir:-.}/test/support/tap.sh"
where=$(scratch flips) || exit 99
trap 'rm -rf "$where"' EXIT
unset PNETCDF_HINTS
flip() { mkdir "$where/$1" && test/burst/burst_flips "$1" "$where/$1" >"$where/out" 2>&1; local rc=$?; cat "$where/out"; return $rc; }
for kind in own open pnetcdf shared; do
    check "a log with any byte changed is replayed correctly or refused: $kind" flip $kind
    sed 's/^# //; s/^/# /' "$where/out"
done
finish
