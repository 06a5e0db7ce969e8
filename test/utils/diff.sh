#!/bin/bash
# Tests cdfdiff and ncmpidiff: every kind of difference must be found and reported, with the same
# output from one process and from several.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
cdfdiff=$PWD/cdfdiff
usual "$cdfdiff" 2
usual "$PWD/ncmpidiff" 2
need ncgen

# make_file NAME [SED-SCRIPT [KIND]]: creates a file from the CDL text below, after editing it.
make_file() {
    sed -e "${2-}" >"$work/$1.cdl" <<'END'
netcdf t {
dimensions: t = UNLIMITED ; x = 3 ; y = 2 ; e = 1 ;
variables:
 double a(x, y) ; a:u = "m" ; a:n = 1, 2 ;
 float f(t, x) ; char c(y) ; int s ; short z(t) ; byte b(e) ;
 :title = "A" ;
data:
 a = 1, 2, 3, 4, 5, NaN ; f = 1, 2, 3, 4, 5, 6 ; c = "ab" ; s = 7 ; z = 1, 2 ; b = -1 ;
}
END
    ncgen -k "${3-classic}" -o "$work/$1.nc" "$work/$1.cdl"
}
make_file one && make_file five '' cdf5 || exit 1

# in_parallel ARGUMENT...: runs ncmpidiff on three processes.
in_parallel() { launch 3 "$PWD/ncmpidiff" "$@"; }
serial() {
    status "$@" && mv "$work/out" "$work/serial"
}
both() {
    local want=$1
    shift
    serial "$want" "$cdfdiff" "$@" &&
        status "$want" in_parallel "$@" && diff "$work/serial" "$work/out"
}
# reports LINE OPTION... FILE...: succeeds if the files differ and the report contains exactly this
# line.
reports() {
    local line=$1
    shift
    serial 1 "$cdfdiff" "$@" && grep -qxF -e "$line" "$work/serial" || { cat "$work/serial"; return 1; }
}
a=$work/one.nc b=$work/other.nc
check "equal files in different formats do not differ" both 0 "$a" "$work/five.nc"
check "-b: reports equal objects" eval \
    'both 0 -b "$a" "$work/five.nc"; grep -qx "variable z: 0 of 2 values differ" "$work/serial"'
make_file other 's/4, 5, NaN/4.5, 9, NaN/'
check "values: different ones are found by several processes" both 1 "$a" "$b"
check "values: the number of different ones is reported" reports 'variable a: 2 of 6 values differ' "$a" "$b"
check "values: the first different one is reported" reports '    first at (1, 1): 4, 4.5, 0.5 apart' "$a" "$b"
check "values: the largest difference is reported" reports '    largest at (2, 0): 5, 9, 4 apart' "$a" "$b"
check "-h: ignores values" serial 0 "$cdfdiff" -h "$a" "$b"
check "-v: ignores other variables" serial 0 "$cdfdiff" -v 's,f' "$a" "$b"
check "-t: sets an absolute tolerance" reports 'variable a: 1 of 6 values differ' -t 0.5 "$a" "$b"
check "-t: sets a relative tolerance" reports 'variable a: 1 of 6 values differ' -t 0,0.12 "$a" "$b"
check "-t: a large tolerance ignores all differences" serial 0 "$cdfdiff" -t 4 "$a" "$b"
check "-T: sets one variable's tolerance" serial 0 "$cdfdiff" -t 0 -T s=0 -T a=4 "$a" "$b"
check "-T: has no effect on other variables" serial 1 "$cdfdiff" -T f=4 "$a" "$b"
check "--nan-differs: NaN differs from NaN" reports 'variable a: 3 of 6 values differ' --nan-differs "$a" "$b"
check "-q: prints nothing" eval 'serial 1 "$cdfdiff" -q "$a" "$b"; ! [ -s "$work/serial" ]'
check "-1: stops at the first difference" both 1 -1 "$a" "$b"

# differs LINE SED-SCRIPT OPTION...: compares one.nc with a file whose text was edited, and expects
# this line in the report.
differs() {
    local line=$1 script=$2
    shift 2
    make_file other "$script" && reports "$line" "$@" "$a" "$b"
}
check "a different scalar is reported" differs 'variable s: 1 of 1 values differ' 's/s = 7/s = 8/'
check "different text is reported" differs "    first at (1): 'b', 'c', 1 apart" 's/"ab"/"ac"/'
check "a different attribute is reported" differs 'attribute a:u is "m" in the first file, "km" in the second' 's/"m"/"km"/'
check "a different numeric attribute is reported" differs 'attribute a:n is int 1 2 in the first file, int 1 3 in the second' 's/1, 2 ;$/1, 3 ;/; s/n = 1, 2/n = 1, 3/'
check "NaN differs from a number" differs '    largest at (2, 1): NaN, 6' 's/4, 5, NaN/4, 5.5, 6/'
check "NaN exceeds every tolerance" differs 'variable a: 1 of 6 values differ' 's/5, NaN/5, 6/' -t 1e300,1e300
check "a difference of large integers is reported" differs '    first at (): 7, -2147483648, 2147483655 apart' 's/s = 7/s = -2147483648/'
check "a dimension in one file only is reported" differs 'dimension q exists only in the second file' 's/e = 1/e = 1 ; q = 2/'
check "a variable in the second file only is reported" differs 'variable q exists only in the second file' 's/int s ;/int s, q ;/'
check "an attribute in the second file only is reported" differs 'attribute a:v exists only in the second file' 's/a:u = "m" ;/a:u = "m" ; a:v = 1 ;/'
check "a different type of an attribute is reported" differs 'attribute a:n is int 1 2 in the first file, double 1 2 in the second' 's/a:n = 1, 2/a:n = 1., 2./'
check "a global attribute in one file only is reported" differs 'attribute :title exists only in the first file' 's/:title.*//'
check "a different type is reported" differs 'variable z has type short in the first file, int in the second' 's/short z/int z/'
check "values of different types are not compared" differs 'variable z: types or shapes differ, values were not compared' \
    's/short z/int z/' -d
check "a variable in the first file only is reported" differs 'variable b exists only in the first file' 's/byte b(e) ;//; s/b = -1 ;//'
check "a different dimension length is reported" differs 'dimension e has length 1 in the first file, 2 in the second' 's/e = 1/e = 2/; s/b = -1/b = -1, 2/'
check "a dimension unlimited in one file only is reported" differs 'dimension t is unlimited in the first file, fixed in the second' 's/t = UNLIMITED/t = 2/'
check "a different number of records is reported" differs 'dimension t has length 2 in the first file, 3 in the second' 's/z = 1, 2/z = 1, 2, 3/'
check "records in both files are compared" differs 'variable z: 1 of 2 values differ' 's/z = 1, 2/z = 1, 4, 3/'
check "a different order of dimensions is reported" differs 'variable a has dimensions (x, y) in the first file, (y, x) in the second' 's/a(x, y)/a(y, x)/'
check "files without records are compared" eval 'make_file none "s/f = 1, 2, 3, 4, 5, 6 ;//; s/z = 1, 2 ;//" &&
    make_file empty "s/f = 1, 2, 3, 4, 5, 6 ;//; s/z = 1, 2 ;//" && serial 0 "$cdfdiff" "$work/none.nc" "$work/empty.nc"'
one_without_records() {
    make_file none "s/f = 1, 2, 3, 4, 5, 6 ;//; s/z = 1, 2 ;//" && both 1 "$a" "$work/none.nc" &&
        grep -qxF 'dimension t has length 2 in the first file, 0 in the second' "$work/serial"
}
check "a file without records is compared with one that has some" one_without_records
reordered() {
    make_file other 's/t = UNLIMITED ; x = 3 ; y = 2/y = 2 ; t = UNLIMITED ; x = 3/; s/int s ;//; s/byte/int s ; byte/'
    serial 0 "$cdfdiff" "$a" "$b"
}
check "the order of dimensions and variables is irrelevant" reordered

# Changes one value of a large variable, which several processes compare in many pieces.
large() {
    local text
    text='netcdf l { dimensions: t = UNLIMITED ; x = 700 ; y = 1100 ; variables: double d(x, y) ;
        int r(t, x) ; byte o(t) ; data: r = 1 ; }'
    echo "$text" | sed 's/r = 1 ;/r = 1 ; o = 0, 0, 0, 0, 0, 0, 0, 0, 0 ;/' >"$work/l.cdl"
    ncgen -k nc6 -o "$work/l.nc" "$work/l.cdl" && cp "$work/l.nc" "$work/m.nc" || return
    both 0 "$work/l.nc" "$work/m.nc" || return
    local start
    start=$("$PWD/ncoffsets" -v d "$work/m.nc" | awk '$NF == "y)" {print $1}')
    printf '\x40' | dd of="$work/m.nc" bs=1 seek=$((start + 8 * (650 * 1100 + 3))) conv=notrunc 2>/dev/null
    both 1 "$work/l.nc" "$work/m.nc" && grep -qF 'first at (650, 3)' "$work/serial"
}
check "a large variable is compared" large
random_same() {
    local seed
    for seed in 3 4 5; do
        "$random" 5 $seed "$work/r.nc" && cp "$work/r.nc" "$work/r2.nc" &&
            status 0 "$cdfdiff" "$work/r.nc" "$work/r2.nc" || return
    done
    both 0 "$work/r.nc" "$work/r2.nc"
}
check "random files are the same as their copies" random_same

check "one name given twice is refused" status 2 "$cdfdiff" "$a" "$a"
check "an invalid tolerance is refused" status 2 "$cdfdiff" -t -1 "$a" "$b"
check "an unknown variable is refused" refused 2 "no variable is named 'q'" "$cdfdiff" -v q "$a" "$b"
twins() { refused 2 'same name' "$cdfdiff" "$here/test/fuzz/corpus/bad-cdf1-twins" "$a"; }
check "duplicate names in a file are refused" twins
truncated() {
    local size
    size=$(stat -c %s "$a")
    head -c $((size - 4)) "$a" >"$work/short.nc"
    status 1 "$cdfdiff" "$a" "$work/short.nc" &&
        grep -q "^cdfdiff: .*offset $((size - 4)): .*ends before.*read as zeros" "$work/err"
}
check "a truncated file is reported" truncated
# PnetCDF ends a file early if its last values were never put. Missing values must read as zeros.
left_short() {
    "$PWD/ncmpigen" -o "$work/full.nc" - <<<'netcdf l { dimensions: x = 9; t = UNLIMITED;
        variables: int a(x); int r(t, x); data: a = 1, 2, 3, 4, 5, 6, 7, 8, 9; r = 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0; }' &&
        cp "$work/full.nc" "$work/left.nc" && truncate -s -32 "$work/left.nc" &&
        status 0 "$cdfdiff" "$work/full.nc" "$work/left.nc" && grep -q 'read as zeros' "$work/err" &&
        status 0 "$PWD/ncmpidiff" "$work/full.nc" "$work/left.nc" && grep -q 'read as zeros' "$work/err"
}
check "a file without its last, unwritten values equals a complete one" left_short
truncated_in_parallel() {
    status 1 in_parallel "$a" "$work/short.nc" && [ "$(grep -c '^ncmpidiff: .*ends before' "$work/err")" = 1 ]
}
check "several processes report a truncated file" truncated_in_parallel
far_end() {
    cp "$here/test/fuzz/corpus/found-37" "$work/far.nc" && cp "$work/far.nc" "$work/far2.nc" &&
        refused 2 'ends before' timeout 200 "$1" "$work/far.nc" "$work/far2.nc"
}
check "cdfdiff reports a file that should be 10^17 bytes long" far_end "$cdfdiff"
check "ncmpidiff reports a file that should be 10^17 bytes long" far_end "$PWD/ncmpidiff"
missing() { status 2 in_parallel "$a" "$work/missing.nc" && grep -q 'missing.nc: No such file or directory; check the path' "$work/err"; }
check "several processes report a missing file" missing
corpus() {
    local file status
    for file in "$here"/test/fuzz/corpus/bad-*; do
        status=0
        "$@" "$a" "$file" >"$work/out" 2>"$work/err" || status=$?
        case $file in *streaming) [ $status = 1 ] && continue ;; *far-start|*overlap) continue ;; esac
        [ $status = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && ! [ -s "$work/out" ] ||
            { echo "$file: status $status"; cat "$work/err"; return 1; }
    done
}
check "cdfdiff refuses hostile headers" corpus "$cdfdiff"
check "ncmpidiff refuses hostile headers" corpus "$PWD/ncmpidiff"
hostile_in_parallel() {
    local file
    for file in bad-cdf5-{tag,overlap,att-length} bad-empty bad-hdf5 bad-cdf1-twins; do
        status 2 in_parallel "$a" "$here/test/fuzz/corpus/$file" &&
            [ "$(grep -c '^ncmpidiff: ' "$work/err")" = 1 ] || return
    done
}
check "several processes refuse hostile headers" hostile_in_parallel
if [ -w /dev/full ]; then
    check "cdfdiff reports a full disk" refused 2 'standard output: No space' bash -c '"$@" >/dev/full' - "$cdfdiff" -b "$a" "$work/five.nc"
    check "ncmpidiff reports a full disk" refused 2 'standard output: No space' \
        bash -c '"$@" >/dev/full' - "$PWD/ncmpidiff" -b "$a" "$work/five.nc"
fi
json() {
    make_file other 's/4, 5, NaN/4.5, 9, NaN/; s/:title.*//'
    both 1 -j "$a" "$b" && python3 - "$work/serial" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
v = {v["name"]: v for v in d["variables"]}
sys.exit(not (len(v) == 6 and len(d["files"]) == 2 and not d["same"] and len(d["definitions"]) == 1 and
    v["s"]["differing"] == 0 and v["a"]["compared"] == 6 and v["a"]["differing"] == 2 and
    v["a"]["first"] == {"index": [1, 1], "values": [4, 4.5], "apart": 0.5} and
    v["a"]["largest"] == {"index": [2, 0], "values": [5, 9], "apart": 4}))
END
}
if command -v python3 >/dev/null; then check "JSON" json; else skip "JSON" "no python3"; fi

# ---- maps ----

# map LINES: succeeds if the last comparison printed exactly this map, with each line between bars.
map() { diff <(printf '%s\n' "$1") <(sed -n 's/^    |\(.*\)|$/\1/p' "$work/out"); }
small_map() {
    make_file other 's/4, 5, NaN/4.5, 9, NaN/; s/f = 1, 2, 3/f = 0, 2, 3/; s/"ab"/"ac"/; s/s = 7/s = 8/'
    both 1 --map "$a" "$b" && grep -qx '    map, down x, across y:' "$work/out" && map "$(printf '..\n.#\n#.\n#..\n...\n.#')"
}
check "--map: prints a character for each value" small_map
# Changes some rows and one value of a variable of 700 x 1100 values. Each character in the map
# represents a block of values; blocks at the edges are smaller.
coarse_map() {
    local start
    start=$("$PWD/ncoffsets" -v d "$work/m.nc" | awk '$NF == "y)" {print $1}') &&
        cp "$work/l.nc" "$work/m.nc" || return
    head -c $((8 * 1100 * 36)) /dev/zero | dd of="$work/m.nc" bs=1M seek=$((start + 8 * 1100 * 36)) \
        oflag=seek_bytes conv=notrunc 2>/dev/null
    printf '\x40' | dd of="$work/m.nc" bs=1 seek=$((start + 8 * (699 * 1100 + 1099))) conv=notrunc 2>/dev/null
    both 1 --map -v d "$work/l.nc" "$work/m.nc" &&
        map "$({ printf '.%.0s' {1..55}; echo; printf '#%.0s' {1..55}; echo
            for i in {1..17}; do printf '.%.0s' {1..55}; echo; done; printf '.%.0s' {1..54}; echo 1; })"
}
check "--map: combines values of a large variable" coarse_map
terminal() {
    make_file other 's/4, 5, NaN/4.5, 9, NaN/'
    env "$1" TERM="$2" script -qec "$cdfdiff --map $a $b" /dev/null >"$work/terminal"
    [ $? = 1 ] && [ "$(grep -c $'\033' "$work/terminal")" = "$3" ]
}
if command -v script >/dev/null; then
    check "--map: uses colours on a terminal" terminal NO_COLOR= xterm 3
    check "--map: uses no colours with NO_COLOR" terminal NO_COLOR=1 xterm 0
    check "--map: uses no colours on a dumb terminal" terminal NO_COLOR= dumb 0
    check "--map: uses no colours in a file" eval 'status 1 "$cdfdiff" --map "$a" "$b" && ! grep -q $'"'\\033'"' "$work/out"'
fi
# Twenty variables, which are compared by different processes, have differences. Only the first 16
# get a map.
many_maps() {
    local i
    {
        echo 'netcdf m { dimensions: x = 2 ; variables:'
        for i in {1..20}; do echo "int v$i(x) ;"; done
        echo 'data:'
        for i in {1..20}; do echo "v$i = 1, 2 ;"; done
        echo '}'
    } >"$work/many.cdl"
    ncgen -o "$work/many.nc" "$work/many.cdl" && sed 's/= 1, 2/= 1, 3/' "$work/many.cdl" >"$work/more.cdl" &&
        ncgen -o "$work/more.nc" "$work/more.cdl" && both 1 --map "$work/many.nc" "$work/more.nc" &&
        grep -q 'first 16 of 20 variables' "$work/err" && map "$(printf '.#\n%.0s' {1..16})" &&
        grep -q 'v17' "$work/out"
}
check "--map: prints only the first of many variables" many_maps
json_map() {
    both 1 -j --map "$work/many.nc" "$work/more.nc" && python3 -c '
import json, sys
v = json.load(open(sys.argv[1]))["variables"]
sys.exit(not (v[0]["map"] == {"row_step": 1, "column_step": 1, "differing": [[0, 1]]} and "map" not in v[19]))' "$work/out"
}
if command -v python3 >/dev/null; then check "--map: prints JSON" json_map; fi
check "--map: is refused with -h" status 2 "$cdfdiff" -h --map "$a" "$b"
picture() {
    rm -f "$work/p.$1"
    make_file other 's/4, 5, NaN/4.5, 9, NaN/'
    "${@:2}" --draw "$work/p.$1" "$a" "$b" >/dev/null 2>"$work/err"
    [ $? = 1 ] && ! [ -s "$work/err" ] && head -c 200 "$work/p.$1" | grep -qaE "<svg|PNG"
}
if command -v gnuplot >/dev/null; then
    check "--draw: writes SVG" picture svg "$cdfdiff"
    check "--draw: writes PNG, by several processes" picture png in_parallel
    # axes VARIABLE WORD: succeeds if an axis of the picture has the label WORD
    axes() {
        local name
        for name in north south; do
            echo "netcdf $name { dimensions: lat = 3 ; x = 2 ; variables: float $1(lat) ; int v(lat, x) ; data:
                $1 = -70, 0, 70 ; v = 1, 2, 3, 4, 5, 6 ; }" >"$work/$name.cdl"
            ncgen -o "$work/$name.nc" "$work/$name.cdl" || return
        done
        sed -i 's/5, 6/5, 9/' "$work/south.cdl" && ncgen -o "$work/south.nc" "$work/south.cdl"
        "$cdfdiff" --draw "$work/axes.svg" "$work/north.nc" "$work/south.nc" >/dev/null
        grep -qE ">[[:blank:]]*$2[[:blank:]]*<" "$work/axes.svg"
    }
    check "--draw: labels rows by their coordinates" axes lat 50
    check "--draw: labels rows by their indices without coordinates" axes other 2
    check "--draw: writes no picture of equal files" eval \
        'status 0 "$cdfdiff" --draw "$work/same.svg" "$a" "$work/five.nc" && ! [ -e "$work/same.svg" ]'
fi
check "--draw: refuses other formats" status 2 "$cdfdiff" --draw "$work/p.gif" "$a" "$b"
check "--draw: fails without gnuplot" eval 'PATH=/nowhere "$cdfdiff" --draw "$work/p.svg" "$a" "$b" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q "gnuplot is not installed" "$work/err"'
finish
