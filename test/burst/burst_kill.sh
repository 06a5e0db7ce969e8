#!/bin/bash
# A program is killed at each of its calls that have to do with logs, before it or after;
# then its dataset is opened again: whatever a put had returned for is there.
# BURST_KILL_STEP=1 tries every point, not only some.
. "${srcdir:-.}/test/support/tap.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-kill.XXXXXX") || exit 99
trap 'rm -rf "$where"' EXIT
step=${BURST_KILL_STEP:-9}
program=test/burst/burst_killed

# every_point HINTS: tries them; says how many there were.
every_point() {
    local total told point tried=0 bad=0
    export PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_dirname=$where;$1"
    total=$($program "$where/a.nc" 2>&1 >/dev/null | tail -n 1)
    [ "$total" -gt 40 ] || { echo "only ${total:-no} calls"; return 1; }
    for ((point = 2; point <= 2 * total + 1; point += step)); do
        rm -f "$where"/*
        # the shell's own word on the kill goes nowhere
        told=$({ BURST_KILL_AT=$point $program "$where/a.nc"; } 2>/dev/null | wc -c)
        tried=$((tried + 1))
        $program "$where/a.nc" check "$told" || { echo "lost at $point, $told told"; bad=1; }
    done
    echo "# $tried points of $((2 * total)), $1"
    return $bad
}

check "nothing is lost when it drains at close" every_point nc_burst_buf_flush=flush_onclose
check "nothing is lost when it drains at once" every_point nc_burst_buf_flush=flush_immediate
finish
