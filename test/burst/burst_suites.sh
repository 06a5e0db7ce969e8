#!/bin/bash
# Runs the conformance and the random programs with the log driver on, in every way it can
# be set. Takes minutes; `make check-burst`.
#
#   BURST_WAYS    only the ways whose hints contain this
set -u
top=${srcdir:-.}
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-burst.XXXXXX") || exit 99
trap 'rm -rf "$where"' EXIT
failed=0
ways=(
    nc_burst_buf_flush=flush_onclose
    nc_burst_buf_flush=flush_immediate
    nc_burst_buf_shared_logs=enable
    nc_burst_buf_flush_buffer_size=64
    'nc_burst_buf_flush=flush_immediate;nc_burst_buf_threads=4'
    e10_cache=coherent
)
# Those that hold counts or faults against the default driver alone are left out.
tests=$(make -s print-tests | tr ' ' '\n' |
    grep -E '^test/(api|random|mpio)/.*\.mpi$' |
    grep -vE 'io_errors|fault_matrix|no_memory|memory_short|large|/hints')
for way in "${ways[@]}"; do
    case $way in *"${BURST_WAYS-}"*) ;; *) continue ;; esac
    export PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_dirname=$where;$way"
    for test in $tests; do
        log=$where/log
        if ! "$BASH" "$top/test/support/run-mpi" "$test" >"$log" 2>&1; then
            failed=$((failed + 1))
            echo "FAILED with $way: $test"
            grep -vE '^ok' "$log" | head -n 20
        fi
    done
    echo "done with $way"
done
[ "$failed" = 0 ]
