#!/bin/bash
# Stops a job at one of its calls while it changes definitions, as a debugger, a batch system or a
# slow disk might. While the job is stopped, another program validates the dataset, finishes or takes
# over the redefinition, opens the dataset for reading or writing, or redefines it as well. Then the
# job is resumed. Either the other program must be refused with a message that names the owner, and
# the job must succeed; or the job must report that it has lost the dataset. The dataset must be
# either the old one or the new one, with all of its values. If the job reported success, it must be
# the new one.
#
#   REDEF_OWNER=all     stops at all points, not only at a sample. The following require it:
#   REDEF_OWNER_WHAT    only these changes (numbers); see redef_change.c
#   REDEF_OWNER_BY      only these actions of the other program (finish force open read redefine)
#   REDEF_OWNER_PROCS   only with these numbers of processes (1 2)
#   REDEF_OWNER_STEP    only at every Nth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch owner) || exit 99
trap 'wake; launch_kill; rm -rf "$where"' EXIT
program=test/mpio/redef_killed
validator=./ncvalidator
files=$where/files file=$where/files/a.nc
fault=$PWD/test/support/.libs/fault.so

# play PROCESSES ARGUMENT...: runs the program on this number of processes.
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

# stop PROCESSES RANK POINT ARGUMENT...: starts the job. Succeeds when the job has stopped at POINT;
# fails if it ends without reaching POINT.
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

# Resumes the job and returns its exit status.
go_on() {
    wake
    wait "$job"
}

marked() { [ "$(head -c 3 "$file")" = RDF ]; }
state() { cat "$files"/* | cksum; }

# Checks that the message in FILE names the dataset's owner, and that the dataset has not changed.
message_names_owner() { # FILE
    grep -q "being redefined by process $owner on host" "$1" || { cat "$1"; return 1; }
    [ "$(state)" = "$before" ] || { echo "something was changed"; return 1; }
}

# The by_OTHER functions contain what the other program does while the job is stopped.
by_finish() {
    "$validator" -f "$file" >"$where/is" 2>&1 && { ! $was_marked || { echo "it was finished"; return 1; }; } && return
    message_names_owner "$where/is"
}
by_read() {
    other read "$file" >"$where/is" 2>&1 && { ! $was_marked || { echo "it was read"; return 1; }; } && return
    message_names_owner "$where/is"
}
by_open() {
    other open "$file" "$change" >"$where/is" 2>&1 && { ! $was_marked || { echo "it was opened"; return 1; }; } && return
    message_names_owner "$where/is" || [ "$(cat "$files"/a.nc | cksum)" = "$data" ]
}
by_redefine() {
    other try "$file" "$change" >"$where/is" 2>&1 && { ! $was_marked || { echo "it was redefined"; return 1; }; } && return
    grep -qE 'being redefined by process|has it open for writing|is moving, joining or replaying' "$where/is" || { cat "$where/is"; return 1; }
}
by_force() {
    "$validator" -f -f "$file" >"$where/is" 2>&1 || { cat "$where/is"; return 1; }
    if $was_marked; then taken=true; fi
}

# one_case PROCESSES RANK POINT CHANGE OTHER: tests one action of the other program while the job is
# stopped at one point.
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

# points OTHER PROCESSES STEP CHANGE...: stops the job at every STEP-th point of each process.
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

# Runs a command as if the file system did not support locks. Only the journal's contents then
# protect the dataset, so the library cannot detect a second program that opens the dataset before
# it has been marked.
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
    check "ncvalidator -f does not complete a running redefinition" points finish 1 23 0 2 3
    check "ncvalidator -f -f takes over a stopped redefinition" points force 1 19 0 2 3
    check "ncvalidator -f -f takes over from one of two processes" points force 2 33 0
    check "an open for writing is refused during a redefinition" points open 1 31 0 3
    check "an open for reading names the redefining process" points read 1 31 0
    check "a second redefinition is refused" points redefine 1 31 0
    check "without locks, ncvalidator -f refuses a running redefinition" without_locks points finish 1 37 0
    check "without locks, ncvalidator -f -f takes over" without_locks points force 1 37 0
fi
cat "$where/summary"
finish
