#!/bin/bash
# A job that changes definitions is stopped at one of its calls (a debugger, a suspended
# batch job, a slow disk), and meanwhile another program comes: it validates, finishes or
# takes over, opens for reading or writing, or redefines, too. Then the job goes on. Either
# the other one was refused, in words that say who has the dataset, and the job ends well;
# or the job has lost it and says so. The dataset is the old one or the new one, with all
# its values, and the new one if the job said that it was done.
#
#   REDEF_OWNER=all     every point; else a sample. Of these:
#   REDEF_OWNER_WHAT    only these changes, by number: see redef_change.c (0 2 3 4 5)
#   REDEF_OWNER_BY      only these others (finish force open read redefine)
#   REDEF_OWNER_PROCS   on so many processes (1 2)
#   REDEF_OWNER_STEP    only each so-manieth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch owner) || exit 99
trap 'wake; launch_kill; rm -rf "$where"' EXIT
program=test/mpio/redef_killed
validator=./ncvalidator
files=$where/files file=$where/files/a.nc
fault=$PWD/test/support/.libs/fault.so

# play PROCESSES ARGUMENT...
play() {
    local n=$1
    shift
    if [ "$n" = 1 ]; then timeout 60 "$program" "$@"; else launch -t 40 "$n" "$program" "$@"; fi
}
other() { PNETCDF_HINTS="nc_redef_wait_seconds=${patience:-0}" play 1 "$@"; }

fresh() {
    rm -rf "$files" "$where"/{pids,calls.*,told.*,out,err}
    mkdir "$files" && cp "$where/made.nc" "$file"
}

stopped() { # PID
    local state
    state=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) && [ "${state%% *}" = T ]
}

# stop PROCESSES RANK POINT ARGUMENT...: the job is begun; true if it stands still there.
stop() {
    local n=$1 rank=$2 point=$3 pid
    shift 3
    { BURST_CALLS_DIR=$files BURST_KILL_HOW=stop BURST_KILL_RANK=$rank BURST_KILL_AT=$point BURST_PIDS=$where/pids \
        REDEF_TOLD=$where/told play "$n" "$@" >"$where/out" 2>"$where/err"; } &
    job=$! asleep=
    while kill -0 "$job" 2>/dev/null; do
        for pid in $(cat "$where/pids" 2>/dev/null); do
            if stopped "$pid"; then asleep=$pid; return 0; fi
        done
        sleep 0.005
    done
    return 1
}

wake() { if [ -n "${asleep-}" ]; then kill -CONT "$asleep" 2>/dev/null; fi; }

# The job goes on: its status.
go_on() {
    wake
    wait "$job"
}

marked() { [ "$(head -c 3 "$file")" = RDF ]; }
state() { cat "$files"/* | cksum; }

# It is told who works on the dataset, and nothing is changed.
told_who() { # FILE
    grep -q "being redefined by process $owner on host" "$1" || { cat "$1"; return 1; }
    [ "$(state)" = "$before" ] || { echo "something was changed"; return 1; }
}

# What the other one does while the job stands still.
by_finish() {
    "$validator" -f "$file" >"$where/is" 2>&1 && { ! $was_marked || { echo "it was finished"; return 1; }; } && return
    told_who "$where/is"
}
by_read() {
    other read "$file" >"$where/is" 2>&1 && { ! $was_marked || { echo "it was read"; return 1; }; } && return
    told_who "$where/is"
}
by_open() {
    other open "$file" "$change" >"$where/is" 2>&1 && { ! $was_marked || { echo "it was opened"; return 1; }; } && return
    told_who "$where/is" || [ "$(cat "$files"/a.nc | cksum)" = "$data" ]
}
by_redefine() {
    other try "$file" "$change" >"$where/is" 2>&1 && { ! $was_marked || { echo "it was redefined"; return 1; }; } && return
    grep -qE 'being redefined by process|has it open for writing|has it to itself' "$where/is" || { cat "$where/is"; return 1; }
}
by_force() {
    "$validator" -f -f "$file" >"$where/is" 2>&1 || { cat "$where/is"; return 1; }
    if $was_marked; then taken=true; fi
}

# case PROCESSES RANK POINT CHANGE OTHER
one_case() {
    local n=$1 rank=$2 point=$3 status must= was_marked=false taken=false owner before data told
    change=$4
    fresh
    stop "$n" "$rank" "$point" try "$file" "$change" || { wait "$job"; return 0; } # no such point
    if marked; then was_marked=true; fi
    $was_marked && echo "$5" >>"$where/met"
    owner=$(head -n 1 "$where/pids")
    if [ "$n" -gt 1 ]; then owner='[0-9]*'; fi
    before=$(state) data=$(cat "$file" | cksum)
    "by_$5" || { go_on; return 1; }
    go_on && status=0 || status=$?
    told=$(cat "$where"/told.* 2>/dev/null)
    case $told in *d*) must=d ;; esac
    if $taken; then
        [ "$status" != 0 ] || { echo "the job does not know that it was taken over"; return 1; }
        grep -qE 'taken over|took over|another process' "$where/err" || { cat "$where/err"; return 1; }
    elif [ "$status" != 0 ] && [ "$5" != redefine ]; then
        echo "the job failed, though it was not taken over"
        cat "$where/err"
        return 1
    fi
    patience=10 other check "$file" "$change" "$must" >"$where/is" 2>&1 || { cat "$where/is" "$where/err"; return 1; }
    grep -E '^(old|new)$' "$where/is" >>"$where/seen.$5"
}

# points OTHER PROCESSES STEP CHANGE...
points() {
    local by=$1 n=$2 step=$3 change rank total point cases=0 bad=0 first=2
    shift 3
    : >"$where/met"
    for change in "$@"; do
        fresh
        BURST_CALLS_DIR=$files REDEF_CALLS=$where/calls play "$n" try "$file" "$change" >"$where/out" 2>&1 || return 1
        for ((rank = 0; rank < n; rank++)); do
            total=$(cat "$where/calls.$rank" 2>/dev/null)
            cp "$where/calls.$rank" "$where/total.$rank" 2>/dev/null
        done
        for ((rank = 0; rank < n; rank++)); do
            total=$(cat "$where/total.$rank" 2>/dev/null)
            for ((point = first; point <= 2 * ${total:-0} + 1; point += step)); do
                cases=$((cases + 1))
                one_case "$n" "$rank" "$point" "$change" "$by" >"$where/why" 2>&1 && continue
                bad=$((bad + 1))
                echo "change $change, point $point of process $rank:"
                head -n 5 "$where/why"
            done
            first=$((2 + (first + 3) % step))
        done
    done
    echo "# $by, $n processes${NCMPI_FAULT:+, without locks}: $cases cases, $(wc -l <"$where/met") while data moved, $bad bad" |
        tee -a "$where/summary"
    [ "$bad" = 0 ] && [ -s "$where/met" ]
}

# The same where the file system has no locks: what the journal says decides. A second
# program that opens the dataset before it is marked is not seen there.
without_locks() { LD_PRELOAD=$fault NCMPI_FAULT='lock:1+:ENOLCK:*' "$@"; }

timeout 60 "$program" make "$where/made.nc" || exit 99
if [ "${REDEF_OWNER-}" = all ]; then
    for by in ${REDEF_OWNER_BY:-finish force open read redefine}; do
        for n in ${REDEF_OWNER_PROCS:-1 2}; do
            # shellcheck disable=SC2086 # a list of numbers
            check "$by, $n processes" points "$by" "$n" "${REDEF_OWNER_STEP:-1}" ${REDEF_OWNER_WHAT:-0 2 3 4 5}
        done
        # shellcheck disable=SC2086
        if [ "$by" != redefine ]; then
            check "$by, without locks" without_locks points "$by" 1 "${REDEF_OWNER_STEP:-1}" ${REDEF_OWNER_WHAT:-0 2 3 4 5}
        fi
    done
else
    check "the validator does not finish what another one does" points finish 1 23 0 2 3
    check "it takes it over if it is told to" points force 1 19 0 2 3
    check "so it does from one of two processes" points force 2 33 0
    check "an open for writing is refused" points open 1 31 0 3
    check "an open for reading is told who is at work" points read 1 31 0
    check "another redefinition is refused" points redefine 1 31 0
    check "so is it all where there are no locks" without_locks points finish 1 37 0
    check "and the taking over" without_locks points force 1 37 0
fi
cat "$where/summary"
finish
