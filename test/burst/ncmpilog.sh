#!/bin/bash
# Tests how ncmpilog shows, verifies and replays the logs of a killed program.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-log.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_killed
out=$where/out

# Creates a dataset and a log with about 8 completed puts, by killing the program.
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

check "a killed program leaves a log" crash
check "list succeeds for intact logs" log list "$where/logs"
check "list prints the number of entries" says "process 0 of 1 .* entries"
check "verify succeeds for intact logs" log verify "$where/logs"
check "verify reports that logs are intact" says "intact"
check "print succeeds for intact logs" log print "$where/logs"
check "print shows the regions of entries" says "vara int of variable 0.*start 2,0 count 1,1"
# in_json CONDITION COMMAND...: checks a Python condition, in which `d` is the command's JSON
# output, for the logs of one process and of three.
in_json() {
    local n
    for n in 1 3; do
        launch $n "$PWD/ncmpilog" "${@:2}" -j "$where/logs" >"$out" 2>/dev/null
        python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$out" || { cat "$out"; return 1; }
    done
}
if command -v python3 >/dev/null; then
    check "list prints JSON" in_json \
        'len(d) == 1 and d[0]["processes"] == 1 and d[0]["entries"] >= 3 and d[0]["drained"] == 0' list
    check "print prints JSON" in_json 'len(d[0]["list"]) == d[0]["entries"] and
        any(e["kind"] == "vara" and e["start"] == [2, 0] and e["count"] == [1, 1] for e in d[0]["list"])' print
    check "verify prints JSON" in_json 'd[0]["whole"] and d[0]["broken"] == [] and d[0]["waiting"] >= 3' verify
fi
check "a missing directory is an error" eval 'log list "$where/nothing"; [ $? = 2 ]'
check "logged values are not in the file before a replay" fails there
full() {
    local rc=0
    ./ncmpilog "$1" "$where/logs" >/dev/full 2>"$out" || rc=$?
    [ $rc = 2 ] && says '^ncmpilog: standard output: No space'
}
if [ -w /dev/full ]; then
    for command in list verify print; do check "full disk: $command" full $command; done
fi
replay_by_two() { launch 2 "$PWD/ncmpilog" replay "$where/logs" >"$out"; }
check "two processes replay logs" replay_by_two
check "a replay prints how much it wrote" says "a.nc: replayed [1-9][0-9]* bytes from 1 log$"
check "a replay writes all values to the dataset" there
cp "$where/a.nc" "$where/once.nc"
check "a second replay succeeds" log replay "$where/logs"
check "a second replay prints that it wrote nothing" says "a.nc: nothing to replay in 1 log$"
check "a second replay changes no byte" cmp "$where/a.nc" "$where/once.nc"
check "replay -r succeeds" log replay -r "$where/logs"
check "replay -r prints how many logs it removed" says "in 1 log, removed 1$"
check "replay -r removes the logs" test -z "$(ls "$where/logs")"
check "a replay without logs succeeds" log replay "$where/logs"
check "a replay without logs prints this" says "logs: no logs$"

check "a killed program leaves a log, which is then damaged" crash
printf X | dd of="$(ls "$where"/logs/*.data)" bs=1 seek=10 conv=notrunc 2>/dev/null
check "verify detects a damaged value" fails log verify "$where/logs"
check "verify reports the region of a damaged value" says "lost: .*variable 0.*start 0,0 count 1,1"
if command -v python3 >/dev/null; then
    check "verify reports a damaged value in JSON" in_json 'not d[0]["whole"] and d[0]["broken"][0]["variable"] == 0' verify
fi
check "replay refuses a damaged log" fails log replay "$where/logs"
check "replay -k reports a damaged value" fails log replay -q -k "$where/logs"
check "replay -k does not write a damaged value" fails there
cp "$where/a.nc" "$where/copy.nc"
foreign=test/burst/burst_foreign
rm -rf "$where/logs" "$where/a.nc"
mkdir "$where/logs"
check "logs are written in PnetCDF's documented format" $foreign write "$where/a.nc" "$where/logs"
check "list succeeds for PnetCDF's logs" log list "$where/logs"
check "list prints the version and process of PnetCDF's logs" says "version 0.*a.nc, process 2 of 3 on node7.site, 1 entries"
check "verify accepts PnetCDF's logs, which have no checksums" log verify "$where/logs"
check "print succeeds for PnetCDF's logs" log print "$where/logs"
check "print shows the regions of PnetCDF's entries" says "vars double of variable 0.*start 1,1 count 1,3 stride 1,2"
check "two processes replay PnetCDF's logs" launch 2 "$PWD/ncmpilog" replay -q -d "$where/a.nc" "$where/logs"
check "a replay of PnetCDF's logs writes all values" $foreign check "$where/a.nc"
truncate -s -1 "$where/logs/a.nc_1_1.data"
check "verify detects a truncated data log" fails log verify "$where/logs"
check "replay refuses a truncated data log" fails log replay -q -d "$where/a.nc" "$where/logs"
rm -rf "$where/logs" "$where/a.nc"
mkdir "$where/logs"
check "a log has an entry with an impossible record" $foreign far "$where/a.nc" "$where/logs"
check "replay refuses an impossible record" fails log replay -q -d "$where/a.nc" "$where/logs"
check "an impossible record is reported as not fitting the dataset" says "does not fit the dataset"

# The logs in pnetcdf-logs were written by PnetCDF 1.15. Each of its two processes was killed after
# one put. Process r put the values 10 r ... 10 r + 9 into v(x), starting at index 10 r.
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
if [ "$(printf '\1\0' | od -An -t u2 | tr -d ' ')" != 1 ]; then kinds=(); fi # the logs are little-endian
for kind in "${kinds[@]}"; do
    # shellcheck disable=SC2086 # two words
    set -- $kind
    check "logs of a killed PnetCDF program are copied (CDF-$1)" as_written "$1" "$2_"
    check "list succeeds for logs of a killed PnetCDF program (CDF-$1)" log list "$where/logs"
    check "list prints the dataset of a killed PnetCDF program (CDF-$1)" \
        says "$2_1.meta: version 0, /dev/shm/nc/k$1.nc, process 1 of 2 on vm, 1 entries"
    check "verify accepts logs of a killed PnetCDF program (CDF-$1)" log verify "$where/logs"
    check "print succeeds for logs of a killed PnetCDF program (CDF-$1)" log print "$where/logs"
    check "print shows the regions of a killed PnetCDF program's puts (CDF-$1)" \
        says "vara int of variable 0, call 0, process 1 start 10 count 10, 40 bytes at 8"
    check "two processes replay logs of a killed PnetCDF program (CDF-$1)" \
        launch 2 "$PWD/ncmpilog" replay -q -r -d "$where/a.nc" "$where/logs"
    check "a replay writes the values of a killed PnetCDF program (CDF-$1)" values_are "$numbers"
    check "replay -r removes logs of a killed PnetCDF program (CDF-$1)" test -z "$(ls "$where/logs")"
done

# PnetCDF's incomplete and shared logs

# kept COMMAND...: checks that the command fails and changes neither the logs nor the dataset.
kept() {
    rm -rf "$where/was" && mkdir "$where/was" && cp -r "$where/logs" "$where/a.nc" "$where/was" || return 1
    if "$@"; then echo "it succeeds"; return 1; fi
    diff -r "$where/was/logs" "$where/logs" && cmp "$where/was/a.nc" "$where/a.nc"
}
replay_all() { log replay -q -r "$@" -d "$where/a.nc" "$where/logs"; }
if [ ${#kinds[@]} -gt 0 ]; then
    check "one of two PnetCDF logs is missing" as_written 5 k5.nc_0_0
    check "verify detects a missing PnetCDF log" fails log verify "$where/logs"
    check "verify names the process of a missing PnetCDF log" says "no log of process 1 of 2"
    check "replay changes nothing if a PnetCDF log is missing" kept replay_all
    check "replay reports a missing PnetCDF log" says "logs of 1 of 2 processes are missing from $where/logs:"
    twice() { as_written 5 k5.nc_0_0 && cp "$where/logs/k5.nc_0_0.meta" "$where/logs/k5.nc_0_1.meta" &&
        cp "$where/logs/k5.nc_0_0.data" "$where/logs/k5.nc_0_1.data"; }
    check "two PnetCDF logs have the same process" twice
    check "verify detects duplicate PnetCDF logs" fails log verify "$where/logs"
    check "replay changes nothing if PnetCDF logs are duplicates" kept replay_all
    check "replay reports duplicate PnetCDF logs" says "some logs are duplicates"
    two_openings() { as_written 5 k5.nc_0 && for f in "$where"/logs/*; do cp "$f" "${f/nc_0_/nc_1_}"; done; }
    check "a dataset has PnetCDF logs of two opens" two_openings
    check "replay refuses logs of two opens, whose order is unknown" kept replay_all
    check "replay explains that the order of opens is unknown" says "the order of the opens"
    check "the logs of one open are replayed when named" log replay -q -r -d "$where/a.nc" "$where"/logs/k5.nc_1_*.meta
    check "the remaining logs are replayed afterwards" replay_all
    check "replaying the logs of two opens in turn writes all values" values_are "$numbers"
    # -k replays intact entries and retains the others.
    damaged() { as_written 5 k5.nc_0 && truncate -s -1 "$where/logs/k5.nc_0_1.data"; }
    check "a PnetCDF log lacks a value" damaged
    check "replay changes nothing if a value is missing" kept replay_all
    check "replay -k reports a missing value" fails replay_all -k
    check "replay -k -r keeps the incomplete log" test "$(echo "$where"/logs/*.meta)" = "$where/logs/k5.nc_0_1.meta"
fi
shared=test/burst/burst_shared
share_log() { rm -rf "$where/logs" "$where/a.nc" && mkdir "$where/logs" && $shared write "$where/a.nc" "$where/logs"; }
check "two PnetCDF processes share a log" share_log
check "list succeeds for a shared PnetCDF log" log list "$where/logs"
check "list prints both processes of a shared PnetCDF log" says "process 0 (and 1 others) of 2 on node9, 140013 entries"
check "verify accepts a shared PnetCDF log" log verify "$where/logs"
check "print succeeds for a shared PnetCDF log" log print "$where/logs"
check "print shows the offset of values in a shared PnetCDF log" \
    says "vara double of variable 0, call 0, process 1 start 1100003 count 1000001, 8000008 bytes at 8388616"
check "one process replays a shared PnetCDF log" log replay -q "$where/logs"
check "a replay by one process writes all values of a shared log" $shared check "$where/a.nc"
share_log
check "two processes replay and remove a shared PnetCDF log" launch 2 "$PWD/ncmpilog" replay -q -r "$where/logs"
check "a replay by two processes writes all values of a shared log" $shared check "$where/a.nc"
check "replay -r removes a shared PnetCDF log" test -z "$(ls "$where/logs")"
share_log
truncate -s 8388608 "$where/logs/a.nc_3_0.meta"
check "verify detects that a shared log lacks a process's part" fails log verify "$where/logs"
check "verify names the process that a shared log lacks" says "no log of process 1 of 2"
check "replay changes nothing if a shared log lacks a part" kept replay_all

# store FILE OFFSET BYTES: writes bytes, in printf's notation, at an offset.
store() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
check "a PnetCDF log has no entries yet" as_written 5 'k5.nc_0_0'
truncate -s 112 "$where"/logs/*.meta
store "$where/logs/k5.nc_0_0.meta" 56 '\0160'
check "list succeeds for a log without entries" log list "$where/logs"
check "list prints that a log has no entries" says "0 entries"
store "$where/logs/k5.nc_0_0.meta" 56 '\003'
check "verify detects that entries are missing" fails log verify "$where/logs"
rm -rf "$where/logs"
check "a log has runs whose lengths add up to more than 2^64" test/burst/burst_hostile "$where/h.nc" "$where/logs"
cp "$where/h.nc" "$where/before.nc"
check "replay refuses runs longer than 2^64" fails log replay -q -f "$where/logs"
check "runs longer than 2^64 are reported as not fitting the dataset" says "does not fit the dataset"
check "refused runs longer than 2^64 change no byte" cmp "$where/h.nc" "$where/before.nc"
rm -rf "$where/logs"
check "a log has raw runs of a fill value" test/burst/burst_hostile "$where/h.nc" "$where/logs" fill
cp "$where/h.nc" "$where/before.nc"
check "replay refuses raw runs of a fill value" fails log replay -q -f "$where/logs"
check "they are reported as not fitting the dataset" says "does not fit the dataset"
check "they change no byte" cmp "$where/h.nc" "$where/before.nc"

check "list refuses a file that is no log" fails log list "$where/a.nc"
check "an unknown command is an error" fails log sing
finish
