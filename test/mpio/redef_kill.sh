#!/bin/bash
# Definitions change, records are added, or a dataset is made, and the program is killed at
# one of its calls that have to do with the dataset, its journal or its logs: before it, in
# the middle or behind it; all its processes, or one, whose launcher ends the others. Or the
# power goes, after which files hold what was synced, and by chance some of the rest. Then
# the dataset is opened for writing: it is the old one or the new one, with all its values,
# and the new one if that had returned; and other readers refused it before, or read a whole
# header. And the same when that opening is killed, too.
#
#   REDEF_KILL=all     every point; else a sample. Of these:
#   REDEF_KILL_HOW     only these ways (killed one_killed killed_again cut_power cut_again)
#   REDEF_KILL_PROCS   on so many processes (1 2 3 4)
#   REDEF_KILL_WHAT    only these changes, by number: see redef_change.c
#   REDEF_KILL_STEP    only each so-manieth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch redef) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/mpio/redef_killed
files=$where/files

# play PROCESSES ARGUMENT...: the program, with its calls counted.
play() {
    local n=$1
    shift
    if [ "$n" = 1 ]; then timeout 60 "$program" "$@"; else launch -t 30 "$n" "$program" "$@"; fi
}

# fresh CHANGE: the last one makes the dataset.
fresh() {
    rm -rf "$files" "$where/shadow" "$where/pids" "$where/told.d" "$where/out"
    mkdir "$files" "$where/shadow" "$where/told.d"
    if [ "$1" != 10 ]; then cp "$where/made.nc" "$files/a.nc"; fi
}

# crash PROCESSES RANK POINT HALF ARGUMENT...: killed there; `one` in $who, or all.
crash() {
    local n=$1 rank=$2 point=$3 half=$4
    shift 4
    rm -f "$where/pids"
    { REDEF_TOLD=$where/told.d/told BURST_CALLS_DIR=$files BURST_KILL_RANK=$rank BURST_KILL_AT=$point BURST_KILL_HALF=$half \
        BURST_PIDS=$([ "$who" = one ] && echo /dev/null || echo "$where/pids") \
        play "$n" "$@"; } >"$where/out" 2>&1
    return 0
}

# What others see before anybody opens it for writing: nothing, or a whole header. A file
# that is being made has none for a while.
readers=()
if command -v ncdump >/dev/null; then readers+=('ncdump -h'); fi
if command -v ncks >/dev/null; then readers+=('ncks -M'); fi
others_are_safe() { # CHANGE
    local reader first
    first=$(head -c 3 "$files/a.nc" 2>/dev/null | tr -d '\0')
    for reader in "${readers[@]}"; do
        if $reader "$files/a.nc" >"$where/dump" 2>&1; then
            [ "$first" = CDF ] || return 1
        elif [ "$first" = RDF ]; then
            "$validator" -q "$files/a.nc" && return 1
        elif [ "$1" != 10 ] || [ -n "$first" ]; then
            return 1
        fi
    done
    return 0
}
validator=./ncvalidator

# What has returned and must be there: see redef_change.h. Definitions are everybody's; with
# the power goes what was not synced.
returned() { # PROCESSES
    local all r letters must=
    all=$(cat "$where/told.d"/* 2>/dev/null)
    case $how:$all in
    cut_*:*s* | *killed*:*d*) must=d ;;
    esac
    for ((r = 0; r < $1; r++)); do
        letters=$(cat "$where/told.d/told.$r" 2>/dev/null)
        case $how:$letters in
        cut_*:*s* | *killed*:*p*) ;;
        *) break ;;
        esac
    done
    if [ "$r" = "$1" ]; then must+=p; fi
    echo "$must"
}

# But, perhaps, a journal that has done its work: the next one takes its place. And the
# power may bring back names that were removed.
nothing_is_left() { # CHANGE
    case $how:$1:$(ls "$files" | xargs) in
    cut_*) ;;
    *:a.nc | *:'a.nc a.nc.redef' | *:10:) ;;
    *) ls "$files"; return 1 ;;
    esac
}

# look PROCESSES CHANGE TRIED-BY: is it the old one or the new one?
look() {
    local -x BURST_CALLS_DIR=/nowhere # the program is left alone now
    case $how in
    cut_*) local -x BURST_BOOT=$where/boot ;;
    *) others_are_safe "$2" || { echo "others take it for a dataset"; return 1; } ;;
    esac
    play "$1" check "$files/a.nc" "$2" "$(returned "$3")" >"$where/is" 2>"$where/why" ||
        { cat "$where/why"; return 1; }
    grep -E '^(old|new)$' "$where/is" >>"$where/seen"
    nothing_is_left "$2"
}

# The power is back, and the machine has started once more.
starts=0
power_is_back() { # SEED
    starts=$((starts + 1))
    printf 'start %d of this machine\n' "$starts" >"$where/boot"
    timeout 20 "$program" restore "$where/shadow" "$files" $(($1 % 3))
}

killed() { # PROCESSES RANK POINT HALF CHANGE
    fresh "$5"
    who=all crash "$1" "$2" "$3" "$4" try "$files/a.nc" "$5"
    look $((5 - $1)) "$5" "$1"
}

one_killed() {
    fresh "$5"
    who=one crash "$1" "$2" "$3" "$4" try "$files/a.nc" "$5"
    look "$1" "$5" "$1"
}

# Killed in the middle, and again while that is being finished, more than once.
killed_again() {
    fresh "$5"
    who=all crash "$1" 0 "$middle" 0 try "$files/a.nc" "$5"
    who=all crash 1 0 "$3" "$4" open "$files/a.nc" "$5"
    who=all crash "$1" "$2" $(($3 / 2 * 2 + 5)) 0 open "$files/a.nc" "$5"
    look 1 "$5" "$1"
}

cut_power() {
    fresh "$5"
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 who=all crash "$1" "$2" "$3" 0 \
        try "$files/a.nc" "$5"
    power_is_back "$3" && look 1 "$5" "$1"
}

# The power goes once more while what it left is being finished.
cut_again() {
    fresh "$5"
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 who=all crash "$1" 0 "$middle" 0 \
        try "$files/a.nc" "$5"
    power_is_back "$3" || return 1
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 BURST_BOOT=$where/boot \
        who=all crash "$1" "$2" "$3" 0 \
        open "$files/a.nc" "$5"
    power_is_back "$3" && look 1 "$5" "$1"
}

# points HOW PROCESSES STEP CHANGE...: tries points of each process, by steps.
points() {
    local how=$1 n=$2 step=$3 rank total point half change cases=0 lost=0 hung=0 first=2
    shift 3
    for change in "$@"; do
        fresh "$change"
        REDEF_CALLS=$where/calls who=all crash "$n" 0 0 0 try "$files/a.nc" "$change"
        for ((rank = 0; rank < n; rank++)); do
            total=$(cat "$where/calls.$rank" 2>/dev/null)
            [ "${total:-0}" -gt 3 ] || continue
            middle=$((total / 2 * 2))
            for ((point = first; point <= 2 * total + 1; point += step)); do
                half=$((point % 4 == 0))
                cases=$((cases + 1))
                "$how" "$n" "$rank" "$point" "$half" "$change" >"$where/told" 2>&1 && continue
                lost=$((lost + 1))
                if grep -q 'no end after' "$where/told" "$where/out"; then hung=$((hung + 1)); fi
                echo "change $change, point $point ($half) of process $rank:"
                head -n 5 "$where/told"
            done
            first=$((2 + (first + 3) % step))
        done
    done
    echo "# $how, $n processes: $cases cases, $lost lost, $hung hung" | tee -a "$where/summary"
    [ "$lost" = 0 ] && [ "$cases" -gt 3 ]
}

timeout 60 "$program" make "$where/made.nc" || exit 99
if [ "${REDEF_KILL-}" = all ]; then
    for how in ${REDEF_KILL_HOW:-killed one_killed killed_again cut_power cut_again}; do
        for n in ${REDEF_KILL_PROCS:-1 2 3 4}; do
            # shellcheck disable=SC2086 # a list of numbers
            check "$how, $n processes" points "$how" "$n" "${REDEF_KILL_STEP:-1}" \
                ${REDEF_KILL_WHAT:-0 1 2 3 4 5 6 7 8 9 10}
        done
    done
else
    check "nothing is lost when it is killed" points killed 1 59 0 1 2 3 4 5 6 7 8 9 10
    check "nothing is lost when two of two are killed" points killed 2 97 0 2 3 7 8 9 10
    check "nor when one of three is" points one_killed 3 97 1 2 8 9
    check "nor when that is killed which finishes" points killed_again 1 83 0 2 3 8 9
    check "nor with the power" points cut_power 1 67 0 1 2 3 4 5 7 8 9 10
    check "nor when it goes again" points cut_again 1 83 0 2
    check "nor while logs are made" points cut_again 3 41 8
fi
cat "$where/summary"
check "both were seen, old ones and new ones" test "$(sort -u "$where/seen" | xargs)" = 'new old'
finish
