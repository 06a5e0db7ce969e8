#!/bin/bash
# Definitions change, and the program is killed at one of its calls that have to do with
# the dataset or its journal: before it, in the middle or behind it; all its processes, or
# one, whose launcher ends the others. Or the power goes, after which files hold what was
# synced, and by chance some of the rest. Then the dataset is opened for writing: it is the
# old one or the new one, with all its values, and netCDF-C refused it before, or read a
# whole header. And the same when that opening is killed, too.
#
#   REDEF_KILL=all   every point, on 1 to 4 processes; else a sample
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
shm=/tmp
if [ -w /dev/shm ]; then shm=/dev/shm; fi
where=$(mktemp -d "${TMPDIR:-$shm}/ncmpi-redef.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/mpio/redef_killed
files=$where/files
changes=7

# play PROCESSES ARGUMENT...: the program, with its calls counted.
play() {
    local n=$1
    shift
    if [ "$n" = 1 ]; then timeout 60 "$program" "$@"; else launch -t 30 "$n" "$program" "$@"; fi
}

fresh() {
    rm -rf "$files" "$where/shadow" "$where/pids"
    mkdir "$files" "$where/shadow"
    cp "$where/made.nc" "$files/a.nc"
}

# crash PROCESSES RANK POINT HALF ARGUMENT...: killed there; `one` in $who, or all.
crash() {
    local n=$1 rank=$2 point=$3 half=$4
    shift 4
    rm -f "$where/pids"
    { BURST_CALLS_DIR=$files BURST_KILL_RANK=$rank BURST_KILL_AT=$point BURST_KILL_HALF=$half \
        BURST_PIDS=$([ "$who" = one ] && echo /dev/null || echo "$where/pids") \
        play "$n" "$@"; } >"$where/out" 2>&1
    return 0
}

# What others see before anybody opens it for writing: nothing, or a whole header.
others_are_safe() {
    command -v ncdump >/dev/null || return 0
    if ncdump -h "$files/a.nc" >"$where/dump" 2>&1; then
        [ "$(head -c 3 "$files/a.nc")" = CDF ]
    else
        [ "$(head -c 3 "$files/a.nc")" = RDF ] && ! "$validator" -q "$files/a.nc"
    fi
}
validator=./ncvalidator

# look PROCESSES CHANGE: is it the old one or the new one?
look() {
    others_are_safe || { echo "others take it for a dataset"; return 1; }
    play "$1" check "$files/a.nc" "$2" >"$where/is" 2>"$where/why" || { cat "$where/why"; return 1; }
    grep -cE '^(old|new)$' "$where/is" >/dev/null || return 1
    head -n 1 "$where/is" >>"$where/seen"
}

killed() { # PROCESSES RANK POINT HALF CHANGE
    fresh
    who=all crash "$1" "$2" "$3" "$4" try "$files/a.nc" "$5"
    look $((5 - $1)) "$5" && [ "$(ls "$files")" = a.nc ]
}

one_killed() {
    fresh
    who=one crash "$1" "$2" "$3" "$4" try "$files/a.nc" "$5"
    look "$1" "$5"
}

# Killed in the middle, and again while that is being finished, more than once.
killed_again() {
    fresh
    who=all crash "$1" 0 "$middle" 0 try "$files/a.nc" "$5"
    who=all crash 1 0 "$3" "$4" open "$files/a.nc"
    who=all crash "$1" "$2" $(($3 / 2 * 2 + 5)) 0 open "$files/a.nc"
    look 1 "$5"
}

cut_power() {
    fresh
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 who=all crash "$1" "$2" "$3" 0 \
        try "$files/a.nc" "$5"
    timeout 20 "$program" restore "$where/shadow" "$files" $(($3 % 3)) && look 1 "$5"
}

# The power goes once more while what it left is being finished.
cut_again() {
    fresh
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 who=all crash "$1" 0 "$middle" 0 \
        try "$files/a.nc" "$5"
    timeout 20 "$program" restore "$where/shadow" "$files" $(($3 % 3)) || return 1
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 who=all crash "$1" "$2" "$3" 0 \
        open "$files/a.nc"
    timeout 20 "$program" restore "$where/shadow" "$files" $(($3 % 3)) && look 1 "$5"
}

# points HOW PROCESSES STEP [CHANGE...]: tries points of each process, by steps.
points() {
    local how=$1 n=$2 step=$3 rank total point half change cases=0 lost=0 hung=0 first=2
    shift 3
    for change in "${@:-0 1 2 3 4 5 6}"; do
        fresh
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
    for how in killed one_killed killed_again cut_power cut_again; do
        for n in 1 2 3 4; do
            check "$how, $n processes" points "$how" "$n" 1 0 1 2 3 4 5 6
        done
    done
else
    check "nothing is lost when it is killed" points killed 1 17 0 1 2 3 4 5 6
    check "nothing is lost when two of two are killed" points killed 2 61 0 2 3
    check "nor when one of three is" points one_killed 3 67 1 2
    check "nor when that is killed which finishes" points killed_again 1 31 0 2 3
    check "nor with the power" points cut_power 1 19 0 1 2 3 4 5
    check "nor when it goes again" points cut_again 1 37 0 2
fi
cat "$where/summary"
check "both were seen, old ones and new ones" test "$(sort -u "$where/seen" | wc -l)" = 2
finish
