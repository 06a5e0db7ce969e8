#!/bin/bash
# Tests two programs that use the logs of a killed job. In various cases, opens and ncmpilog run at
# the same time, one of them is stopped at one of its calls while another runs, the job itself is
# still alive, or logs or datasets are restored from an older copy. Each program either succeeds, or
# fails with a message that names the process that uses the log. In the end, every put that had
# returned must be in the dataset, and no older value may have replaced a newer one.
#
#   BURST_BESIDE=N   runs N additional rounds, each with a random kind, random points and a random
#                    second program; the seed is BURST_BESIDE_SEED
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

# ---- programs ----

# Opens the dataset for writing with the burst buffer, and reads all values back.
opens() { PNETCDF_HINTS=$(hints) LD_PRELOAD=${preload-} timeout 60 $program check "$file" "$told" put; }
replays() { LD_PRELOAD=${preload-} timeout 60 ./ncmpilog replay -q -r "$@" "$logs"; }
all_there() { PNETCDF_HINTS='' timeout 60 $program check "$file" "$told" put; }

# job POINT: runs a job and kills it at POINT. If the job makes too few calls to reach POINT, it
# ends normally.
job() {
    wake
    rm -rf "$files" "$told".*
    mkdir -p "$logs"
    { PNETCDF_HINTS=$(hints) BURST_CALLS_DIR=$files BURST_KILL_AT=$1 timeout 60 $program write "$file" "$told"; } 2>/dev/null >&2
    [ -s "$told.0" ]
}

# stop POINT PROGRAM...: starts a program and stops it at POINT. Fails if the program ended.
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
# Continues the stopped program, waits for at most a minute, and returns its status.
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

# Checks the outcome, even if a program was refused: the next open succeeds, all values are present,
# and no log remains.
in_the_end() {
    if [ -n "$(ls "$logs")" ]; then opens >"$where/last" 2>&1 || { cat "$where/last"; return 1; }; fi
    all_there || return 1
    [ -z "$(ls "$logs")" ] || { ls "$logs"; return 1; }
}

# ---- two programs at the same time ----

# at_once A B: runs two commands. If one is refused, its message must name the other program.
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
    grep -Eq 'is being (replayed|written|redefined) by|is moving, joining or replaying|open for writing by another|is in use by|redefinition of this dataset was interrupted|[Nn]o such file|no longer exists' "$1" || { cat "$1"; return 1; }
}
two_replays() { job "$1" && at_once replays replays; }
replay_and_opening() { job "$1" && at_once replays opens; }
two_openings() { job "$1" && at_once opens opens; }

# ---- one program is stopped ----

# beside KILL STOP FIRST SECOND...: stops FIRST and runs SECOND, which must be refused or have
# nothing to do. FIRST then continues and must succeed.
beside() {
    local kill=$1 point=$2 first=$3 before marked=false
    shift 3
    job "$kill" || return 1
    # an open first completes an interrupted redefinition, so the file may change although the open
    # is refused
    [ "$(head -c 3 "$file")" = CDF ] || marked=true
    stop "$point" "$first" || { in_the_end; return; }
    before=$(state)
    if "$@" >"$where/other" 2>&1; then
        # if SECOND changed anything, FIRST either has not begun its work or has completed it
        is "$before" || { go_on; in_the_end; return; }
    else
        refusal "$where/other" && { $marked || is "$before"; } || { go_on; return 1; }
    fi
    go_on || refusal "$where/slow" || return 1
    in_the_end
}
# middle PROGRAM: stops the program at the first point at which it has written values to the file.
# Finds the point by bisection.
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
    # if locks work, the open fails before it reaches the log
    if opens >"$where/other" 2>&1; then echo "it was opened"; return 1; fi
    grep -q 'is moving, joining or replaying' "$where/other" || names_it "$where/other" replayed && is "$before" || return 1
    go_on || { cat "$where/slow"; return 1; }
    in_the_end
}

# While an open recovers logs, other programs wait for it as long as it makes progress, but not if
# it is stopped.
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

# Tests opens and ncmpilog while the job is alive but stopped.
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

# Tests a dataset that another program has open for writing with a different set of logs.
other_logs() { PNETCDF_HINTS=$(hints "$files/logs2") exec $program again "$file"; }
dataset_is_open() {
    local before
    job 56 && mkdir "$files/logs2" && stop 30 other_logs || return 1
    before=$(state)
    if replays >"$where/other" 2>&1; then echo "it was replayed"; return 1; fi
    grep -q 'is open for writing by another program' "$where/other" || { cat "$where/other"; return 1; }
    is "$before" && go_on
}

# ---- without file locks, the record in the log decides ----

# Runs a command in an environment in which all attempts to lock files fail.
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

# If the log was last used on another host, only the user can know whether the process there has
# ended. If that process resumes later, it must notice that another program has taken over the log.
takes_over() {
    local before
    middle elsewhere || return 1
    before=$(state)
    for other in replays opens; do
        if $other >"$where/other" 2>&1; then echo "it was not refused"; return 1; fi
        names_it "$where/other" replayed elsewhere && grep -q 'replay -f' "$where/other" && is "$before" || return 1
    done
    LD_PRELOAD=$preload ./ncmpilog replay -q -f "$logs" || return 1 # does not remove the logs
    all_there && PNETCDF_HINTS='' $program again "$file" || return 1
    before=$(state)
    if go_on; then echo "it went on"; return 1; fi
    grep -q 'which has taken over the log' "$where/slow" || { cat "$where/slow"; return 1; }
    is "$before"
}

# ---- restored copies ----

# Logs that are restored from a copy after a replay must not overwrite newer values.
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
            grep -q 'changed after' "$where/out" && is "$before" || { cat "$where/out"; return 1; }
        done
    fi
    is "$before"
}
has_entries() { ./ncmpilog verify "$logs" 2>/dev/null | grep -q ' [1-9][0-9]* entries pending'; }

# A log must not be replayed into a dataset that was restored from a copy older than the job.
restored() {
    local before
    job "$1" && touch -d '1 hour ago' "$file" || return 1
    has_entries || return 0
    before=$(state)
    for other in replays opens; do
        if $other >"$where/out" 2>&1; then echo "$other: it was replayed"; return 1; fi
        grep -q 'changed after\|replaced by an older version' "$where/out" && is "$before" || { cat "$where/out"; return 1; }
    done
}

# If the dataset is unchanged, copies of its logs can be replayed as if they were the originals.
copied_but_same() {
    job "$1" || return 1
    cp -rp "$logs" "$where/copy" && rm -rf "$logs" && mv "$where/copy" "$logs"
    opens >"$where/out" 2>&1 || grep -q 'some of the logs are copies' "$where/out" || { cat "$where/out"; return 1; }
}

# If the dataset was renamed, ncmpilog finds the logs by the dataset's new name.
renamed() {
    job 56 && mv "$file" "$files/b.nc" || return 1
    ./ncmpilog replay -q -r -d "$files/b.nc" "$logs" && mv "$files/b.nc" "$file" && all_there
}

check "two concurrent replays lose nothing" two_replays 56
check "concurrent replay and open lose nothing" replay_and_opening 56
check "two concurrent opens lose nothing" two_openings 56
check "an error message names the process of a stopped replay" replay_is_named
check "an error message names the process of a stopped recovery" opening_is_named
check "a replay of the logs of a running job is refused" job_is_alive
check "ncmpilog refuses to replay into a dataset that is open elsewhere" dataset_is_open
check "without locks: an error message names the process of a stopped replay" without_locks replay_is_named
check "without locks: a running job's logs are not replayed" without_locks job_is_alive
if unshare -u true 2>/dev/null; then
    check "without locks: -f takes over a replay of another host" without_locks takes_over
else
    skip "without locks: -f takes over a replay of another host" "no other host name here"
fi
check "logs are not replayed twice when a copy of them is restored" put_back 56
check "restored copies of logs are not replayed after ncmpilog" put_back 56 replays
flush='nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0'
check "restored copies of logs are not replayed after draining by threads" put_back 120
flush=nc_burst_buf_flush=flush_onclose
check "a restored dataset refuses newer logs" restored 56
check "copied logs are replayed if the dataset is unchanged" copied_but_same 56
check "ncmpilog finds the logs of a renamed dataset" renamed

# ---- random rounds ----

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
check "two random, concurrent programs lose nothing" rounds "${BURST_BESIDE:-12}"
cat "$where/summary"
finish
