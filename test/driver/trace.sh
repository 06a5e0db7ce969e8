#!/bin/bash
# Tests the contents of traces with Python's JSON parser. For each transfer mode, and with a log, a
# trace must be well formed and contain every process's calls and their phases. After the program is
# killed, the trace must contain all of its calls except those of the last seconds.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP no python3"
    exit 0
fi

# has LINE...: succeeds if trace_check.py has printed each of these lines.
has() {
    local what missing=0
    for what; do
        grep -qxF -- "$what" "$dir/seen" || { echo "no $what"; missing=1; }
    done
    return $missing
}
# look [--threads]: checks the traces with trace_check.py, and stores the lines that it prints in
# $dir/seen.
look() { python3 "$top/test/driver/trace_check.py" "$@" "$dir"/t.json* >"$dir/seen"; }

# calls HINTS LINE...: traces the program with these hints. The trace must contain the program's
# calls, and trace_check.py must print these lines.
calls() {
    rm -f "$dir"/t.json* "$dir"/*.nc*
    PNETCDF_TRACE=${where:-$dir/t.json} PNETCDF_HINTS=$1 launch 3 test/driver/trace_calls \
        "$dir/a.nc" >"$dir/log" 2>&1 || { cat "$dir/log"; return 1; }
    shift
    look $threads && has "process 0" "process 2" "call ncmpi_create" \
        "call ncmpi_enddef" "call ncmpi_put_vara_all" "call ncmpi_put_var1" "call ncmpi_iput_varn" \
        "call ncmpi_wait_all" "call ncmpi_get_vars_all" "call ncmpi_bput_var" \
        "call ncmpi_mput_vara_all" "call ncmpi_fill_var_rec" "call ncmpi_redef" "call ncmpi_sync" \
        "call ncmpi_close" "call ncmpi_begin_indep_data" "call ncmpi_open" "call header change" \
        "part agreement" "part write" "part open file" "part fill" "part sync file" \
        'variable a "b" é' "dataset $dir/a.nc" "$@"
}
direct() { calls "nc_transfer=direct" "part read" "part conversion" "part move data"; }
node() { calls "nc_transfer=node" "part exchange" "part wait"; }
nodes() { calls "nc_transfer=node;nc_node_procs=1" "part exchange" "part messages"; }
view() { calls "nc_transfer=view" "part collective write" "part collective read"; }
logged() { calls "nc_burst_buf=enable;nc_burst_buf_dirname=$dir" "part log" "part drain"; }
with_threads() {
    local threads=--threads
    calls "nc_burst_buf=enable;nc_burst_buf_dirname=$dir;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0" \
        "part log"
}
one_each() {
    local where=$dir/t.json.%r
    calls "" && [ "$(ls "$dir" | grep -c t.json)" = 3 ]
}
# A second run must append to the existing trace.
appended() {
    PNETCDF_TRACE=$dir/t.json launch 2 test/driver/trace_calls "$dir/b.nc" && look &&
        has "dataset $dir/a.nc" "dataset $dir/b.nc"
}

# If a program is killed after running for a while, its trace must be valid and contain most of its
# calls.
killed() {
    rm -f "$dir"/t.json*
    PNETCDF_TRACE=$dir/t.json NCMPI_TEST_LIMIT=60 launch 2 test/driver/trace_calls \
        "$dir/k.nc" die >"$dir/log" 2>&1
    [ -s "$dir/t.json" ] || { cat "$dir/log"; return 1; }
    look && has "process 0" "process 1" "call ncmpi_put_vara_all" "part write" &&
        [ "$(wc -l <"$dir/t.json")" -gt 500 ]
}

where= threads=
check "every call and part is traced: direct transfers" direct
check "a later run appends to the trace" appended
check "each process may write its own trace" one_each
check "every call and part is traced: one node" node
if [ "${MPI_FLAVOUR-}" = mpich ]; then
    check "every call and part is traced: views" view
fi
check "every call and part is traced: several nodes" nodes
if grep -q 'define NCMPI_BURST 1' config.h; then
    check "every call and part is traced: logs" logged
    check "every call and part is traced: logs drained by threads" with_threads
fi
check "the trace of a killed program is readable" killed
finish
