#!/bin/bash
# Runs a program that writes to subfiles, and kills it before, during or after each of its file
# system calls. Alternatively, simulates a power failure, after which the files contain all synced
# data and a random part of the other data. Afterwards the dataset must open and contain every value
# whose put had returned (after a power failure: every value put before the last sync). It must
# contain no wrong value, and accept new values.
#
#   BLOB_KILL=all     tests every point instead of a selection. Restrictions:
#   BLOB_KILL_HOW     only kills (killed) or power failures (cut_power)
#   BLOB_KILL_PROCS   only these process counts (1 2 3 4)
#   BLOB_KILL_STEP    only every Nth point
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch blob) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
files=$where/files told=$where/told.d/told
printf 'another start of this machine\n' >"$where/boot"
export BURST_LOGS=0

# play PROCESSES COMMAND...: runs the program on this number of processes, with a time limit.
play() {
    local n=$1
    shift
    if [ "$n" = 1 ]; then timeout 60 "$program" "$@"; else launch -t 30 "$n" "$program" "$@"; fi
}

# crash PROCESSES RANK POINT: runs the program, and kills it when process RANK reaches POINT.
crash() {
    rm -rf "$files" "$where/told.d" "$where/shadow" "$where/pids"
    mkdir "$files" "$where/told.d" "$where/shadow"
    { BURST_CALLS_DIR=$files BURST_PIDS=$where/pids BURST_KILL_RANK=$2 BURST_KILL_AT=$3 \
        BURST_KILL_HALF=$(($3 % 4 == 0)) play "$1" write "$files/a.nc" "$told"; } \
        >"$where/out" 2>&1
    return 0
}

# Checks that ncvalidator finds no wrong checksum. After a kill, all checksums must be correct;
# after a power failure, those of values that were put twice may be wrong.
sums() {
    ./ncvalidator "$files/a.nc" >"$where/valid" 2>&1
    ! grep 'checksum is wrong' "$where/valid"
}

# look READERS MUST: checks with READERS processes that the dataset opens, contains the values that
# MUST requires, and accepts more values.
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

# every_point HOW PROCESSES STEP HINTS: tries every STEPth point of each process, and prints a
# summary. HOW is `killed` or `cut_power`.
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

# unharmed HINTS: kills a close at each of its last calls, while it removes the subfiles of a joined
# dataset. A subsequent create must either replace the dataset, or fail because subfiles remain, and
# leave the dataset unchanged.
unharmed() {
    local total point replaced=0 refused=0
    export PNETCDF_HINTS="$1;nc_blob_join=close"
    crash 3 0 0
    total=$(cat "$told.calls.0")
    for ((point = 2 * total + 1; point > 2 * total - 30; point -= 2)); do
        crash 3 0 "$point"
        if play 3 write "$files/a.nc" "$where/told" >"$where/out" 2>&1; then
            replaced=$((replaced + 1))
            play 3 check "$files/a.nc" "$where/told" put && continue
        else
            refused=$((refused + 1))
            play 3 check "$files/a.nc" "$told" put && continue
        fi
        echo "killed at $point of $((2 * total + 1)):"
        ls "$files"
        head -n 5 "$where/out"
        return 1
    done
    echo "# killed during a join: then replaced $replaced times, refused $refused times" | tee -a "$where/summary"
    [ "$replaced" -gt 0 ] && [ "$refused" -gt 0 ]
}

# If a job is killed before it has defined anything in a subfile, that file has no header: it is
# empty, or contains zeros instead. The library and the tools must accept the dataset.
without_headers() {
    local point size empty
    export PNETCDF_HINTS="$blobs"
    for ((point = 2; point <= 200; point++)); do
        crash 2 0 "$point"
        empty=$(find "$files" -name 'a.nc.000?' -size 0 | wc -l)
        [ "$empty" = 2 ] && ./ncmpidump -h "$files/a.nc" >"$where/whole" 2>&1 && break
    done
    [ "$empty" = 2 ] || { echo "at no point are both subfiles empty"; return 1; }
    cp -r "$files" "$where/empty"
    for size in 0 100 9000; do
        rm -rf "$files" "$where/whole.nc" && cp -r "$where/empty" "$files"
        truncate -s "$size" "$files/a.nc.0000"
        ./ncvalidator "$files/a.nc" && ./ncmpidump "$files/a.nc" >"$where/whole" &&
            ./ncmpijoin "$files/a.nc" "$where/whole.nc" && look 1 put || { echo "$size bytes"; return 1; }
    done
}

blobs='nc_blob=enable;nc_num_subfiles=2'
packed="$blobs;nc_compress=zstd"
export BURST_PUTS=10
check "subfiles without headers are valid" without_headers
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
    check "nothing is lost by a kill: one process" every_point killed 1 61 "$blobs"
    check "nothing is lost by a kill: three processes" every_point killed 3 97 "$blobs"
    check "nothing synced is lost by a power cut: one process" every_point cut_power 1 61 "$blobs"
    check "nothing synced is lost by a power cut: three processes" every_point cut_power 3 97 "$blobs"
    check "nothing is lost by a kill: compressed values" every_point killed 3 131 "$packed"
    check "nothing synced is lost by a power cut: compressed values" every_point cut_power 3 131 "$packed"
    check "a create after a kill during a join loses nothing" unharmed "${blobs%2}3"
    joins="$blobs;nc_blob_join=behind"
    check "nothing is lost by a kill during a deferred join" every_point killed 3 251 "$joins"
    check "nothing synced is lost by a power cut during a deferred join" every_point cut_power 1 37 "$joins"
fi
cat "$where/summary"
finish
