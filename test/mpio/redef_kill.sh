#!/bin/bash
# Kills redef_killed while it changes definitions, adds records or creates a dataset, at a point
# before, during or after one of its calls on the dataset, its journal or its logs. Either all
# processes are killed, or one process is killed and the launcher kills the others. Other runs
# simulate a power cut, after which the files contain the synced data and a random part of the other
# writes. Afterwards, other programs must refuse the dataset or read a complete header. When the
# dataset is next opened for writing, it must be either the old one or the new one, with all of its
# values. If the change had returned success, it must be the new one. The same must be true if the
# program that opens it is killed as well.
#
#   REDEF_KILL=all     kills at all points, not only at a sample. The following require it:
#   REDEF_KILL_HOW     only in these ways (killed one_killed killed_again cut_power cut_again)
#   REDEF_KILL_PROCS   only with these numbers of processes (1 2 3 4)
#   REDEF_KILL_WHAT    only these changes (numbers); see redef_change.c
#   REDEF_KILL_STEP    only at every Nth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch redef) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/mpio/redef_killed
files=$where/files

# play PROCESSES ARGUMENT...: runs the program on this number of processes.
play() {
    local n=$1
    shift
    if [ "$n" = 1 ]; then timeout 60 "$program" "$@"; else launch -t 30 "$n" "$program" "$@"; fi
}

# fresh CHANGE: prepares the files for a change. The last change creates the dataset, so it needs no
# file.
fresh() {
    rm -rf "$files" "$where/shadow" "$where/pids" "$where/told.d" "$where/out"
    mkdir "$files" "$where/shadow" "$where/told.d"
    if [ "$1" != 10 ]; then cp "$where/made.nc" "$files/a.nc"; fi
}

# crash PROCESSES RANK POINT HALF ARGUMENT...: runs the program until process RANK reaches POINT.
# Then kills only that process if $who is `one`, otherwise all processes.
crash() {
    local n=$1 rank=$2 point=$3 half=$4
    shift 4
    rm -f "$where/pids"
    { REDEF_TOLD=$where/told.d/told BURST_CALLS_DIR=$files BURST_KILL_RANK=$rank BURST_KILL_AT=$point BURST_KILL_HALF=$half \
        BURST_PIDS=$([ "$who" = one ] && echo /dev/null || echo "$where/pids") \
        play "$n" "$@"; } >"$where/out" 2>&1
    return 0
}

# Checks that other programs either refuse the dataset or read a complete header. A file that is
# being created has no header at first.
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

# Prints the letters (see redef_change.h) of the steps whose results must be in the file, because
# the calls have returned success. For definitions, success on one process is enough; for values,
# all processes must have succeeded. After a power cut, only synced data must be in the file.
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

# Checks that no auxiliary files remain, except that there may be a finished journal, which the next
# journal will replace. After a power cut, removed files may reappear.
nothing_is_left() { # CHANGE
    case $how:$1:$(ls "$files" | xargs) in
    cut_*) ;;
    *:a.nc | *:'a.nc a.nc.redef' | *:10:) ;;
    *) ls "$files"; return 1 ;;
    esac
}

# look PROCESSES CHANGE TRIED-BY: checks that the dataset is either the old one or the new one.
look() {
    local -x BURST_CALLS_DIR=/nowhere # from here on, nothing kills the program
    case $how in
    cut_*) local -x BURST_BOOT=$where/boot ;;
    *) others_are_safe "$2" || { echo "others take it for a dataset"; return 1; } ;;
    esac
    play "$1" check "$files/a.nc" "$2" "$(returned "$3")" >"$where/is" 2>"$where/why" ||
        { cat "$where/why"; return 1; }
    grep -E '^(old|new)$' "$where/is" >>"$where/seen"
    nothing_is_left "$2"
}

# Simulates a restart of the machine after a power cut.
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

# Kills the program during a change, and then repeatedly while it opens the dataset to complete the
# change.
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

# Cuts the power a second time, while the dataset is being recovered after the first cut.
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

# points HOW PROCESSES STEP CHANGE...: tests every STEP-th call of each process.
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
    check "nothing is lost by a kill: one process" points killed 1 113 0 1 2 3 4 5 6 7 8 9 10
    check "nothing is lost by a kill: two of two processes" points killed 2 193 0 2 3 7 8 9 10
    check "nothing is lost by a kill: one of three processes" points one_killed 3 193 1 2 8 9
    check "nothing is lost when the finishing process is killed" points killed_again 1 163 0 2 3 8 9
    check "nothing is lost by a power cut" points cut_power 1 131 0 1 2 3 4 5 7 8 9 10
    check "nothing is lost by a second power cut" points cut_again 1 83 0 2
    check "nothing is lost by a power cut while logs are created" points cut_again 3 83 8
fi
cat "$where/summary"
check "both the old and the new definitions were found" test "$(sort -u "$where/seen" | xargs)" = 'new old'
finish
