#!/bin/bash
# Two programs at the logs of a job that was killed: openings and ncmpilog at the same time,
# one that is stopped at one of its calls while another comes, the job itself still alive,
# and logs or datasets that are put back from an earlier moment. Either a program is
# refused, in words that say who has the log, or it does what it should; in the end every
# value is there whose put had returned, and none that is older than another one.
#
#   BURST_BESIDE=N   N rounds more, each of a kind, at points and with another one chosen
#                    by BURST_BESIDE_SEED
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch beside) || exit 99
trap 'wake; launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
files=$where/files file=$files/a.nc logs=$files/logs told=$where/told
calls=$PWD/test/burst/.libs/calls.so fault=$PWD/test/support/.libs/fault.so
export BURST_PUTS=20
flush=nc_burst_buf_flush=flush_onclose
hints() { echo "nc_burst_buf=enable;nc_burst_buf_dirname=${1:-$logs};$flush;nc_redef_wait_seconds=${patience:-0}"; }

# ---- who comes ----

# An opening for writing with the burst buffer, which reads all values back.
opens() { PNETCDF_HINTS=$(hints) LD_PRELOAD=${preload-} timeout 60 $program check "$file" "$told" put; }
replays() { LD_PRELOAD=${preload-} timeout 60 ./ncmpilog replay -q -r "$@" "$logs"; }
all_there() { PNETCDF_HINTS='' timeout 60 $program check "$file" "$told" put; }

# job POINT: killed there, or before.
job() {
    wake
    rm -rf "$files" "$told".*
    mkdir -p "$logs"
    { PNETCDF_HINTS=$(hints) BURST_CALLS_DIR=$files BURST_KILL_AT=$1 timeout 60 $program write "$file" "$told"; } 2>/dev/null >&2
    [ -s "$told.0" ]
}

# stop POINT PROGRAM...: it is begun, and stands still there; false: it came to its end.
stop() {
    local point=$1 state
    shift
    BURST_CALLS_DIR=$files BURST_KILL_HOW=stop BURST_KILL_AT=$point "$@" >"$where/slow" 2>&1 &
    asleep=$!
    while state=$(sed 's/.*) //' "/proc/$asleep/stat" 2>/dev/null) && [ -n "$state" ]; do
        if [ "${state%% *}" = T ]; then return 0; fi
        if [ "${state%% *}" = Z ]; then break; fi
        sleep 0.003
    done
    wait $asleep
    asleep=
    return 1
}
wake() { if [ -n "${asleep-}" ]; then kill -CONT "$asleep" 2>/dev/null; fi; }
# Its status; it gets a minute.
go_on() {
    local pid=$asleep try
    wake
    asleep=
    for ((try = 0; try < 6000; try++)); do
        kill -0 "$pid" 2>/dev/null && ! grep -qs ' Z ' "/proc/$pid/stat" || break
        sleep 0.01
    done
    kill -KILL "$pid" 2>/dev/null
    wait "$pid"
}
here=$(hostname)
names_it() { # FILE WHAT
    grep -q "is being $2 by process $asleep on host ${3:-$here} since" "$1" || { cat "$1"; return 1; }
}
state() { cat "$file" | cksum; }
is() { [ "$(state)" = "$1" ] || { echo "the dataset was changed"; return 1; }; }

# Whoever was refused may come again; then all is there and no log is left.
in_the_end() {
    if [ -n "$(ls "$logs")" ]; then opens >"$where/last" 2>&1 || { cat "$where/last"; return 1; }; fi
    all_there || return 1
    [ -z "$(ls "$logs")" ] || { ls "$logs"; return 1; }
}

# ---- two at the same time ----

# at_once A B: commands; a refusal has words of one that is at work.
at_once() {
    local one two bad=0
    patience=10
    "$1" >"$where/one" 2>&1 & one=$!
    "$2" >"$where/two" 2>&1 & two=$!
    wait $one || refusal "$where/one" || bad=1
    wait $two || refusal "$where/two" || bad=1
    patience=0
    [ $bad = 0 ] && in_the_end
}
refusal() {
    grep -Eq 'is being (replayed|written|redefined) by|has it to itself|open for writing by another|is in use by|redefinition of this dataset was interrupted|[Nn]o such file|is gone' "$1" || { cat "$1"; return 1; }
}
two_replays() { job "$1" && at_once replays replays; }
replay_and_opening() { job "$1" && at_once replays opens; }
two_openings() { job "$1" && at_once opens opens; }

# ---- one that stands still ----

# beside KILL STOP FIRST SECOND...: FIRST is stopped, SECOND is refused or has nothing to
# do, FIRST goes on and ends well.
beside() {
    local kill=$1 point=$2 first=$3 before marked=false
    shift 3
    job "$kill" || return 1
    # a redefinition that was interrupted is brought to its end before anything else
    [ "$(head -c 3 "$file")" = CDF ] || marked=true
    stop "$point" "$first" || { in_the_end; return; }
    before=$(state)
    if "$@" >"$where/other" 2>&1; then
        # it came before or behind what FIRST does
        is "$before" || { go_on; in_the_end; return; }
    else
        refusal "$where/other" && { $marked || is "$before"; } || { go_on; return 1; }
    fi
    go_on || refusal "$where/slow" || return 1
    in_the_end
}
# middle PROGRAM: it is stopped when the first values have gone to the file, and not at the
# point before.
middle() {
    local low=8 high=100 point=54 before
    while :; do
        job 56 && before=$(state) || return 1
        if stop $point "$1"; then
            if [ "$(state)" = "$before" ]; then low=$point; else high=$point; fi
            if [ $high = $((low + 1)) ] && [ $point = $high ]; then return 0; fi
            kill -KILL "$asleep"
            go_on
        else
            high=$point
        fi
        if [ $high -le 9 ] || [ $low -ge 99 ]; then return 1; fi
        point=$((high == low + 1 ? high : (low + high) / 2))
    done
}
replay_alone() { LD_PRELOAD=$calls${preload:+:$preload} exec ./ncmpilog replay -q -r "$logs"; }
open_alone() { PNETCDF_HINTS=$(hints) LD_PRELOAD=${preload-} exec $program check "$file" "$told" put; }

replay_is_named() {
    local before
    middle replay_alone || return 1
    before=$(state)
    if replays >"$where/other" 2>&1; then echo "it was replayed"; return 1; fi
    names_it "$where/other" replayed && is "$before" || return 1
    # where there are locks, an opening does not come as far as to the log
    if opens >"$where/other" 2>&1; then echo "it was opened"; return 1; fi
    grep -q 'has it to itself' "$where/other" || names_it "$where/other" replayed && is "$before" || return 1
    go_on || { cat "$where/slow"; return 1; }
    in_the_end
}

# Recovering openings are waited for while they go on, and not when they stand still.
opening_is_named() {
    local before
    middle open_alone || return 1
    before=$(state)
    for other in opens replays; do
        if $other >"$where/other" 2>&1; then echo "it was not refused"; return 1; fi
        grep -q "is being replayed by process $asleep on host" "$where/other" ||
            grep -q "open for writing by another program" "$where/other" || { cat "$where/other"; return 1; }
        is "$before" || return 1
    done
    go_on || { cat "$where/slow"; return 1; }
    in_the_end
}

# The job is alive, and stands still.
write_alone() { PNETCDF_HINTS=$(hints) LD_PRELOAD=${preload-} exec $program write "$file" "$told"; }
job_is_alive() {
    local before
    rm -rf "$files" "$told".* && mkdir -p "$logs"
    stop 57 write_alone || return 1
    before=$(state)
    if replays >"$where/other" 2>&1; then echo "it was replayed"; return 1; fi
    names_it "$where/other" written && is "$before" || return 1
    go_on || { cat "$where/slow"; return 1; }
    all_there && [ -z "$(ls "$logs")" ]
}

# The dataset is open for writing elsewhere, with other logs.
other_logs() { PNETCDF_HINTS=$(hints "$files/logs2") exec $program again "$file"; }
dataset_is_open() {
    local before
    job 56 && mkdir "$files/logs2" && stop 30 other_logs || return 1
    before=$(state)
    if replays >"$where/other" 2>&1; then echo "it was replayed"; return 1; fi
    grep -q 'is open for writing by another program' "$where/other" || { cat "$where/other"; return 1; }
    is "$before" && go_on
}

# ---- without locks the record decides ----

# The same for all that is started.
without_locks() {
    local preload=$fault
    export NCMPI_FAULT='lock:1+:ENOLCK:*'
    "$@"
    local status=$?
    unset NCMPI_FAULT
    return $status
}
elsewhere() {
    exec unshare -u bash -c 'hostname elsewhere && LD_PRELOAD=$1:$2 exec ./ncmpilog replay -q -r -f "$3"' - "$calls" "$fault" "$logs"
}

# One of another host had the log last: only the user knows whether that has ended. Should
# it wake, it has lost the log.
takes_over() {
    local before
    middle elsewhere || return 1
    before=$(state)
    for other in replays opens; do
        if $other >"$where/other" 2>&1; then echo "it was not refused"; return 1; fi
        names_it "$where/other" replayed elsewhere && grep -q 'replay -f' "$where/other" && is "$before" || return 1
    done
    LD_PRELOAD=$preload ./ncmpilog replay -q -f "$logs" || return 1 # the logs stay
    all_there && PNETCDF_HINTS='' $program again "$file" || return 1
    before=$(state)
    if go_on; then echo "it went on"; return 1; fi
    grep -q 'which has taken it over' "$where/slow" || { cat "$where/slow"; return 1; }
    is "$before"
}

# ---- from an earlier moment ----

# What was replayed once does not come back over newer values: not from a copy of the logs.
put_back() {
    local before
    job "$1" || return 1
    cp -rp "$logs" "$where/copy"
    ${2:-opens} >"$where/out" 2>&1 && PNETCDF_HINTS='' $program again "$file" || { cat "$where/out"; rm -rf "$where/copy"; return 1; }
    before=$(state)
    rm -rf "$logs" && mv "$where/copy" "$logs"
    if has_entries; then
        for other in replays opens; do
            if $other >"$where/out" 2>&1; then echo "$other: it was replayed"; return 1; fi
            grep -q 'changed since' "$where/out" && is "$before" || { cat "$where/out"; return 1; }
        done
    fi
    is "$before"
}
has_entries() { ./ncmpilog verify "$logs" 2>/dev/null | grep -q ' [1-9][0-9]* entries wait'; }

# Nor does a log to a dataset that is older than the job has seen it: it was restored.
restored() {
    local before
    job "$1" && touch -d '1 hour ago' "$file" || return 1
    has_entries || return 0
    before=$(state)
    for other in replays opens; do
        if $other >"$where/out" 2>&1; then echo "$other: it was replayed"; return 1; fi
        grep -q 'changed since' "$where/out" && is "$before" || { cat "$where/out"; return 1; }
    done
}

# Logs that were copied, and the job's dataset untouched: as good as the logs.
copied_but_same() {
    job "$1" || return 1
    cp -rp "$logs" "$where/copy" && rm -rf "$logs" && mv "$where/copy" "$logs"
    opens >"$where/out" 2>&1 || grep -q 'some are copies' "$where/out" || { cat "$where/out"; return 1; }
}

# Moved while nobody looks: the logs go by the file, when they are told its new name.
renamed() {
    job 56 && mv "$file" "$files/b.nc" || return 1
    ./ncmpilog replay -q -r -d "$files/b.nc" "$logs" && mv "$files/b.nc" "$file" && all_there
}

check "two replays at once" two_replays 56
check "a replay and an opening at once" replay_and_opening 56
check "two openings at once" two_openings 56
check "who comes while a replay stands still is told which process that is" replay_is_named
check "so is who comes while an opening stands still that recovers" opening_is_named
check "and who would replay what a living job logs" job_is_alive
check "a dataset that is open elsewhere takes no logs from outside" dataset_is_open
check "without locks: who comes while a replay stands still" without_locks replay_is_named
check "without locks: a living job" without_locks job_is_alive
if unshare -u true 2>/dev/null; then
    check "without locks: one of another host is taken over when told so" without_locks takes_over
else
    skip "without locks: one of another host is taken over when told so" "no other host name here"
fi
check "a copy that is put back brings nothing back" put_back 56
check "nor when a tool replayed the logs" put_back 56 replays
flush='nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0'
check "nor when the job was draining" put_back 120
flush=nc_burst_buf_flush=flush_onclose
check "a dataset that is restored takes no newer logs" restored 56
check "copies are as good where the dataset is the same" copied_but_same 56
check "a dataset that was renamed" renamed

# ---- rounds ----

flushes=('nc_burst_buf_flush=flush_onclose' 'nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0')
kinds=(two_replays replay_and_opening two_openings put_back 'put_back_by_tool' restored
    'beside replay_alone replays' 'beside replay_alone opens' 'beside open_alone replays'
    'beside open_alone opens')
put_back_by_tool() { put_back "$1" replays; }
rounds() {
    local n=$1 i kind kill stop bad=0
    RANDOM=${BURST_BESIDE_SEED:=$RANDOM}
    echo "# seed $BURST_BESIDE_SEED" | tee -a "$where/summary"
    for ((i = 0; i < n; i++)); do
        read -ra kind <<<"${kinds[RANDOM % ${#kinds[@]}]}"
        kill=$((44 + RANDOM % 180)) stop=$((2 + RANDOM % 70)) flush=${flushes[RANDOM % 2]}
        if [ "${kind[0]}" = beside ]; then
            beside $kill $stop "${kind[1]}" "${kind[2]}" >"$where/round" 2>&1
        else
            "${kind[0]}" $kill >"$where/round" 2>&1
        fi && continue
        bad=$((bad + 1))
        echo "round $i: ${kind[*]}, killed at $kill, stopped at $stop, $flush"
        cat "$where/round"
    done
    echo "# $n rounds, $bad lost something" | tee -a "$where/summary"
    [ $bad = 0 ]
}
check "whatever two do at whichever points" rounds "${BURST_BESIDE:-12}"
cat "$where/summary"
finish
