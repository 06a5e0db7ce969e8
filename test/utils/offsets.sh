#!/bin/bash
# Tests ncoffsets, which prints the offsets of variables and records, gaps, and the free space in
# the header.
. "${srcdir:-.}/test/utils/tool_lib.sh"
offsets=$PWD/ncoffsets
usual "$offsets" 1
need ncgen

cat >"$work/t.cdl" <<'END'
netcdf t {
dimensions: t = UNLIMITED ; x = 3 ; y = 5 ;
variables: byte a(x) ; double b(y, x) ; short r(t, x) ; int s(t) ;
data: r = 1, 2, 3, 4, 5, 6 ; s = 1, 2 ;
}
END
ncgen -k classic -o "$work/t.nc" "$work/t.cdl" || exit 1

check "offsets are printed as text" says "CDF-1 file (classic) of 368 bytes
header: 220 bytes, followed by 0 free bytes
fixed-size variables: 2, from 220
record variables: 2, from 344, 2 records of 12 bytes

          start             end           bytes  gap before  variable (record variables: in record 0)
            220             223               3           0  byte a(x)
            224             344             120           0  double b(y, x)
            344             350               6           0  short r(t, x)
            352             356               4           0  int s(t)" "$offsets" "$work/t.nc"
check "-v --record: selects variables and a record" matches ' 376 +380 +4 +0  int s\(t\)' \
    "$offsets" -v s --record 2 "$work/t.nc"
check "-r: prints all records" eval 'status 0 "$offsets" -r -v s "$work/t.nc" &&
    grep -qE "^ +352 +356 +4 +0  int s\(t\), record 0$" "$work/out" && grep -qE "^ +364 +368 +4 +0  int s\(t\), record 1$" "$work/out"'
check "-s, -g: are accepted and have no effect" eval \
    '"$offsets" "$work/t.nc" >"$work/plain" && "$offsets" -sg "$work/t.nc" | cmp - "$work/plain"'
check "-x: succeeds if there are no gaps" says 0 "$offsets" -x "$work/t.nc"
json() {
    "$offsets" -j "$work/t.nc" | python3 -c '
import json, sys
d = json.load(sys.stdin)
v = {x["name"]: x for x in d["variables"]}
ok = (d["header_bytes"], d["record_bytes"], d["records"]) == (220, 12, 2)
ok = ok and (v["b"]["start"], v["b"]["bytes"]) == (224, 120) and v["r"]["record"]
sys.exit(not ok)'
}
if command -v python3 >/dev/null; then check "JSON" json; else skip "JSON" "no python3"; fi
if type ncks >/dev/null 2>&1; then
    roomy() {
        ncks -h -3 --hdr_pad 1000 "$work/t.nc" "$work/room.nc" &&
            says 1 "$offsets" -x "$work/room.nc" &&
            matches '^header: [0-9]* bytes, followed by [1-9][0-9]* free bytes' "$offsets" --gaps "$work/room.nc" &&
            [ "$(wc -l <"$work/out")" = 7 ]
    }
    check "--gaps: space after the header is a gap" roomy
fi
check "no such variable" refused 1 "no variable is named 'q'" "$offsets" -v q "$work/t.nc"
check "missing file" refused 1 'No such file' "$offsets" "$work/missing.nc"
if [ -w /dev/full ]; then
    check "full disk" refused 1 'standard output: No space' \
        bash -c '"$@" >/dev/full' - "$offsets" "$work/t.nc"
fi
corpus() {
    local file status n=0
    for file in "$here"/test/fuzz/corpus/*; do
        status=0
        "$offsets" -j "$file" >/dev/null 2>"$work/err" || status=$?
        [ $status = "$(wc -l <"$work/err")" ] && [ $status -le 1 ] ||
            { echo "$file: status $status"; cat "$work/err"; return 1; }
        n=$((n + status))
    done
    [ $n -gt 40 ]
}
check "hostile headers" corpus
finish
