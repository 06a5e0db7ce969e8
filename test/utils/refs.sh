#!/bin/bash
# Tests ncmpirefs. The values that Zarr reads through the references must be those that netCDF4
# reads from the dataset or, for subfiles, from the file into which ncmpijoin joins them. The
# datasets cover all formats and types, records, and subfiles with and without compression. The
# datasets are also read over HTTP.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; launch_kill; rm -rf "$work"' EXIT
server=
refs=$PWD/ncmpirefs join=$PWD/ncmpijoin
python=$(python_with 'fsspec, netCDF4, zarr')
[ -n "${python-}" ] || { echo "1..0 # SKIP no python3-zarr, python3-fsspec or python3-netcdf4"; exit 0; }
cd "$work" || exit 99

# same [REFS DATASET]...: compares the values read through each REFS with those of DATASET: see
# refs_read.py.
same() { "$python" "$here/test/utils/refs_read.py" "$@"; }
# made OPTION... DATASET: succeeds if ncmpirefs writes the references and prints nothing.
made() { status 0 "$refs" -f "$@" && ! [ -s err ] && ! [ -s out ]; }
number() { grep -c "$1" "$2.json"; }

# ---- one file ----

for kind in 1 2 5; do "$OLDPWD/ncmpigen" -k "$kind" -o "$kind.nc" "$here/test/utils/refs.cdl"; done
"$OLDPWD/ncmpigen" -k 5 -o types.nc "$here/test/utils/refs_types.cdl"
plain() {
    local name list=()
    for name; do made "$name" && list+=("$name.json" "$name") || return; done
    same "${list[@]}"
}
check "references to CDF-1, CDF-2 and CDF-5 are correct" plain 1.nc 2.nc 5.nc types.nc
small_chunks() {
    made -o 100.json --chunk 100 5.nc && made -o 1.json --chunk 1 --copy 0 1.nc && same 100.json 5.nc 1.json 1.nc
}
check "references to small, single and inlined chunks are correct" small_chunks
# Each record is one chunk. The variable `time` is copied into the references, because pointing to
# its values would take more space.
in_records() { made 5.nc && [ "$(number '"each/[0-9]' 5.nc)" = 3 ] && [ "$(number '"time/[0-9].*base64' 5.nc)" = 1 ]; }
check "each record is one chunk" in_records
sed '/^data:/,/;$/!b; /^data:/!d' "$here/test/utils/refs.cdl" | sed '/^data:/,$d' >none.cdl && echo '}' >>none.cdl
no_records() {
    "$OLDPWD/ncmpigen" -k 2 -o none.nc none.cdl && plain none.nc && [ "$(number '"T/[0-9]' none.nc)" = 0 ]
}
check "a dataset without records has references" no_records
one_series() {
    printf 'netcdf o { dimensions: t = UNLIMITED; variables: short a(t); data: a = 1, 2, 3, 4, 5, 6, 7; }' >o.cdl
    "$OLDPWD/ncmpigen" -o o.nc o.cdl && made o.nc && grep -q '"a/0": \[' o.nc.json &&
        made --chunk 4 -o 4.json o.nc && same o.nc.json o.nc 4.json o.nc
}
check "references to the records of a single variable are correct" one_series
# PnetCDF ends a file early if its last values were never put. The missing values must read as
# zeros.
short() {
    cp 5.nc short.nc && truncate -s -20 short.nc && cp short.nc long.nc && truncate -s +20 long.nc &&
        status 0 "$refs" short.nc && grep -q 'the file ends\|20 bytes' err && same short.nc.json long.nc &&
        truncate -s 3000 short.nc && status 1 "$refs" -f --copy 100 short.nc
}
check "values beyond the end of the file are zeros" short
huge() {
    "$python" "$here/test/utils/refs_make.py" huge huge.nc && made huge.nc && "$python" -c '
import fsspec, zarr
g = zarr.open(fsspec.filesystem("reference", fo="huge.nc.json").get_mapper(""), mode="r")
assert g["large"].shape == (5000, 262144) and g["large"][-1].tolist() == [3] * 262144
assert g["behind"][-1].tolist() == list(range(7))' && rm huge.nc
}
check "offsets may exceed 4 GiB" huge
many() {
    "$python" "$here/test/utils/refs_make.py" many many.nc &&
        timeout $((5 * ${NCMPI_TEST_TIME_SCALE:-1})) "$refs" -o - many.nc | grep -c '"T/' | grep -qx 1000002
}
check "a million chunks take at most five seconds" many
rm -f many.nc

# ---- output files ----

output() {
    rm -f ./*.json && chmod 640 5.nc && status 0 "$refs" 5.nc && [ "$(stat -c %a 5.nc.json)" = 640 ] &&
        "$refs" -o - 5.nc | cmp - 5.nc.json && status 0 "$refs" -o o.json 5.nc && cmp o.json 5.nc.json &&
        refused 1 '5.nc.json: File exists' "$refs" 5.nc && made 5.nc && cmp o.json 5.nc.json &&
        refused 1 'this file is part of the dataset' "$refs" -f -o ./5.nc 5.nc &&
        refused 1 'no/such.json: No such file' "$refs" -o no/such.json 5.nc && [ "$(ls | grep -c 'json')" = 2 ]
}
check "FILE.json, -o and -f determine the output" output
full() { status 1 sh -c "'$refs' -o - 5.nc >/dev/full" && grep -q 'standard output: No space' err; }
check "full disk" full
wrong() { status 1 "$refs" --chunk "$1" 5.nc && grep -q 'must be a number of bytes' err; }
for bytes in x -1 1q 99999999999g; do check "--chunk refuses $bytes" wrong $bytes; done

# ---- subfiles ----

# apart PROCESSES HINTS: copies fields.nc into subfiles, as dataset blobs.nc, and joins them into
# joined.nc.
apart() {
    rm -f blobs.nc*
    PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2$2" launch "$1" "$OLDPWD/ncmpicopy" fields.nc blobs.nc &&
        "$join" -f blobs.nc joined.nc
}
# in_place VARIABLE...: succeeds if no chunk of these variables is copied into the references.
in_place() {
    local v
    for v; do
        grep -q "\"$v/[0-9.]*\": \[\".*/blobs.nc.000" blobs.nc.json && ! grep -q "\"$v/[0-9].*base64" blobs.nc.json ||
            { echo "$v"; grep "\"$v/" blobs.nc.json | cut -c 1-200; return 1; }
    done
}
"$python" "$here/test/utils/refs_make.py" fields fields.nc
divided() {
    apart "$1" "" && made blobs.nc && in_place T U P deep && made --chunk 3000 -o 3000.json blobs.nc &&
        same blobs.nc.json joined.nc 3000.json joined.nc
}
for n in 2 3; do check "references to subfiles of $n processes are correct" divided $n; done
compressed() { apart "$1" ";nc_compress=$2" && made blobs.nc && same blobs.nc.json joined.nc && in_place "${@:3}"; }
lz4() {
    apart 2 ";nc_compress=lz4" && status 1 "$refs" -f --copy 0 blobs.nc && grep -q "variable 'P': .*LZ4" err &&
        grep -q 'nothing was written' err && made --copy 2m blobs.nc && same blobs.nc.json joined.nc
}
skipped() {
    status 0 "$refs" -f --copy 0 --skip blobs.nc && grep -q "variable 'P': .*LZ4" err && same blobs.nc.json joined.nc:time
}
again() { # tests frames from several jobs; some values were put twice, some are in the master file
    rm -f blobs.nc*
    PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd" launch 3 "$OLDPWD/test/formats/frames_write" blobs.nc &&
        "$join" -f blobs.nc joined.nc && made --copy 16m blobs.nc && same blobs.nc.json joined.nc &&
        grep -q '"series/1.0": \[".*/blobs.nc.0000' blobs.nc.json
}
if grep -q 'define HAVE_ZSTD ' "$OLDPWD/config.h"; then
    check "references to compressed subfiles of 2 processes are correct" compressed 2 zstd T U P deep
    check "references to unequal compressed subfiles are correct" compressed 3 zstd P
    check "references to values that were put again are correct" again
else
    skip "compressed subfiles" "no zstd"
fi
if grep -q 'define HAVE_LZ4 ' "$OLDPWD/config.h"; then
    check "references to LZ4 frames are correct" lz4
    check "--skip omits variables that cannot be referenced" skipped
else
    skip "references to LZ4 frames are correct" "no LZ4"
fi
apart 2 ""
lost() {
    mv blobs.nc.0001 away && status 1 "$refs" -f blobs.nc &&
        grep -q 'in a missing subfile: .*blobs.nc.0001' err && mv away blobs.nc.0001
}
check "a missing subfile is an error" lost

# ---- over HTTP, and by xarray; last, because `launch` would also kill the server ----

web() {
    mv 5.nc 'a #1 é.nc' && "$refs" -f --url "http://127.0.0.1:$(cat port)" -o web.json 'a #1 é.nc' &&
        grep -q "http://127.0.0.1:$(cat port)/a%20%231%20é.nc" web.json &&
        "$refs" -f --url "http://127.0.0.1:$(cat port)/" blobs.nc &&
        same blobs.nc.json joined.nc web.json 'a #1 é.nc'
}
"$python" "$here/test/utils/refs_server.py" "$work" >port &
server=$!
until [ -s port ] || ! kill -0 $server; do sleep 0.02; done
if "$python" -c 'import aiohttp' 2>/dev/null; then check "references are read over HTTP" web; else skip "references are read over HTTP" "no aiohttp"; fi
with_xarray() { # runs the example in doc/references.md
    cp 1.nc run.nc && made run.nc && sed -n '/^```python/,/^```/{/^```/!p}' "$here/doc/references.md" >run.py &&
        echo 'xarray.testing.assert_identical(dataset.load(), xarray.open_dataset("run.nc").load())' >>run.py &&
        "$python" run.py
}
if "$python" -c 'import xarray' 2>/dev/null; then check "xarray reads references" with_xarray; else skip "xarray reads references" "no xarray"; fi
finish
