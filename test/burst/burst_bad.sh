#!/bin/bash
# Tests that invalid logs and settings are reported or ignored, and never cause invalid bytes to be
# written to the dataset.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-bad.XXXXXX") || exit 99
trap 'launch_kill; chmod -R u+rwx "$where"; rm -rf "$where"' EXIT
program=test/burst/burst_killed
file=$where/a.nc logs=$where/logs told=$where/told
hints="nc_burst_buf=enable;nc_burst_buf_dirname=$logs"
export PNETCDF_HINTS=$hints

# Creates a dataset and a log with about 8 completed puts, by killing the program.
crash() {
    rm -rf "$logs" "$file" "$told".*
    mkdir "$logs"
    { BURST_CALLS_DIR=$where/ BURST_KILL_AT=56 $program write "$file" "$told"; } 2>/dev/null
    [ "$(wc -c <"$told.0")" -gt 5 ] && cp "$file" "$where/before.nc"
}
meta() { printf '%s\n' "$logs"/*.meta; }
poke() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; } # FILE OFFSET BYTES
opens() { $program check "$file" "$told" put; }
# refused TEXT: checks that an open fails with this message and leaves the dataset unchanged.
refused() {
    if opens >"$where/out" 2>&1; then echo "it was opened"; return 1; fi
    cat "$where/out"
    grep -q "$1" "$where/out" && cmp "$file" "$where/before.nc"
}
# log_refused TEXT: checks that ncmpilog fails with this message and leaves the dataset unchanged.
log_refused() {
    if ./ncmpilog replay -q "$logs" >"$where/out" 2>&1; then echo "it was replayed"; return 1; fi
    cat "$where/out"
    grep -q "$1" "$where/out" && cmp "$file" "$where/before.nc"
}
fails() { ! "$@"; }
writes() { rm -f "$file" "$told".*; $program write "$file" "$told" && PNETCDF_HINTS='' opens; }

check "a killed program leaves a log: version" crash
poke "$(meta)" 7 7
check "an open refuses a log of another version" refused "its version is '7'"
check "ncmpilog refuses a log of another version" log_refused "its version is '7'"

check "a killed program leaves a log: byte order" crash
poke "$(meta)" 16 '\001\001\001\001'
check "an open refuses a log of the other byte order" refused "byte order"
check "ncmpilog refuses a log of the other byte order" log_refused "byte order"

check "a killed program leaves a log: replaced dataset" crash
cp "$file" "$where/b.nc" && rm "$file" && mv "$where/b.nc" "$file"
check "an open refuses a log of an earlier dataset with this name" refused "another file that had this name"
check "ncmpilog refuses a log of an earlier dataset with this name" log_refused "another file that had this name"

check "a killed program leaves a log: changed definitions" crash
at=$(LC_ALL=C grep -abo -P '\x01v\x00' "$file" | cut -d: -f1 | head -n 1)
poke "$file" $((at + 44)) '\005' # changes the type, which follows the name, dimensions and (no) attributes, to float
cp "$file" "$where/before.nc"
check "an open refuses a log with other definitions" refused "different definitions"
check "ncmpilog refuses a log with other definitions" log_refused "different definitions"
# No sync had made these definitions or values durable before the log was damaged.
printf 'another start of this machine\n' >"$where/boot"
check "after a power cut, an open ignores a log with other definitions" env BURST_BOOT="$where/boot" BURST_CALLS_DIR=/nowhere \
    "$program" check "$file" "$told.none" synced
check "after a power cut, an open removes a log with other definitions" test -z "$(ls "$logs")"

left() { # NAME...: replaces the metadata log with these incomplete files
    local name
    stem=$logs/$(basename "$(meta)" .meta)
    for name; do printf PnetCDF1 >"$stem.$name"; done
    rm -f "$stem.meta"
}
check "a killed program leaves a log: metadata log removed" crash
rm -f "$(meta)"
check "ncmpilog reports a data log without its metadata log" fails ./ncmpilog verify "$logs"
report() { PNETCDF_HINTS="$hints;nc_report=$where/report" $program check "$file" "$told.none" put; }
check "a dataset opens if a metadata log is missing" report
check "an open reports a data log without its metadata log" grep -q "log skipped: .*[.]data, whose metadata log" "$where/report"
check "an open keeps a data log without its metadata log" test -n "$(ls "$logs")"
for name in new done; do
    check "a killed program leaves a log: incomplete metadata ($name)" crash
    left data meta.$name
    check "ncmpilog ignores logs that were being created or removed ($name)" ./ncmpilog verify "$logs"
    check "a dataset opens beside logs that were being created or removed ($name)" report
    check "an open removes logs that were being created or removed ($name)" test -z "$(ls "$logs")"
done

for bytes in '' PnetC PnetCDF1 '\0\0\0\0\0\0\0\0'; do
    check "a killed program leaves a log: data log of '$bytes'" crash
    left
    rm -f "$where/report"
    printf '%b' "$bytes" >"$stem.data"
    check "ncmpilog ignores a data log that a power cut emptied ('$bytes')" ./ncmpilog verify "$logs"
    check "a dataset opens beside a data log that a power cut emptied ('$bytes')" report
    check "an open silently removes a data log that a power cut emptied ('$bytes')" test -z "$(ls "$logs"; grep -s 'log skipped' "$where/report")"
done

check "a killed program leaves a log: another file with its name" crash
left
printf mine >"$stem.data"
check "a dataset opens beside a file with a log's name" report
check "an open keeps another program's file with a log's name" grep -q '^mine$' "$stem.data"
rm -f "$stem.data"

# A log gets its name only once its header is complete, so a named log without a header is damaged.
lose_head() { # BYTES-KEPT REST
    local size; size=$(stat -c %s "$(meta)")
    truncate -s "$1" "$(meta)" && if [ "$2" = zero ]; then truncate -s "$size" "$(meta)"; fi
}
for head in '0 gone' '0 zero' '40 gone' '40 zero' '2000 gone'; do
    check "a killed program leaves a log: header removed ($head)" crash
    # shellcheck disable=SC2086 # expands to two arguments
    lose_head $head
    check "an open refuses a log without its header ($head)" refused "unfinished logs"
    check "ncmpilog refuses a log without its header ($head)" fails ./ncmpilog replay -q "$logs"
    check "an open keeps a log without its header ($head)" test -e "$(meta)"
done

check "a killed program leaves a log: dataset deleted" crash
rm "$file"
check "a deleted dataset cannot be opened although it has a log" fails opens
check "ncmpilog reports a log of a deleted dataset" fails ./ncmpilog replay -q "$logs"
check "ncmpilog keeps a log of a deleted dataset" test -s "$(meta)"
check "a new dataset gets no values from a deleted one's log" writes
check "creating a dataset removes the log of a deleted one" test -z "$(ls "$logs")"

rm -rf "$logs"
check "puts go to the file if the log directory is missing" writes
: >"$logs"
check "puts go to the file if the log directory is a file" writes
rm -f "$logs"; mkdir "$logs"; chmod a-w "$logs"
if [ -w "$logs" ]; then
    skip "puts go to the file if the log directory is not writable" "this user may"
else
    check "puts go to the file if the log directory is not writable" writes
fi
chmod u+w "$logs"

# Files that other users create in a world-writable directory of logs must be ignored.
prefix() { basename "$(meta)" | cut -d. -f1-3; } # BASE.HASH
plant() { # NAME COMMAND...: runs a command that creates a file with a log's name
    local name=$logs/$(prefix).0000000000000001.0.$1
    shift
    "$@" "$name"
}
of_nobody() { cp "$(meta)" "$1" && chown nobody "$1"; }
garbage() { echo garbage >"$1" && chown nobody "$1"; }
link_to() { ln -s "$(meta)" "$1"; }
replays() { opens && cmp "$file" "$where/replayed.nc"; }
check "a killed program leaves a log: others' files beside it" crash
cp --preserve=all "$file" "$where/left.nc" && cp -rp "$logs" "$where/left"
test/burst/burst_old_notes "$where/left"
# Keeps the original files alive through second links, because the library treats copies of logs
# differently.
mkdir "$where/same" && ln "$logs"/* "$where/same"
check "an open replays a log in its own files" opens
cp "$file" "$where/replayed.nc"
again() {
    local log
    rm -rf "$logs" && mkdir "$logs" || return 1
    for log in "$where"/left/*; do
        cat "$log" >"$where/same/${log##*/}" && ln "$where/same/${log##*/}" "$logs" || return 1
    done
    cat "$where/left.nc" >"$file" && touch -r "$where/left.nc" "$file" && same_id
}
# Each create gives the file a new dataset id and removes the token that ties the logs to it. The
# logs are refused unless both the id and the token are restored.
same_id() {
    python3 - "$file" "$where/left.nc" <<'END'
import os, sys
try:
    for name in "user.ncmpi.id", "user.ncmpi.logs":
        os.setxattr(sys.argv[1], name, os.getxattr(sys.argv[2], name))
except OSError:
    pass
END
}
kinds="link_to mkfifo mkdir"
if [ "$(id -u)" = 0 ]; then kinds="$kinds of_nobody garbage"; fi
for kind in $kinds; do
    again
    check "another user's file is put beside a log: $kind" plant meta "$kind"
    check "an open ignores another user's file with a log's name ($kind)" timeout 60 "$BASH" -c \
        "$program check '$file' '$told' put && cmp '$file' '$where/replayed.nc'"
    check "an open keeps another user's file with a log's name ($kind)" test -n "$(ls "$logs")"
    check "create ignores another user's file with a log's name ($kind)" $program write "$file" "$where/new"
    check "create keeps another user's file with a log's name ($kind)" test -n "$(ls "$logs")"
done
# While one process recovers the logs in an open, other opens wait until that process has finished
# or died.
waits() {
    local pid there
    again || return 1
    ls "$logs"/*.data >/dev/null || return 1
    rm -f "$where/locked"
    (exec 9<"$(ls "$logs"/*.data)"; flock -x 9; : >"$where/locked"; exec sleep 300) &
    there=$!
    until [ -e "$where/locked" ]; do sleep 0.01; done
    opens >"$where/out" 2>&1 &
    pid=$!
    sleep 1
    kill -0 $pid || { echo "it did not wait"; cat "$where/out"; kill $there; return 1; }
    kill -KILL $there
    wait $there 2>/dev/null
    wait $pid && cmp "$file" "$where/replayed.nc"
}
check "an open waits for a process that recovers, but not for a dead one" waits

# Several opens run at the same time. The first one recovers the logs, and each of them reads all
# values.
at_once() {
    local pids=() pid k bad=0
    again || return 1
    for k in 1 2 3 4; do
        opens >"$where/out.$k" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || bad=1; done
    [ $bad = 0 ] || cat "$where"/out.?
    [ $bad = 0 ] && [ -z "$(ls "$logs")" ]
}
check "concurrent opens read all logged values" at_once

# Kills the process that recovers the logs at various points. The next open must still recognize the
# file to which the log belongs.
recovery_dies() {
    local point killed=0
    for point in $(seq 2 5 90); do
        again || return 1
        { BURST_CALLS_DIR=$where/ BURST_KILL_AT=$point opens; } >"$where/out" 2>&1 || killed=$((killed + 1))
        opens || { echo "after point $point"; return 1; }
        [ -z "$(ls "$logs")" ] || { ls "$logs"; return 1; }
    done
    [ $killed -gt 5 ]
}
check "an open finishes a recovery that was killed" recovery_dies

if [ "$(id -u)" = 0 ]; then
    again
    check "a dataset and its log are given to another user" chown nobody "$file" "$logs"/*
    cp "$file" "$where/before.nc"
    check "an open refuses a log of the dataset's owner" refused "belongs to user"
    rm -f "$file"
else
    skip "a dataset and its log are given to another user" "this user cannot give files away"
fi
rm -rf "$logs"
check "a killed program leaves a log: data log is a symbolic link" crash
mv "$(ls "$logs"/*.data)" "$where/values" && ln -s "$where/values" "$(meta | sed 's/meta$/data/')"
check "an open refuses a data log that is a symbolic link" refused "Operation not permitted"

again_foreign() {
    crash || return 1
    local stem; stem=$logs/$(prefix).0000000000000001.0
    rm -rf "$where/foreign" && mkdir "$where/foreign"
    test/burst/burst_foreign write "$where/other.nc" "$where/foreign" || return 1
    rm -f "$logs"/*
    cp "$where/foreign/a.nc_1_0.meta" "$stem.meta" && cp "$where/foreign/a.nc_1_0.data" "$stem.data"
}
check "a log has PnetCDF's format" again_foreign
check "an open refuses a log in PnetCDF's format" refused "replay it with ncmpilog"
rm -rf "$logs"; mkdir "$logs"

# Several jobs whose datasets have the same name share one directory of logs.
two_jobs() {
    local k pids=()
    for k in 1 2 3; do
        mkdir -p "$where/job$k"
        (BURST_PUTS=60 $program write "$where/job$k/a.nc" "$where/job$k/told") &
        pids+=($!)
    done
    for k in "${pids[@]}"; do wait "$k" || return 1; done
    for k in 1 2 3; do
        BURST_PUTS=60 PNETCDF_HINTS='' $program check "$where/job$k/a.nc" "$where/job$k/told" put || return 1
    done
    [ -z "$(ls "$logs")" ]
}
check "concurrent jobs share a log directory without conflicts" two_jobs

# While a job runs, another job that opens the dataset must not touch the first job's log.
in_use() {
    local held lost=0 there
    crash || return 1
    exec {held}<"$(meta)"
    flock -s "$held" || return 1
    opens >"$where/out" 2>&1 || lost=$?
    there=$(meta | wc -l)
    exec {held}<&-
    cat "$where/out"
    [ $lost = 1 ] && [ "$there" = 1 ] && cmp "$file" "$where/before.nc" && opens
}
check "a log in use is left alone, and replayed later" in_use

# A log contains values from the dataset, so only its owner may access it.
private_logs() {
    rm -rf "$logs" "$file" "$told".*
    mkdir -m 777 "$logs" || return 1
    if command -v setfacl >/dev/null; then setfacl -d -m u:nobody:rwx,m::rwx "$logs"; fi 2>/dev/null
    (umask 0 && { BURST_CALLS_DIR=$where/ BURST_KILL_AT=56 $program write "$file" "$told"; } 2>/dev/null)
    chmod 666 "$file" && [ "$(ls "$logs" | wc -l)" = 2 ] || return 1
    [ "$(stat -c %a "$logs"/* | sort -u)" = 600 ] || { stat "$logs"/*; return 1; }
    if command -v getfacl >/dev/null; then ! getfacl -p "$logs"/* | grep -E '^(user:nobody|group|mask|other):.*[rwx]' | grep -v 'effective:---'; fi
}
check "only the owner may read or write a log" private_logs

nonsense='nc_burst_buf_flush=perhaps nc_burst_buf_threads=-3 nc_burst_buf_threads=many
    nc_burst_buf_bandwidth=fast nc_burst_buf_flush_buffer_size=-1
    nc_burst_buf_flush_buffer_size=1x nc_burst_buf_shared_logs=2 nc_burst_buf_recover=no
    nc_burst_buf_del_on_close=later e10_cache=sometimes e10_cache_threads=0
    e10_cache_flush_flag=flush nc_burst_buf_dirname='
rm -rf "$logs"; mkdir "$logs"
for hint in $nonsense; do
    check "the invalid hint $hint is ignored" env PNETCDF_HINTS="$hints;$hint" "$BASH" -c \
        "rm -f '$file' '$told'.*; $program write '$file' '$told' && PNETCDF_HINTS= $program check '$file' '$told' put"
done
check "the invalid hint nc_burst_buf=maybe is ignored" env PNETCDF_HINTS="nc_burst_buf=maybe" "$BASH" -c \
    "rm -f '$file' '$told'.*; $program write '$file' '$told' && $program check '$file' '$told' put"
finish
