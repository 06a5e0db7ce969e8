#!/bin/bash
# Interrupts the redefinition of a dataset, and lets several programs compete to finish it by opening
# the dataset for writing: all processes of a job, independently; two jobs; a job and the validator;
# or a new job while a process of the interrupted job may still write. One of them must finish the
# redefinition, the others must wait or be refused, and no value may be lost.
#
#   REDEF_TWO=all     interrupts at all points, not only at a sample. The following require it:
#   REDEF_TWO_WHAT    only these changes (0 1 2 3 4); see redef_change.c
#   REDEF_TWO_STEP    only at every Nth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch two) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/mpio/redef_killed
validator=./ncvalidator
files=$where/files file=$where/files/a.nc journal=$where/files/a.nc.redef

play() { timeout 60 "$program" "$@"; }
marked() { [ "$(head -c 3 "$file")" = RDF ]; }

# interrupt CHANGE POINT: interrupts a change. Succeeds if data was being moved.
interrupt() {
    rm -rf "$files" "$where/pids"
    mkdir "$files" && cp "$where/made.nc" "$file" || return 1
    { BURST_CALLS_DIR=$files BURST_PIDS=$where/pids BURST_KILL_AT=$2 play try "$file" "$1" >"$where/out" 2>&1; } 2>/dev/null
    marked
}
sound() { # CHANGE
    play check "$file" "$1" "" >"$where/is" 2>&1 && ! [ -e "$journal" ] && return
    cat "$where/is"
    return 1
}

by_themselves() { # CHANGE
    launch -t 50 3 "$program" self "$file" "$1" >"$where/is" 2>&1 && sound "$1" && return
    head -n 3 "$where/is"
    return 1
}
by_two_jobs() {
    local first
    play self "$file" "$1" >"$where/one" 2>&1 &
    first=$!
    play self "$file" "$1" >"$where/two" 2>&1 || { cat "$where/two"; wait "$first"; return 1; }
    wait "$first" || { cat "$where/one"; return 1; }
    sound "$1"
}
# The validator must not wait, but report the dataset's owner.
by_the_validator() {
    local first
    play self "$file" "$1" >"$where/one" 2>&1 &
    first=$!
    "$validator" -f "$file" >"$where/two" 2>&1 || grep -qE 'being redefined by|is moving, joining or replaying|has it open' "$where/two" ||
        { cat "$where/two"; wait "$first"; return 1; }
    wait "$first" || { cat "$where/one"; return 1; }
    sound "$1"
}
# The job's first process has died. Another process is still alive, but does nothing.
by_none_yet() {
    local line was
    coproc MOVER { "$program" hold "$file"; }
    local pid=$MOVER_PID to=${MOVER[1]}
    read -r line <&"${MOVER[0]}" && [ "$line" = held ] || return 1
    was=$(cat "$files"/* | cksum)
    PNETCDF_HINTS=nc_redef_wait_seconds=0 play open "$file" "$1" >"$where/is" 2>&1 && { echo "it was opened"; return 1; }
    grep -q 'may still write to it' "$where/is" || { cat "$where/is"; return 1; }
    "$validator" -f "$file" >"$where/is" 2>&1 && { echo "it was finished"; return 1; }
    [ "$(cat "$files"/* | cksum)" = "$was" ] || { echo "something was changed"; return 1; }
    exec {to}>&-
    kill "$pid"
    wait "$pid" 2>/dev/null
    sound "$1"
}

# points HOW STEP CHANGE...: interrupts the change at every STEP-th point.
points() {
    local how=$1 step=$2 total change point cases=0 bad=0 first=2
    shift 2
    for change in "$@"; do
        rm -rf "$files" && mkdir "$files" && cp "$where/made.nc" "$file"
        BURST_CALLS_DIR=$files REDEF_CALLS=$where/calls play try "$file" "$change" >"$where/out" 2>&1 || return 1
        total=$(cat "$where/calls.0")
        for ((point = first; point <= 2 * total + 1; point += step)); do
            interrupt "$change" "$point" || continue
            cases=$((cases + 1))
            "$how" "$change" >"$where/why" 2>&1 && continue
            bad=$((bad + 1))
            echo "change $change, point $point:"
            head -n 5 "$where/why"
        done
        first=$((2 + (first + 3) % step))
    done
    echo "# $how: $cases cases, $bad bad" | tee -a "$where/summary"
    [ "$bad" = 0 ] && [ "$cases" -gt 0 ]
}

timeout 60 "$program" make "$where/made.nc" || exit 99
step=31 changes='0 3'
if [ "${REDEF_TWO-}" = all ]; then step=${REDEF_TWO_STEP:-1} changes=${REDEF_TWO_WHAT:-0 1 2 3 4}; fi
# shellcheck disable=SC2086 # a list of numbers
check "three processes finish a redefinition independently" points by_themselves "$step" $changes
# shellcheck disable=SC2086
check "two concurrent jobs finish a redefinition" points by_two_jobs "$step" $changes
# shellcheck disable=SC2086
check "a job opens the dataset while ncvalidator -f finishes it" points by_the_validator "$step" $changes
# shellcheck disable=SC2086
check "a redefinition is not finished while a process may still write" points by_none_yet "$step" $changes
cat "$where/summary"
finish
