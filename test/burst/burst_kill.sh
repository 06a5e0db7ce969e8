#!/bin/bash
# Runs a program that writes to a log, kills it before or after each of its system calls on the log
# or the file, and reopens the dataset, which must contain every value whose put had returned.
# Alternatively, simulates a power failure, after which the files contain all synced bytes and a
# random selection of others. The dataset must then contain every value that was put before the last
# sync.
#
#   BURST_KILL=all     tests every point; otherwise only some, mostly of one process.
#                      These variables restrict the test:
#   BURST_KILL_HOW     only this way: killed, killed_alone (the other processes end when the
#                      launcher notices), or cut_power
#   BURST_KILL_PROCS   only these process counts (1 3)
#   BURST_KILL_HINTS   only hints that contain this text
#   BURST_KILL_STEP    only every Nth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch kill) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
files=$where/files told=$where/told.d/told
printf 'another start of this machine\n' >"$where/boot"
one=$program fault=$PWD/test/support/.libs/fault.so

# play PROCESSES COMMAND...: runs the program, which counts its calls.
play() {
    local n=$1
    shift
    if [ "$n" = 1 ]; then "$one" "$@"; else launch "$n" "$one" "$@"; fi
}

fresh() {
    rm -rf "$files" "$where/told.d" "$where/shadow" "$where/pids"
    mkdir "$files" "$where/told.d" "$where/shadow"
}

# crash PROCESSES RANK POINT: runs the program. When process RANK reaches POINT, kills all
# processes, or only process RANK if there is no list of process ids.
crash() {
    fresh
    # discards the shell's message about the kill
    { BURST_CALLS_DIR=$files BURST_PIDS=${pids-$where/pids} BURST_KILL_RANK=$2 BURST_KILL_AT=$3 \
        play "$1" write "$files/a.nc" "$told"; } >"$where/out" 2>&1
    return 0
}

killed() {
    crash "$@"
    play 1 check "$files/a.nc" "$told" put || return 1
    [ -s "$told.0" ] || return 0
    case $(ls "$files" | xargs) in
    a.nc | 'a.nc a.nc.redef') ;; # a completed journal may remain, but no other file
    *) ls "$files"; return 1 ;;
    esac
}

killed_alone() { pids=/dev/null killed "$@"; }

cut_power() {
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 crash "$@"
    play 1 restore "$where/shadow" "$files" $(($3 % 3)) &&
        BURST_CALLS_DIR=/nowhere BURST_BOOT=$where/boot play 1 check "$files/a.nc" "$told" synced
}

# The first replay of the logs fails, because the disk is full after a few writes. The next one must
# succeed.
full_disk() {
    crash "$@"
    NCMPI_FAULT="write:$((1 + $3 % 5))+:ENOSPC:$files/a.nc*" LD_PRELOAD=$fault \
        play 1 check "$files/a.nc" "$told" put >"$where/full" 2>&1 || echo "$3" >>"$where/failed"
    play 1 check "$files/a.nc" "$told" put
}

# every_point HOW PROCESSES STEP HINTS: tries every STEPth point of each process. Prints the number
# of points tried.
every_point() {
    local how=$1 n=$2 step=$3 rank total point tried=0 all=0 bad=0
    export PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_dirname=$files;$4"
    crash "$n" 0 0
    cp -r "$where/told.d" "$where/counted"
    for ((rank = 0; rank < n; rank++)); do
        total=$(cat "$where/counted/told.calls.$rank")
        [ "${total:-0}" -gt 20 ] || { echo "only ${total:-no} calls"; cat "$where/out"; return 1; }
        all=$((all + 2 * total))
        for ((point = 2; point <= 2 * total + 1; point += step)); do
            tried=$((tried + 1))
            "$how" "$n" "$rank" "$point" && continue
            echo "lost at $point of process $rank: $(cat "$told.0")"
            bad=$((bad + 1))
        done
    done
    rm -rf "$where/counted"
    echo "# $how, $n processes, $4: $tried of $all points, $bad lost something" |
        tee -a "$where/summary"
    [ "$bad" = 0 ]
}

# full_disks PROCESSES STEP HINTS: some of the first replays must fail.
full_disks() {
    rm -f "$where/failed"
    every_point full_disk "$@" && [ -s "$where/failed" ]
}

logs=(nc_burst_buf_shared_logs=disable nc_burst_buf_shared_logs=enable)
flushes=(nc_burst_buf_flush=flush_onclose
    'nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0'
    'nc_burst_buf_flush=flush_onclose;nc_deferred_close=enable')
if [ "${BURST_KILL-}" = all ]; then
    for how in ${BURST_KILL_HOW:-killed killed_alone cut_power}; do
        for n in ${BURST_KILL_PROCS:-1 3}; do
            if [ "$how $n" = "killed_alone 1" ]; then continue; fi
            if [ "$n" = 1 ]; then export BURST_PUTS=30; else export BURST_PUTS=10; fi
            for log in "${logs[@]}"; do
                for flush in "${flushes[@]}"; do
                    case "$log;$flush" in *"${BURST_KILL_HINTS-}"*) ;; *) continue ;; esac
                    check "$how, $n processes, $log, $flush" \
                        every_point "$how" "$n" "${BURST_KILL_STEP:-1}" "$log;$flush"
                done
            done
        done
    done
else
    export BURST_PUTS=30
    check "nothing is lost by a kill: draining at close" \
        every_point killed 1 29 "${flushes[0]}"
    check "nothing is lost by a kill: draining at once" \
        every_point killed 1 31 "${flushes[1]};${logs[1]}"
    check "nothing synced is lost by a power cut: draining at close" every_point cut_power 1 31 "${flushes[0]}"
    check "nothing synced is lost by a power cut: draining at once" \
        every_point cut_power 1 37 "${flushes[1]}"
    if [ -e "$fault" ]; then
        check "a replay that failed can be repeated" full_disks 1 17 "${flushes[0]}"
        check "a replay into subfiles that failed can be repeated" \
            full_disks 1 37 "nc_blob=enable;${flushes[0]}"
    else
        skip "a replay that failed can be repeated" "no fault.so"
        skip "a replay into subfiles that failed can be repeated" "no fault.so"
    fi
    check "nothing is lost by a kill: deferred close" every_point killed 1 37 "${flushes[2]}"
    export BURST_PUTS=10
    check "nothing is lost if all of three processes are killed" \
        every_point killed 3 97 "${flushes[0]}"
    check "nothing is lost if all of three are killed after a deferred close" \
        every_point killed 3 103 "${flushes[2]};${logs[1]}"
    check "nothing is lost if one of three is killed after a deferred close" every_point killed_alone 3 193 "${flushes[2]}"
fi
sed 's/^/# /; s/^# # /# /' "$where/summary"
finish
