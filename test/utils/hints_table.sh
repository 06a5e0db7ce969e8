#!/bin/bash
# ncmpihints: its list is that of the documents, what it says of a file and of a path, and its
# template.
. "${srcdir:-.}/test/utils/tool_lib.sh"
tool=$PWD/ncmpihints
unset PNETCDF_HINTS PNETCDF_HINTS_FILE PNETCDF_REPORT PNETCDF_TRACE
usual "$tool" 2

# documented GROUP DOCUMENT: the group's table stands there, line for line, and ends there.
documented() {
    "$tool" -m "$1" >"$work/table" && [ "$(wc -l <"$work/table")" -gt 4 ] || return 1
    python3 - "$work/table" "$here/doc/$2" <<'END'
import sys
table, text = (open(name).read() for name in sys.argv[1:])
if '\n\n' + table + '\n' not in text:
    lines = set(text.split('\n'))
    sys.exit('not there: ' + '\n'.join(l for l in table.split('\n') if l not in lines))
END
}
listed() {
    "$tool" -l >"$work/out" || return 1
    for group in main burst stage unused; do
        "$tool" -m $group | sed -nE 's/^\| `([^`]*)`.*/\1/p'
    done >"$work/keys"
    [ "$(wc -l <"$work/keys")" -gt 40 ] || return 1
    while read -r key; do grep -qxF "  $key" "$work/out" || return 1; done <"$work/keys"
    awk 'length > 96 { print; bad = 1 } END { exit bad }' "$work/out"
}
if command -v python3 >/dev/null; then
    check "hints.md has the table" documented main hints.md
    check "hints.md has those without effect" documented unused hints.md
    check "burst-buffer.md has its table" documented burst burst-buffer.md
    check "stage.md has its table" documented stage stage.md
fi
check "the list has all of them, in lines of a terminal" listed
check "no such group" refused 2 "no group 'x'" "$tool" -m x
check "an operand too many" status 2 "$tool" -l x
check "two things at once" status 2 "$tool" -l -t
check "an environment alone" says "cb_nodes=2  from PNETCDF_HINTS" \
    env PNETCDF_HINTS="cb_nodes=2" "$tool" -p a.nc
check "nothing" says "no hints for /a/b.nc" "$tool" -p /a/b.nc
check "a value that is none" matches "^nc_transfer=x .*ignored: invalid value for nc_transfer" \
    env PNETCDF_HINTS="nc_transfer=x" "$tool" -p a.nc
check "a name that is misspelt" matches "^nc_stagee=enable .*did you mean 'nc_stage'" \
    env PNETCDF_HINTS="nc_stagee=enable" "$tool" -p a.nc
listed_as_json() {
    "$tool" -l -j | python3 -c '
import json, sys
print("\n".join(sorted(h["hint"] for h in json.load(sys.stdin) if h["what"] and h["values"])))' >"$work/j"
    sort "$work/keys" | diff - "$work/j"
}
path_as_json() {
    PNETCDF_HINTS='cb_nodes=2;nc_transfer=x' "$tool" -j -p a.nc >"$work/j"
    python3 -c '
import json, sys
a, b = json.load(open(sys.argv[1]))
sys.exit(not (a["hint"] == "cb_nodes" and a["value"] == "2" and a["from"] == "PNETCDF_HINTS" and not a["passed_over"] and
    b["passed_over"] and not b["overruled"]))' "$work/j"
}
if command -v python3 >/dev/null; then
    check "-j -l" listed_as_json
    check "-j -p" path_as_json
fi
check "-j -t" status 2 "$tool" -j -t
check "a file that is not there" refused 2 'nothing: No such file' "$tool" "$work/nothing"
mkfifo "$work/pipe" && truncate -s 1G "$work/large"
check "a directory" refused 2 'a directory' "$tool" "$work"
check "a pipe" refused 2 'no regular file' timeout 20 "$tool" "$work/pipe"
check "a gigabyte" refused 2 '1073741824 bytes; .* not read' "$tool" "$work/large"

"$tool" -t >"$work/t.json"
if ! grep -q 'define HAVE_JANSSON 1' config.h; then
    check "without jansson it says so" refused 2 'built without jansson' "$tool" "$work/t.json"
    finish
fi
check "the template is right" says "$work/t.json: 2 Paths, 6 hints, 0 guarded names" \
    "$tool" "$work/t.json"
both() {
    PNETCDF_HINTS='striping_unit=5' PNETCDF_REPORT=1 PNETCDF_HINTS_FILE=$work/t.json \
        says "striping_unit=4194304  from $work/t.json, line 6, Path /scratch/my-project; overruled below
striping_factor=4  from $work/t.json, line 7, Path /scratch/my-project
nc_header_align_size=65536  from $work/t.json, line 8, Path /scratch/my-project
e10_cache=enable  from $work/t.json, line 13, Path checkpoint-*.nc
e10_cache_path=/local/scratch  from $work/t.json, line 14, Path checkpoint-*.nc
e10_cache_flush_flag=flush_immediate  from $work/t.json, line 15, Path checkpoint-*.nc
nc_report=1  from PNETCDF_REPORT
striping_unit=5  from PNETCDF_HINTS" "$tool" -p /scratch/my-project/a/checkpoint-1.nc
}
check "what a dataset gets, and from where" both
check "what another gets" says "no hints for /scratch/a.nc" "$tool" -p /scratch/a.nc "$work/t.json"
echo '{"File": [{"Path": "a"}], "x": 1}' >"$work/odd.json"
warned() { status 1 "$tool" "$work/odd.json" && grep -q "line 1, column 27: 'x' is neither" "$work/err"; }
check "what is passed over" warned
echo '{"File": [}' >"$work/bad.json"
check "what is no JSON" refused 2 'bad.json: line 1, column 11: ' "$tool" "$work/bad.json"
worst() { status 2 "$tool" "$work/odd.json" "$work/bad.json" "$work/t.json" && grep -q '2 Paths' "$work/out"; }
check "several files, the worst counts" worst
if [ -c /dev/full ]; then
    check "a full device" refused 2 "standard output" bash -c "$tool -l >/dev/full"
fi
finish
