#!/bin/bash
# Tests ncmpitrace on generated traces: the table for a trace with known totals, the advice for each
# pattern of calls, the pictures, and the errors for files that are not valid traces.
. "${srcdir:-.}/test/utils/tool_lib.sh"
tool=$PWD/ncmpitrace
usual "$tool" 1
if ! grep -q 'define HAVE_JANSSON 1' config.h; then
    echo '[' >"$work/t.json"
    check "without jansson a trace is refused" refused 1 'built without jansson' "$tool" "$work/t.json"
    finish
fi

# event NAME CAT PID TS DUR ARGS: prints an event in trace format.
event() { echo "{\"name\":\"$1\",\"cat\":\"$2\",\"ph\":\"X\",\"pid\":$3,\"tid\":0,\"ts\":$4,\"dur\":$5,\"args\":{\"set\":7$6}},"; }
note() { echo "{\"name\":\"$1\",\"cat\":\"note\",\"ph\":\"i\",\"s\":\"t\",\"pid\":$2,\"tid\":0,\"ts\":1000,\"args\":{\"set\":7$3}},"; }

# Two processes on two nodes put 200 small records each. In each call, which takes 1000
# microseconds, process 1 arrives 900 microseconds late. Both processes write to the first stripe.
records() {
    echo '['
    note dataset 0 ',"path":"a.nc","host":"n0","rank":0,"processes":2'
    note dataset 1 ',"path":"a.nc","host":"n1","rank":1,"processes":2'
    note file 0 ',"stripe":65536,"stripes":4'
    note variable 0 ',"var":3,"variable":"wind","record":1'
    for p in 0 1; do
        note frames $p ',"var":3,"values":400000,"frames":100000,"us":1500.000'
    done
    local i at
    for i in $(seq 200); do
        at=$((1000 + i * 2000))
        event agreement part 0 $at 1000 ",\"number\":$i"
        event agreement part 1 $((at + 900)) 100 ",\"number\":$i"
        for p in 0 1; do
            event write part $p $((at + 1000)) 100 ",\"offset\":$((p * 4000)),\"bytes\":4000"
            event ncmpi_put_vara_all call $p $((at + p * 900)) $((1200 - p * 900)) \
                ",\"calls\":{\"ncmpi_put_vara_all\":{\"n\":1,\"us\":$((1200 - p * 900)).000,\"own\":100.000,\"bytes\":4000,\"var\":3}}"
        done
    done
}
records >"$work/t.json"
table() { "$tool" "$work/t.json" >"$work/out" 2>"$work/err" && ! [ -s "$work/err" ]; }
# line PATTERN: succeeds if the table contains a line that matches, after squeezing its blanks.
line() { table && tr -s ' ' <"$work/out" | grep -qxE -- "$1" || { cat "$work/out"; return 1; }; }

check "the number of processes and the time are printed" line "2 processes, 0.4012 s from the first call to the end of the last; 37.4 % of it in calls"
check "a call is printed" line "ncmpi_put_vara_all 400 100.0 0.0600 0.1500 0.2400 1562 KiB 0.0012"
check "an agreement is printed" line "agreement 400 73.3 0.0200 0.1100 0.2000 0 B 0.0010"
check "a write is printed" line "write 400 13.3 0.0200 0.0200 0.0200 1562 KiB 0.0001"
check "the library's own time is printed" line "\(the library\) 13.3 0.0200"
check "the process that others waited for is named" line " for process 1 \(n1\): 0.1800 s, 100 %"
check "the sizes of writes are printed" line "writes 400 0 0 0 0"
check "stripes that several nodes write are counted" line "stripes written: 1, by several nodes: 1"
check "a compressed variable is printed" line "wind 781 KiB 195 KiB 4.00 0.0030"
advises() {
    "$tool" -j "$work/t.json" >"$work/json" || return 1
    python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
rules = [a["rule"] for a in d["advice"]]
assert rules == sys.argv[2].split(), rules
assert all(a["words"] for a in d["advice"])' "$work/json" "$1"
}
if command -v python3 >/dev/null; then
    check "advice is given" advises "small-collective one-late shared-stripes records"
else
    skip "advice is given" "no python3"
fi

# One process makes 1000 small puts. The trace summarises them in a few events.
echo '[' >"$work/t.json"
for i in $(seq 10); do
    event ncmpi_put_var1 call 0 $((i * 5000)) 400 ',"calls":{"ncmpi_put_var1":{"n":100,"us":300.000,"own":50.000,"longest":9.000,"bytes":400,"var":1}},"parts":{"write":{"n":100,"us":250.000,"longest":8.000,"bytes":400,"low":0,"high":400}}'
done >>"$work/t.json"
check "short calls and parts are summed up" line "ncmpi_put_var1 1000 100.0 0.0030 0.0030 0.0030 4000 B 0.0000"
if command -v python3 >/dev/null; then
    check "small puts are advised against" advises "small-independent"
fi
# rule RULE CALL PART: succeeds if this advice results from a trace in which PART takes most of the
# time of CALL.
rule() {
    { echo '['; event "$2" call 0 1000 1000 ",\"calls\":{\"$2\":{\"n\":1,\"us\":1000.000,\"own\":100.000}}"
      event "$3" part 0 1100 900 ""; } >"$work/t.json"
    advises "$1"
}
if command -v python3 >/dev/null; then
    check "conversion is advised against" rule conversion ncmpi_put_vara_all conversion
    check "growing headers are advised against" rule header-moves ncmpi_enddef "move data"
    check "filling is advised against" rule fill ncmpi_enddef fill
    check "syncing is advised against" rule sync ncmpi_sync "sync file"
    check "advice on compression is given" rule compression ncmpi_put_vara_all compression
fi

# share PID CALL MIB PART NUMBER MIB-MOVED OFFSET-MIB: prints a call that puts or gets MIB
# mebibytes. In NUMBER operations, the call's PART moves MIB-MOVED mebibytes to or from the file at
# this offset.
share() {
    local bytes=$(($3 << 20)) low=$(($7 << 20))
    event "$2" call "$1" $((1000 + $1)) 1000 ",\"calls\":{\"$2\":{\"n\":1,\"us\":1000.000,\"own\":100.000,\"bytes\":$bytes}},\"parts\":{\"$4\":{\"n\":$5,\"us\":800.000,\"bytes\":$(($6 << 20)),\"low\":$low,\"high\":$((low + ($6 << 20)))}}"
}
# case_of RULES: succeeds if the calls on standard input lead to exactly this advice.
case_of() { { echo '['; cat; } >"$work/t.json"; advises "$1"; }
one_puts() { { share 0 ncmpi_put_vara_all 64 write 4 64 0; for p in 1 2 3; do share $p ncmpi_put_vara_all 0 write 1 0 0; done; } | case_of "$1"; }
each_puts() { for p in 0 1 2 3; do share $p ncmpi_put_vara_all 16 write 4 16 $((16 * p)); done | case_of "$1"; }
each_gets() { for p in 0 1 2 3; do share $p ncmpi_get_vara_all "$1" read 4 "$2" $(($3 * p)); done | case_of "$4"; }
if command -v python3 >/dev/null; then
    check "puts of everything by one process are advised against" one_puts one-puts-all
    check "puts of each process's part cause no advice" each_puts ""
    check "gets of everything by each process are advised against" each_gets 16 16 0 "all-get-all read-again"
    check "gets of everything with few reads are advised against" each_gets 64 16 16 all-get-all
    check "gets of each process's part cause no advice" each_gets 16 16 16 ""
    check "a stage that is too small is advised against" each_gets 8 12 2 read-again
    check "a stage with few repeated reads causes no advice" each_gets 4 3 2 ""
    many() { for p in 0 1; do share $p ncmpi_put_vars 4 write "$1" 4 $((4 * p)); done | case_of "$2"; }
    check "hundreds of writes by one put are advised against" many 400 many-writes
    check "a few writes by one put cause no advice" many 10 ""
fi

# ---- pictures ----

records >"$work/t.json"
picture() {
    "$tool" -d "$work/p.$1" "$work/t.json" >/dev/null && head -c 200 "$work/p.$1" | grep -qa "$2"
}
colours() { sed -n '/^} kinds/,/^};/s/.*"\(#[0-9a-f]*\)".*/\1/p' "$here/src/utils/ncmpitrace/trace_draw.c"; }
# Colours that are less than about 25 apart are hard to distinguish in small areas.
distinct() { [ "$(colours | wc -l)" = 8 ] && colours | awk -f "$here/test/utils/colours.awk" | awk '{ print } $1 < 25 { exit 1 }'; }
check "colours can be distinguished, also with red-green blindness" distinct
# Each colour of the picture is in the legend, and the picture has a white background.
explained() {
    local kind
    for kind in library exchange 'move, fill, log, drain, subfiles' 'open, sync, resize' \
        'waiting, agreeing' conversion write read; do
        grep -qE "<tspan[^>]*> ?$kind<" "$work/p.svg" || { echo "not explained: $kind"; return 1; }
    done
    grep -q '<rect .*fill="#ffffff"' "$work/p.svg"
}
if command -v gnuplot >/dev/null; then
    check "a picture is written as SVG" picture svg '<svg'
    check "a picture explains its colours" explained
    check "a picture is written as PNG" picture png PNG
    check "a picture in a missing directory is an error" refused 1 'gnuplot is not installed or failed' \
        "$tool" -d "$work/none/p.svg" "$work/t.json"
fi
check "a picture in another format is refused" refused 1 'in .svg or .png' "$tool" -d "$work/p.gif" "$work/t.json"

# ---- other files ----

bad() { printf '%s' "$1" >"$work/bad.json"; refused 1 "$2" "$tool" "$work/bad.json"; }
check "an empty file is refused" bad '' 'not a trace of this library'
check "a file that is no JSON is refused" bad 'The quick brown fox
' 'not a trace of this library'
check "JSON that is no trace is refused" bad '{"a": 1}
' 'not a trace of this library'
check "another program's trace is refused" bad '[
{"name":"x","ph":"X","pid":1,"tid":1,"ts":1,"dur":2},
{"name":"y","ph":"B","cat":"gpu","pid":1,"tid":1,"ts":1}]' 'not a trace of this library'
check "a missing file is an error" refused 1 'No such file' "$tool" "$work/none.json"
check "a directory is refused" refused 1 'Is a directory' "$tool" "$work"
# broken EVENT WHY: checks that an invalid event after valid ones is reported, and that the valid
# ones are still counted.
broken() {
    { head -n 100 "$work/t.json"; printf '%s\n' "$1"; } >"$work/bad.json"
    refused 1 "1 lines are invalid; the first one is line 101: .*$2" "$tool" "$work/bad.json" &&
        grep -q ncmpi_put_vara_all "$work/out"
}
check "an incomplete event is refused" broken '{"name":"write","cat"' ''
check "a rank out of range is refused" broken "$(event write part 99999999999 1 1 '')" 'more entries than a trace can have'
check "a negative time is refused" broken "$(event write part 0 1 -1 '')" 'a time that is out of range'
check "an offset beyond 2^63 is refused" broken "$(event write part 0 1 1 ',"offset":99999999999999999999')" ''
check "agreements longer than their call are refused" broken "$(event ncmpi_close call 0 1 1 \
    ',"calls":{},"parts":{"agreement":{"n":1000000000000,"us":1.000,"first":1,"last":1000000000000}}')" 'more entries than'
check "text for a number is refused" broken "$(event write part 0 1 1 ',"bytes":"many"')" 'a number that is out of range'
check "an event without a time is refused" broken '{"name":"write","cat":"part","ph":"X","pid":0,"args":{"set":7}},' 'not an event of this library'
check "a negative count is refused" broken "$(event write part 0 1 1 ',"number":-5')" 'a number that is out of range'
names() {
    { echo '['; for i in $(seq 300); do event "part$i" part 0 1 1 ''; done; } >"$work/bad.json"
    refused 1 'more entries than a trace can have' "$tool" "$work/bad.json"
}
check "too many names are refused" names
cut() {
    head -c $(($(wc -c <"$work/t.json") - 30)) "$work/t.json" >"$work/cut.json"
    status 0 "$tool" "$work/cut.json" && grep -q 'the last line is incomplete' "$work/err"
}
check "the trace of a killed program is printed" cut
if [ -w /dev/full ]; then
    check "full disk" refused 1 'standard output: No space' \
        bash -c '"$@" >/dev/full' - "$tool" "$work/t.json"
fi
finish
