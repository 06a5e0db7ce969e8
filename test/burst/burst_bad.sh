#!/bin/bash
# Logs and settings that are wrong: each is told or passed over, and never does the dataset
# get bytes that nobody wrote.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-bad.XXXXXX") || exit 99
trap 'launch_kill; chmod -R u+rwx "$where"; rm -rf "$where"' EXIT
program=test/burst/burst_killed
file=$where/a.nc logs=$where/logs told=$where/told
hints="nc_burst_buf=enable;nc_burst_buf_dirname=$logs"
export PNETCDF_HINTS=$hints

# Leaves a dataset and its log, of the 8 puts or so that returned.
crash() {
    rm -rf "$logs" "$file" "$told".*
    mkdir "$logs"
    { BURST_CALLS_DIR=$where/ BURST_KILL_AT=56 $program write "$file" "$told"; } 2>/dev/null
    [ "$(wc -c <"$told.0")" -gt 5 ] && cp "$file" "$where/before.nc"
}
meta() { printf '%s\n' "$logs"/*.meta; }
poke() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; } # bytes at a place
opens() { $program check "$file" "$told" put; }
# refused TEXT: opening fails, says this, and leaves the dataset as it is.
refused() {
    if opens >"$where/out" 2>&1; then echo "it was opened"; return 1; fi
    cat "$where/out"
    grep -q "$1" "$where/out" && cmp "$file" "$where/before.nc"
}
# by ncmpilog too
log_refused() {
    if ./ncmpilog replay -q "$logs" >"$where/out" 2>&1; then echo "it was replayed"; return 1; fi
    cat "$where/out"
    grep -q "$1" "$where/out" && cmp "$file" "$where/before.nc"
}
fails() { ! "$@"; }
writes() { rm -f "$file" "$told".*; $program write "$file" "$told" && PNETCDF_HINTS='' opens; }

check "a log of another version" crash
poke "$(meta)" 7 7
check "is refused when opening" refused "its version is '7'"
check "and by ncmpilog" log_refused "its version is '7'"

check "a log of the other byte order" crash
poke "$(meta)" 16 '\001\001\001\001'
check "is refused when opening" refused "byte order"
check "and by ncmpilog" log_refused "byte order"

check "a log of another dataset of that name" crash
cp "$file" "$where/b.nc" && rm "$file" && mv "$where/b.nc" "$file"
check "is refused when opening" refused "another file that had this name"
check "and by ncmpilog" log_refused "another file that had this name"

check "a log of other definitions" crash
at=$(LC_ALL=C grep -abo -P '\x01v\x00' "$file" | cut -d: -f1 | head -n 1)
poke "$file" $((at + 44)) '\005' # behind name, dimensions and no attributes: floats
cp "$file" "$where/before.nc"
check "is refused when opening" refused "other definitions"
check "and by ncmpilog" log_refused "other definitions"
# Nobody promised those definitions, nor these values.
printf 'another start of this machine\n' >"$where/boot"
check "but after a power cut it is passed over" env BURST_BOOT="$where/boot" BURST_CALLS_DIR=/nowhere \
    "$program" check "$file" "$told.none" synced
check "and goes" test -z "$(ls "$logs")"

left() { # NAME...: what a program that was killed then leaves beside the dataset
    local name
    stem=$logs/$(basename "$(meta)" .meta)
    for name; do printf PnetCDF1 >"$stem.$name"; done
    rm -f "$stem.meta"
}
check "values whose metadata log was taken away" crash
rm -f "$(meta)"
check "are told by ncmpilog" fails ./ncmpilog verify "$logs"
report() { PNETCDF_HINTS="$hints;nc_report=$where/report" $program check "$file" "$told.none" put; }
check "do not keep the dataset from being opened" report
check "are told then, too" grep -q "left alone: .*[.]data, whose metadata log" "$where/report"
check "and stay" test -n "$(ls "$logs")"
for name in new done; do
    check "a log that was half gone or half made ($name)" crash
    left data meta.$name
    check "is nobody's ($name)" ./ncmpilog verify "$logs"
    check "and goes when the dataset is opened ($name)" report
    check "all of it ($name)" test -z "$(ls "$logs")"
done

for bytes in '' PnetC PnetCDF1 '\0\0\0\0\0\0\0\0'; do
    check "a data log that the power cut left ('$bytes')" crash
    left
    rm -f "$where/report"
    printf '%b' "$bytes" >"$stem.data"
    check "is nobody's ('$bytes')" ./ncmpilog verify "$logs"
    check "and goes when the dataset is opened ('$bytes')" report
    check "all of it, without a word ('$bytes')" test -z "$(ls "$logs"; grep -s 'left alone' "$where/report")"
done

check "a dataset beside which lies a file with a log's name" crash
left
printf mine >"$stem.data"
check "opens" report
check "and the file stays" grep -q '^mine$' "$stem.data"
rm -f "$stem.data"

# A log is there whole before it has its name: without its head it was damaged.
lose_head() { # BYTES-KEPT REST
    local size; size=$(stat -c %s "$(meta)")
    truncate -s "$1" "$(meta)" && if [ "$2" = zero ]; then truncate -s "$size" "$(meta)"; fi
}
for head in '0 gone' '0 zero' '40 gone' '40 zero' '2000 gone'; do
    check "a log without a head ($head)" crash
    # shellcheck disable=SC2086 # two arguments
    lose_head $head
    check "is refused ($head)" refused "unfinished logs"
    check "and by ncmpilog ($head)" fails ./ncmpilog replay -q "$logs"
    check "and stays ($head)" test -e "$(meta)"
done

check "a log of a deleted file" crash
rm "$file"
check "leaves nothing to be opened" fails opens
check "is told by ncmpilog" fails ./ncmpilog replay -q "$logs"
check "is still there" test -s "$(meta)"
check "a new dataset of that name has nothing of it" writes
check "and the log is gone" test -z "$(ls "$logs")"

rm -rf "$logs"
check "without the directory all goes to the file" writes
: >"$logs"
check "so it does where that is a file" writes
rm -f "$logs"; mkdir "$logs"; chmod a-w "$logs"
if [ -w "$logs" ]; then
    skip "and where nobody may write" "this user may"
else
    check "and where nobody may write" writes
fi
chmod u+w "$logs"

# What others put beside the logs, where everybody may write, is none of this user's.
prefix() { basename "$(meta)" | cut -d. -f1-3; } # BASE.HASH
plant() { # NAME COMMAND...: made by somebody else, if that can be
    local name=$logs/$(prefix).0000000000000001.0.$1
    shift
    "$@" "$name"
}
of_nobody() { cp "$(meta)" "$1" && chown nobody "$1"; }
garbage() { echo garbage >"$1" && chown nobody "$1"; }
link_to() { ln -s "$(meta)" "$1"; }
replays() { opens && cmp "$file" "$where/replayed.nc"; }
check "a log to be replayed" crash
cp -p "$file" "$where/left.nc" && cp -rp "$logs" "$where/left"
# The very files that were left, not copies: they keep another name.
mkdir "$where/same" && ln "$logs"/* "$where/same"
check "is replayed" opens
cp "$file" "$where/replayed.nc"
again() {
    local log
    rm -rf "$logs" && mkdir "$logs" || return 1
    for log in "$where"/left/*; do
        cat "$log" >"$where/same/${log##*/}" && ln "$where/same/${log##*/}" "$logs" || return 1
    done
    cat "$where/left.nc" >"$file" && touch -r "$where/left.nc" "$file"
}
kinds="link_to mkfifo mkdir"
if [ "$(id -u)" = 0 ]; then kinds="$kinds of_nobody garbage"; fi
for kind in $kinds; do
    again
    check "beside a log of ours: $kind" plant meta "$kind"
    check "it is passed over ($kind)" timeout 60 "$BASH" -c \
        "$program check '$file' '$told' put && cmp '$file' '$where/replayed.nc'"
    check "and stays ($kind)" test -n "$(ls "$logs")"
    check "create passes it over, too ($kind)" $program write "$file" "$where/new"
    check "and leaves it there ($kind)" test -n "$(ls "$logs")"
done
# While one opening is at the logs, others wait until it has done, or is dead.
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
check "who recovers is waited for, and not when it is dead" waits

# Many openings at once: whoever comes first recovers, and nobody reads less.
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
check "of several openings at once none reads less" at_once

# Who recovers is killed, anywhere: the next one takes the file for what the log is of.
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
check "who recovers may be killed" recovery_dies

if [ "$(id -u)" = 0 ]; then
    again
    check "a log of the user who has the dataset" chown nobody "$file" "$logs"/*
    cp "$file" "$where/before.nc"
    check "is told" refused "that of user"
    rm -f "$file"
else
    skip "a log of the user who has the dataset" "this user cannot give files away"
fi
rm -rf "$logs"
check "a log whose values are a link" crash
mv "$(ls "$logs"/*.data)" "$where/values" && ln -s "$where/values" "$(meta | sed 's/meta$/data/')"
check "is refused" refused "Operation not permitted"

again_foreign() {
    crash || return 1
    local stem; stem=$logs/$(prefix).0000000000000001.0
    rm -rf "$where/foreign" && mkdir "$where/foreign"
    test/burst/burst_foreign write "$where/other.nc" "$where/foreign" || return 1
    rm -f "$logs"/*
    cp "$where/foreign/a.nc_1_0.meta" "$stem.meta" && cp "$where/foreign/a.nc_1_0.data" "$stem.data"
}
check "a log of PnetCDF's format" again_foreign
check "is not replayed by an open" refused "only ncmpilog"
rm -rf "$logs"; mkdir "$logs"

# Two jobs, each with a dataset of its own and of the same name, in one directory of logs.
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
check "jobs at once in one directory do not meet" two_jobs

# A job that still runs has its log: the other one that opens the dataset leaves it alone.
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

# A log holds what the dataset is to hold: it is its owner's alone.
private_logs() {
    rm -rf "$logs" "$file" "$told".*
    mkdir -m 777 "$logs" || return 1
    if command -v setfacl >/dev/null; then setfacl -d -m u:nobody:rwx,m::rwx "$logs"; fi 2>/dev/null
    (umask 0 && { BURST_CALLS_DIR=$where/ BURST_KILL_AT=56 $program write "$file" "$told"; } 2>/dev/null)
    chmod 666 "$file" && [ "$(ls "$logs" | wc -l)" = 2 ] || return 1
    [ "$(stat -c %a "$logs"/* | sort -u)" = 600 ] || { stat "$logs"/*; return 1; }
    if command -v getfacl >/dev/null; then ! getfacl -p "$logs"/* | grep -E '^(user:nobody|group|mask|other):.*[rwx]' | grep -v 'effective:---'; fi
}
check "nobody else may read or write a log" private_logs

nonsense='nc_burst_buf_flush=perhaps nc_burst_buf_threads=-3 nc_burst_buf_threads=many
    nc_burst_buf_bandwidth=fast nc_burst_buf_flush_buffer_size=-1
    nc_burst_buf_flush_buffer_size=1x nc_burst_buf_shared_logs=2 nc_burst_buf_recover=no
    nc_burst_buf_del_on_close=later e10_cache=sometimes e10_cache_threads=0
    e10_cache_flush_flag=flush nc_burst_buf_dirname='
rm -rf "$logs"; mkdir "$logs"
for hint in $nonsense; do
    check "$hint is passed over" env PNETCDF_HINTS="$hints;$hint" "$BASH" -c \
        "rm -f '$file' '$told'.*; $program write '$file' '$told' && PNETCDF_HINTS= $program check '$file' '$told' put"
done
check "nc_burst_buf=maybe is passed over" env PNETCDF_HINTS="nc_burst_buf=maybe" "$BASH" -c \
    "rm -f '$file' '$told'.*; $program write '$file' '$told' && $program check '$file' '$told' put"
finish
