#!/bin/bash
# A program is killed at each of its calls that have to do with its log or its file, before
# it or behind it; then its dataset is opened again: whatever a put had returned for is
# there. The same with a power cut, after which the files hold what was synced, and by
# chance some of the rest: whatever was put before the last sync is there.
#
#   BURST_KILL=all     every point; else some, most of them of one process. Of these:
#   BURST_KILL_HOW     only killed, killed_alone, where the others go when the launcher
#                      learns of it, or cut_power
#   BURST_KILL_PROCS   on so many processes (1 3)
#   BURST_KILL_HINTS   only with hints that contain this
#   BURST_KILL_STEP    only each so-manieth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch kill) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
files=$where/files told=$where/told.d/told
printf 'another start of this machine\n' >"$where/boot"
one=$program

# play PROCESSES COMMAND...: the program, with its calls counted.
play() {
    local n=$1
    shift
    if [ "$n" = 1 ]; then "$one" "$@"; else launch "$n" "$one" "$@"; fi
}

fresh() {
    rm -rf "$files" "$where/told.d" "$where/shadow" "$where/pids"
    mkdir "$files" "$where/told.d" "$where/shadow"
}

# crash PROCESSES RANK POINT: all are killed there; without the list of them only that one.
crash() {
    fresh
    # the shell's own word on the kill goes nowhere
    { BURST_CALLS_DIR=$files BURST_PIDS=${pids-$where/pids} BURST_KILL_RANK=$2 BURST_KILL_AT=$3 \
        play "$1" write "$files/a.nc" "$told"; } >"$where/out" 2>&1
    return 0
}

killed() {
    crash "$@"
    play 1 check "$files/a.nc" "$told" put || return 1
    [ -s "$told.0" ] || return 0
    case $(ls "$files" | xargs) in
    a.nc | 'a.nc a.nc.redef') ;; # perhaps a journal that has done its work: nothing else
    *) ls "$files"; return 1 ;;
    esac
}

killed_alone() { pids=/dev/null killed "$@"; }

cut_power() {
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 crash "$@"
    play 1 restore "$where/shadow" "$files" $(($3 % 3)) &&
        BURST_CALLS_DIR=/nowhere BURST_BOOT=$where/boot play 1 check "$files/a.nc" "$told" synced
}

# every_point HOW PROCESSES STEP HINTS: tries the points of each process by steps; says how
# many there were.
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
    check "nothing is lost when it drains at close" \
        every_point killed 1 13 "${flushes[0]}"
    check "nothing is lost when it drains at once" \
        every_point killed 1 17 "${flushes[1]};${logs[1]}"
    check "nothing synced is lost with the power" every_point cut_power 1 17 "${flushes[0]}"
    check "nothing synced is lost when it drains at once" \
        every_point cut_power 1 19 "${flushes[1]}"
    check "nothing is lost behind a deferred close" every_point killed 1 19 "${flushes[2]}"
    export BURST_PUTS=10
    check "nothing is lost when all of three processes are killed" \
        every_point killed 3 47 "${flushes[0]}"
    check "nor behind a close that they have deferred" \
        every_point killed 3 53 "${flushes[2]};${logs[1]}"
    check "nor when one of them is" every_point killed_alone 3 97 "${flushes[2]}"
fi
sed 's/^/# /; s/^# # /# /' "$where/summary"
finish
