#!/bin/bash
# Tests ncmpihints. Its tables must be identical to those in the documents. Its list of hints, its
# reports on hints files and paths, its JSON and its template must be correct, and invalid files
# must be rejected.
. "${srcdir:-.}/test/utils/tool_lib.sh"
tool=$PWD/ncmpihints
unset PNETCDF_HINTS PNETCDF_HINTS_FILE PNETCDF_REPORT PNETCDF_TRACE
usual "$tool" 2

# documented GROUP DOCUMENT: succeeds if the document contains exactly the rows of the group's
# table.
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
    check "hints.md has the table of hints" documented main hints.md
    check "hints.md has the hints without effect" documented unused hints.md
    check "burst-buffer.md has the table of its hints" documented burst burst-buffer.md
    check "stage.md has the table of its hints" documented stage stage.md
fi
check "-l lists all hints in short lines" listed
check "an unknown group is refused" refused 2 "no group 'x'" "$tool" -m x
check "an extra operand is refused" status 2 "$tool" -l x
check "two actions are refused" status 2 "$tool" -l -t
check "hints of the environment are printed without a file" says "cb_nodes=2  from PNETCDF_HINTS" \
    env PNETCDF_HINTS="cb_nodes=2" "$tool" -p a.nc
check "a path without hints is reported" says "no hints for /a/b.nc" "$tool" -p /a/b.nc
check "an invalid value is reported" matches "^nc_transfer=x .*ignored: invalid value for nc_transfer" \
    env PNETCDF_HINTS="nc_transfer=x" "$tool" -p a.nc
check "a misspelt name is reported" matches "^nc_stagee=enable .*did you mean 'nc_stage'" \
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
    check "-j -l prints JSON" listed_as_json
    check "-j -p prints JSON" path_as_json
fi
check "-j -t is refused" status 2 "$tool" -j -t
check "a missing file is an error" refused 2 'nothing: No such file' "$tool" "$work/nothing"
mkfifo "$work/pipe" && truncate -s 1G "$work/large"
check "a directory is refused" refused 2 'a directory' "$tool" "$work"
check "a pipe is refused" refused 2 'not a regular file' timeout 20 "$tool" "$work/pipe"
check "a file of a gigabyte is refused" refused 2 'not read: 1073741824 bytes' "$tool" "$work/large"

"$tool" -t >"$work/t.json"
if ! grep -q 'define HAVE_JANSSON 1' config.h; then
    check "without jansson a hints file is refused" refused 2 'built without jansson' "$tool" "$work/t.json"
    finish
fi
check "the template is valid" says "$work/t.json: 2 Paths, 6 hints, 0 guarded names" \
    "$tool" "$work/t.json"
both() {
    PNETCDF_HINTS='striping_unit=5' PNETCDF_REPORT=1 PNETCDF_HINTS_FILE=$work/t.json \
        says "striping_unit=4194304  from $work/t.json, line 6, Path /scratch/my-project; overridden below
striping_factor=4  from $work/t.json, line 7, Path /scratch/my-project
nc_header_align_size=65536  from $work/t.json, line 8, Path /scratch/my-project
e10_cache=enable  from $work/t.json, line 13, Path checkpoint-*.nc
e10_cache_path=/local/scratch  from $work/t.json, line 14, Path checkpoint-*.nc
e10_cache_flush_flag=flush_immediate  from $work/t.json, line 15, Path checkpoint-*.nc
nc_report=1  from PNETCDF_REPORT
striping_unit=5  from PNETCDF_HINTS" "$tool" -p /scratch/my-project/a/checkpoint-1.nc
}
check "a dataset's hints are printed with their sources" both
check "a dataset without hints is reported" says "no hints for /scratch/a.nc" "$tool" -p /scratch/a.nc "$work/t.json"
# Every hints file printed in hints.md must be accepted as it is.
printed() {
    awk -v to="$work/printed" '/^```json$/ { file = to "." ++n; next } /^```$/ { file = "" }
        file { print >file } END { exit n < 2 }' "$here/doc/hints.md" &&
        status 0 "$tool" "$work"/printed* && grep -qx '.*: 0 Paths, 0 hints, 2 guarded names' "$work/out"
}
check "the files in hints.md are valid" printed
echo '{"File": [{"Path": "a"}], "x": 1}' >"$work/odd.json"
warned() { status 1 "$tool" "$work/odd.json" && grep -q "line 1, column 27: 'x' is neither" "$work/err"; }
check "entries that are ignored are reported" warned
echo '{"File": [}' >"$work/bad.json"
check "invalid JSON is refused" refused 2 'bad.json: line 1, column 11: ' "$tool" "$work/bad.json"
worst() { status 2 "$tool" "$work/odd.json" "$work/bad.json" "$work/t.json" && grep -q '2 Paths' "$work/out"; }
check "the worst of several files determines the exit status" worst
if [ -c /dev/full ]; then
    check "full disk" refused 2 "standard output" bash -c "$tool -l >/dev/full"
fi
finish
