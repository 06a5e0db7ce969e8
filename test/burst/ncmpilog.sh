#!/bin/bash
# ncmpilog shows, verifies and replays what a killed program left.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-log.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
out=$where/out

# Leaves a dataset and its log, of the 8 puts or so that returned.
crash() {
    rm -rf "$where"/logs "$where"/a.nc
    mkdir "$where/logs"
    { PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_dirname=$where/logs" \
        BURST_CALLS_DIR=$where/ BURST_KILL_AT=56 $program write "$where/a.nc" "$where/told"; } \
        2>/dev/null
    [ "$(wc -c <"$where/told.0")" -gt 5 ]
}
log() { ./ncmpilog "$@" >"$out" 2>&1; local rc=$?; cat "$out"; return $rc; }
says() { grep -q "$1" "$out" || { cat "$out"; return 1; }; }
fails() { ! "$@"; }
there() { PNETCDF_HINTS= $program check "$where/a.nc" "$where/told" put; }

check "a program is killed" crash
check "the log is listed" log list "$where/logs"
check "with its entries" says "process 0 of 1 .* entries"
check "it is whole" log verify "$where/logs"
check "and says so" says "whole"
check "its entries are printed" log print "$where/logs"
check "with their regions" says "vara int of variable 0.*start 2,0 count 1,1"
# in_json SCRIPT COMMAND...: what is said, as JSON d, is so; by one process and by three.
in_json() {
    local n
    for n in 1 3; do
        launch $n "$PWD/ncmpilog" "${@:2}" -j "$where/logs" >"$out" 2>/dev/null
        python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$out" || { cat "$out"; return 1; }
    done
}
if command -v python3 >/dev/null; then
    check "list: JSON" in_json \
        'len(d) == 1 and d[0]["processes"] == 1 and d[0]["entries"] >= 3 and d[0]["drained"] == 0' list
    check "print: JSON" in_json 'len(d[0]["list"]) == d[0]["entries"] and
        any(e["kind"] == "vara" and e["start"] == [2, 0] and e["count"] == [1, 1] for e in d[0]["list"])' print
    check "verify: JSON" in_json 'd[0]["whole"] and d[0]["broken"] == [] and d[0]["waiting"] >= 3' verify
fi
check "a directory that is not there" eval 'log list "$where/nothing"; [ $? = 2 ]'
check "what was written is not in the file yet" fails there
full() {
    local rc=0
    ./ncmpilog "$1" "$where/logs" >/dev/full 2>"$out" || rc=$?
    [ $rc = 2 ] && says '^ncmpilog: standard output: No space'
}
if [ -w /dev/full ]; then
    for command in list verify print; do check "full disk: $command" full $command; done
fi
check "two processes replay it" launch 2 "$PWD/ncmpilog" replay -q "$where/logs"
check "then it is there" there
cp "$where/a.nc" "$where/once.nc"
check "once more" log replay "$where/logs"
check "and the bytes are the same" cmp "$where/a.nc" "$where/once.nc"
check "told to, it removes the logs" log replay -q -r "$where/logs"
check "there are none" test -z "$(ls "$where/logs")"

check "another crash" crash
printf X | dd of="$(ls "$where"/logs/*.data)" bs=1 seek=10 conv=notrunc 2>/dev/null
check "a broken value is found" fails log verify "$where/logs"
check "with its region" says "lost: .*variable 0.*start 0,0 count 1,1"
if command -v python3 >/dev/null; then
    check "in JSON, too" in_json 'not d[0]["whole"] and d[0]["broken"][0]["variable"] == 0' verify
fi
check "replaying refuses" fails log replay "$where/logs"
check "told to, it replays the rest" fails log replay -q -k "$where/logs"
check "the first value is lost and no other" fails there
cp "$where/a.nc" "$where/copy.nc"
foreign=test/burst/burst_foreign
rm -rf "$where/logs" "$where/a.nc"
mkdir "$where/logs"
check "logs are written as PnetCDF's grammar has them" $foreign write "$where/a.nc" "$where/logs"
check "they are listed" log list "$where/logs"
check "with their version and process" says "version 0.*a.nc, process 2 of 3 on node7.site, 1 entries"
check "they are whole, without checksums" log verify "$where/logs"
check "their entries are printed" log print "$where/logs"
check "as those of the grammar" says "vars double of variable 0.*start 1,1 count 1,3 stride 1,2"
check "two processes replay them" launch 2 "$PWD/ncmpilog" replay -q -d "$where/a.nc" "$where/logs"
check "what they hold is in the dataset" $foreign check "$where/a.nc"
truncate -s -1 "$where/logs/a.nc_1_1.data"
check "values that are missing are found" fails log verify "$where/logs"
check "and nothing is replayed" fails log replay -q -d "$where/a.nc" "$where/logs"
rm -rf "$where/logs" "$where/a.nc"
mkdir "$where/logs"
check "a log has a record that there cannot be" $foreign far "$where/a.nc" "$where/logs"
check "it is not replayed" fails log replay -q -d "$where/a.nc" "$where/logs"
check "because the entry does not fit" says "does not fit the dataset"

# What PnetCDF 1.15 itself wrote (pnetcdf-logs), of two processes that were killed behind a
# put: process r had put 10 r ... 10 r + 9 into v(x) from place 10 r on.
as_written() { # FORMAT NAME
    rm -rf "$where/logs" "$where/a.nc"
    mkdir "$where/logs" && cp "$top/test/burst/pnetcdf-logs/$2"* "$where/logs" || return 1
    printf 'netcdf a { dimensions: x = 20; variables: int v(x); }' |
        ./ncmpigen -b -k $1 -o "$where/a.nc" -
}
values_are() {
    ./ncmpidump -v v "$where/a.nc" | tr -d ' \n' | grep -q "v=$1;}"
}
numbers=$(seq -s , 0 19) kinds=('2 k2.nc_0' '5 k5.nc_0')
if [ "$(printf '\1\0' | od -An -t u2 | tr -d ' ')" != 1 ]; then kinds=(); fi # their byte order
for kind in "${kinds[@]}"; do
    # shellcheck disable=SC2086 # two words
    set -- $kind
    check "a dataset as a killed program of PnetCDF's left it (CDF-$1)" as_written "$1" "$2_"
    check "its logs are listed (CDF-$1)" log list "$where/logs"
    check "with what they are of (CDF-$1)" \
        says "$2_1.meta: version 0, /dev/shm/nc/k$1.nc, process 1 of 2 on vm, 1 entries"
    check "they are whole (CDF-$1)" log verify "$where/logs"
    check "their entries are printed (CDF-$1)" log print "$where/logs"
    check "as they were put (CDF-$1)" \
        says "vara int of variable 0, call 0, process 1 start 10 count 10, 40 bytes at 8"
    check "two processes replay them (CDF-$1)" \
        launch 2 "$PWD/ncmpilog" replay -q -r -d "$where/a.nc" "$where/logs"
    check "the values are those that were put (CDF-$1)" values_are "$numbers"
    check "and the logs are gone (CDF-$1)" test -z "$(ls "$where/logs")"
done

# store FILE PLACE BYTES: bytes, as printf writes them, at a place.
store() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
check "a log in which nothing was put yet" as_written 5 'k5.nc_0_0'
truncate -s 112 "$where"/logs/*.meta
store "$where/logs/k5.nc_0_0.meta" 56 '\0160'
check "has no entries" log list "$where/logs"
check "and says so" says "0 entries"
store "$where/logs/k5.nc_0_0.meta" 56 '\003'
check "nor has it three that are not there" fails log verify "$where/logs"
rm -rf "$where/logs"
check "runs whose lengths come to more than 2^64" test/burst/burst_hostile "$where/h.nc" "$where/logs"
cp "$where/h.nc" "$where/before.nc"
check "are refused" fails log replay -q -f "$where/logs"
check "because the entry does not fit" says "does not fit the dataset"
check "and nothing is written" cmp "$where/h.nc" "$where/before.nc"

check "what is no log is told" fails log list "$where/a.nc"
check "wrong usage is told" fails log sing
finish
