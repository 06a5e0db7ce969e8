#!/bin/bash
# A program whose values go to subfiles is killed at each of its calls that have to do with
# its files: before it, in the middle or behind it; or the power goes, after which files
# hold what was synced, and by chance some of the rest. Then its dataset opens, what a put
# had returned for (after a power cut: what was put before a sync) is there, no value is
# wrong, and it takes new values.
#
#   BLOB_KILL=all     every point; else some. Of these:
#   BLOB_KILL_HOW     only killed, or cut_power
#   BLOB_KILL_PROCS   on so many processes (1 2 3 4)
#   BLOB_KILL_STEP    only each so-manieth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch blob) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
files=$where/files told=$where/told.d/told
printf 'another start of this machine\n' >"$where/boot"
export BURST_LOGS=0

# play PROCESSES COMMAND...: the program, with its calls counted.
play() {
    local n=$1
    shift
    if [ "$n" = 1 ]; then timeout 60 "$program" "$@"; else launch -t 30 "$n" "$program" "$@"; fi
}

# crash PROCESSES RANK POINT: it is killed there.
crash() {
    rm -rf "$files" "$where/told.d" "$where/shadow" "$where/pids"
    mkdir "$files" "$where/told.d" "$where/shadow"
    { BURST_CALLS_DIR=$files BURST_PIDS=$where/pids BURST_KILL_RANK=$2 BURST_KILL_AT=$3 \
        BURST_KILL_HALF=$(($3 % 4 == 0)) play "$1" write "$files/a.nc" "$told"; } \
        >"$where/out" 2>&1
    return 0
}

# After a kill no checksum is wrong; when the power goes, those of what is put again may be.
sums() {
    ./ncvalidator "$files/a.nc" >"$where/valid" 2>&1
    ! grep 'checksum differs' "$where/valid"
}

# look READERS MUST: it opens, and has what it must; and it takes more, by as many processes
# as made it and by another number.
look() {
    play "$1" check "$files/a.nc" "$told" "$2" || return 1
    [ "$2" != put ] || sums || return 1
    play "$1" again "$files/a.nc" && { [ "$2" != put ] || sums; }
}

killed() {
    crash "$@"
    look $(($3 % 3 == 0 ? $1 : $1 % 2 + 1)) put
}

cut_power() {
    BURST_SHADOW=$where/shadow BURST_SHADOW_SEED=$3 crash "$@"
    timeout 20 "$program" restore "$where/shadow" "$files" $(($3 % 3)) &&
        BURST_BOOT=$where/boot look $(($3 % 2 == 0 ? $1 : $1 % 2 + 1)) synced
}

# every_point HOW PROCESSES STEP HINTS: tries the points of each process by steps; says how
# many there were.
every_point() {
    local how=$1 n=$2 step=$3 rank total point tried=0 all=0 bad=0 hung=0
    export PNETCDF_HINTS="$4"
    crash "$n" 0 0
    cp -r "$where/told.d" "$where/counted"
    for ((rank = 0; rank < n; rank++)); do
        total=$(cat "$where/counted/told.calls.$rank")
        [ "${total:-0}" -gt 10 ] || { echo "only ${total:-no} calls"; cat "$where/out"; return 1; }
        all=$((all + 2 * total))
        for ((point = 2 + rank; point <= 2 * total + 1; point += step)); do
            tried=$((tried + 1))
            "$how" "$n" "$rank" "$point" >"$where/why" 2>&1 && continue
            echo "lost at $point of process $rank: $(cat "$told.$rank")"
            head -n 5 "$where/why"
            bad=$((bad + 1))
            if grep -q 'no end after' "$where/why" "$where/out"; then hung=$((hung + 1)); fi
        done
    done
    rm -rf "$where/counted"
    echo "# $how, $n processes, $4: $tried of $all points, $bad lost, $hung hung" |
        tee -a "$where/summary"
    [ "$bad" = 0 ]
}

blobs='nc_blob=enable;nc_num_subfiles=2'
packed="$blobs;nc_compress=zstd"
export BURST_PUTS=10
if [ "${BLOB_KILL-}" = all ]; then
    for how in ${BLOB_KILL_HOW:-killed cut_power}; do
        for n in ${BLOB_KILL_PROCS:-1 2 3 4}; do
            for hints in "$blobs" "$blobs;nc_blob_join=behind" "$packed"; do
                check "$how, $n processes, $hints" \
                    every_point "$how" "$n" "${BLOB_KILL_STEP:-1}" "$hints"
            done
        done
    done
else
    check "nothing is lost when it is killed" every_point killed 1 31 "$blobs"
    check "nor when all of three are" every_point killed 3 47 "$blobs"
    check "nothing synced is lost with the power" every_point cut_power 1 31 "$blobs"
    check "nor with that of three" every_point cut_power 3 47 "$blobs"
    check "nor are compressed values" every_point killed 3 67 "$packed"
    check "nor are they with the power" every_point cut_power 3 67 "$packed"
    joins="$blobs;nc_blob_join=behind"
    check "nor when it is killed while one file is made" every_point killed 3 127 "$joins"
    check "nor when the power goes meanwhile" every_point cut_power 1 17 "$joins"
fi
cat "$where/summary"
finish
