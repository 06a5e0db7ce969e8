#!/bin/bash
# Tests ncmpidump --json: all types, attributes, text, fill values, values that JSON cannot
# represent as numbers, and variables that are read in several pieces. The JSON must have the same
# structure as that printed by ncks.
. "${srcdir:-.}/test/utils/tool_lib.sh"
dump=$PWD/ncmpidump
need ncgen python3

cat >"$work/t.cdl" <<'END'
netcdf t {
dimensions: t = UNLIMITED ; x = 3 ; y = 2 ; n = 4 ;
variables:
 double d(x, y) ; d:u = "m \"q\"\n" ; d:n = 1.5, 2.5 ; d:one = 7s ; d:bad = NaN ;
 float f(t, x, y) ; f:_FillValue = -1.f ;
 char c(x, n) ; char w(n) ; char s1 ; int s ; short z(t) ; byte b(n) ; double no(t) ; double time(t) ;
 time:units = "days since 1970-1-1" ;
 ubyte ub(y) ; ushort us(y) ; uint ui(y) ; int64 i(y) ; uint64 u(y) ;
 :title = "A\001\303\251\377" ; :empty = "" ;
data:
 d = 1, 2, 3, 4, Infinity, NaN ; f = 1, 2, 3, 4, 5, 6, -1, 8, 9, 10, 11, 12 ; c = "ab", "c", "\000x" ;
 w = "a\000bc" ; s1 = "q" ; s = 7 ; z = 1, 2 ; b = -1, 2, 3, 4 ; time = 0, 1.5 ;
 ub = 1, 255 ; us = 1, 65534 ; ui = 1, 4294967294 ; i = -9223372036854775000, 9 ; u = 1, 18446744073709551613ULL ;
}
END
"$PWD/ncmpigen" -k cdf5 -o "$work/t.nc" "$work/t.cdl" || exit 1

# python SCRIPT FILE...: runs the script. Its variable d is the parsed JSON of the first file, v
# that file's variables, and rest a list with the JSON of the other files.
python() { python3 -c "import json, sys
d, *rest = [json.load(open(f)) for f in sys.argv[1:]]
v = d.get('variables')
def same(a, b, what):
    if a != b: sys.exit('%s: %r, not %r' % (what, a, b))
$1" "${@:2}"; }
values() {
    "$dump" -j "$work/t.nc" >"$work/j" && python '
data = lambda n: v[n]["data"]
same(d["dimensions"], {"t": 2, "x": 3, "y": 2, "n": 4}, "dimensions")
same(d["unlimited"], "t", "unlimited")
same(data("d"), [[1, 2], [3, 4], ["Infinity", "NaN"]], "d")
same(data("f"), [[[1, 2], [3, 4], [5, 6]], [[None, 8], [9, 10], [11, 12]]], "f")
same(data("c"), ["ab", "c", "\0x"], "c")
same((data("w"), data("s1"), data("s"), data("z"), data("b")), ("a\0bc", "q", 7, [1, 2], [-1, 2, 3, 4]), "one dimension")
same((data("ub"), data("us"), data("ui")), ([1, 255], [1, 65534], [1, 4294967294]), "unsigned")
same((data("i"), data("u")), ([-9223372036854775000, 9], [1, 18446744073709551613]), "64 bits")
same((v["f"]["shape"], v["f"]["type"], v["u"]["type"]), (["t", "x", "y"], "float", "uint64"), "shape and type")
same(v["d"]["attributes"], {"u": {"type": "char", "data": "m \"q\"\n"}, "n": {"type": "double", "data": [1.5, 2.5]},
    "one": {"type": "short", "data": 7}, "bad": {"type": "double", "data": "NaN"}}, "attributes")
same(d["attributes"], {"title": {"type": "char", "data": "A\1\u00e9\ufffd"}, "empty": {"type": "char", "data": ""}}, "global")
same("shape" in v["s"], False, "scalar")' "$work/j"
}
check "values, attributes and text are valid JSON" values
chosen() {
    "$dump" -j -v z "$work/t.nc" >"$work/j" && "$dump" -j -h -s "$work/t.nc" >"$work/h" && python '
same([n for n in v if "data" in v[n]], ["z"], "-v")
same([n for n in rest[0]["variables"] if "data" in rest[0]["variables"][n]], [], "-h")
same(rest[0]["attributes"]["_Format"]["data"], "cdf5", "-s")' "$work/j" "$work/h"
}
check "-v, -h and -s select parts" chosen
dates() { "$dump" -j -t -v time "$work/t.nc" >"$work/j" && python 'same(v["time"]["data"], ["1970-01-01", "1970-01-02 12"], "dates")' "$work/j"; }
check "-t: prints dates as strings" dates
empty() {
    echo 'netcdf e { dimensions: t = UNLIMITED ; x = 2 ; variables: int a(t, x) ; }' | ncgen -o "$work/e.nc" &&
        "$dump" -j "$work/e.nc" >"$work/j" && python 'same(v["a"]["data"], [], "a")' "$work/j" &&
        echo 'netcdf e { }' | ncgen -o "$work/e.nc" && "$dump" -j "$work/e.nc" >"$work/j" && python 'same(v, {}, "all")' "$work/j"
}
check "an empty dataset is valid JSON" empty
# Tests rows that need more than one read, and reads that cover many rows.
large() {
    echo 'netcdf l { dimensions: x = 3 ; y = 70001 ; variables: int a(x, y) ; int b(y, x) ; char c(x, y) ; data: a = 1 ; }' |
        ncgen -o "$work/l.nc" && "$dump" -j "$work/l.nc" >"$work/j" && python '
same([len(r) for r in v["a"]["data"]], [70001] * 3, "a")
same((v["a"]["data"][0][0], v["a"]["data"][2][70000], len(v["b"]["data"]), len(v["b"]["data"][70000])), (1, None, 70001, 3), "b")
same(v["c"]["data"], [""] * 3, "c")' "$work/j"
}
check "an array of several pieces is valid JSON" large
if type ncks >/dev/null 2>&1; then
    # Compares with the output of ncks for a similar file, without values that ncks prints
    # differently. Attributes are not compared, because ncks does not print their types.
    as_ncks() {
        sed 's/Infinity, NaN/5, 6/; s/d:bad = NaN ;//; s/-1, 8, 9/7, 8, 9/; s/\\001\\303\\251\\377//; s/, "\\000x"/, "dx"/; s/a\\000bc/abc/; s/double no(t) ;//' \
            "$work/t.cdl" >"$work/n.cdl" && "$PWD/ncmpigen" -k cdf5 -o "$work/n.nc" "$work/n.cdl" &&
            ncks --json --jsn_fmt=2 "$work/n.nc" >"$work/n" && "$dump" -j "$work/n.nc" >"$work/j" && python '
n = rest[0]
same(d["dimensions"], n["dimensions"], "dimensions")
for name in v:
    for key in ("shape", "type", "data"):
        same(v[name].get(key), n["variables"][name].get(key), name + " " + key)' "$work/j" "$work/n"
    }
    check "the JSON is that of ncks" as_ncks
fi
short() { head -c $(($(stat -c %s "$work/l.nc") - 4)) "$work/l.nc" >"$work/s.nc" && status 0 "$dump" -j "$work/s.nc" && grep -q 'ends before' "$work/err"; }
check "a truncated file is reported" short
random_json() {
    local seed
    for seed in 1 2 3 4 5; do
        "$random" 5 $seed "$work/r.nc" && "$dump" -j "$work/r.nc" >"$work/j" && python '' "$work/j" || return
    done
}
check "random files are valid JSON" random_json
finish
