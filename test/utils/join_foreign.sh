#!/bin/bash
# The tools on datasets that other libraries put into subfiles: each is the one that it
# stands for, and what is wrong with its files is told.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
join=$PWD/ncmpijoin dump=$PWD/ncmpidump validate=$PWD/ncvalidator write=$PWD/test/utils/foreign_write
sanitized=$PWD/test/utils/ncmpidump_sanitized
w=$work/w.nc f=$work/f.nc o=$work/o.nc
"$write" whole "$w" 1 || exit 1

# make LAYOUT SUBFILES [WRONG]
make() { rm -f "$f"* && "$write" "$1" "$f" "${@:2}"; }
reads() {
    "$dump" -n q "$w" >"$work/w.txt" && "$dump" -n q "$f" >"$work/f.txt" && cmp "$work/w.txt" "$work/f.txt" &&
        status 0 "$PWD/cdfdiff" "$f" "$w" && status 0 "$validate" -q "$f" && status 0 "$PWD/ncoffsets" "$f"
}
copies() {
    rm -f "$o" && status 0 launch 2 "$PWD/ncmpicopy" "$f" "$o" && status 0 "$PWD/cdfdiff" "$o" "$w" &&
        status 0 launch 2 "$PWD/ncmpidiff" "$f" "$w"
}
joins() {
    rm -f "$o"
    status 0 "$@" "$join" -c "$f" "$o" && status 0 "$PWD/cdfdiff" "$o" "$w" && status 0 "$validate" "$o" &&
        "$dump" -h "$o" >"$work/out" && ! grep -E 'SubFiling|decomposition|nprocs|nblobs' "$work/out"
}
removes() {
    rm -f "$o" && status 0 launch 2 "$join" -rv "$f" "$o" && status 0 "$PWD/cdfdiff" "$o" "$w" &&
        [ "$(ls "$work" | grep -c '^f.nc')" = 0 ]
}
for layout in e3sm master pnetcdf; do
    for subfiles in 1 5; do
        make $layout $subfiles
        check "$layout, $subfiles subfiles: read" reads
        check "... joined" joins
    done
    check "$layout: joined by three processes" joins launch 3
    check "... copied and compared" copies
    check "... removed when it is joined" removes
done
# Maps of fewer elements than the variables have: the others are zeros.
"$write" whole "$w" 1 land || exit 1
for layout in e3sm master; do
    make $layout 3 land
    check "$layout, land alone: read" reads
    check "... joined" joins launch 3
    check "... copied and compared" copies
done
"$write" whole "$w" 1 || exit 1

# told PATTERN: all tools tell, in words that name the file, and none makes one.
told() {
    rm -f "$o"
    refused 1 "$1" "$join" "$f" "$o" && [ "$(ls "$work" | grep -c 'o.nc')" = 0 ] && status 1 "$dump" "$f" && grep -qE "$1" "$work/err" &&
        status 1 "$validate" "$f" && grep -qE "$1" "$work/out" "$work/err" && status 1 launch 2 "$PWD/ncmpicopy" "$f" "$o" &&
        rm -f "$o"
}
wrong() { make "$1" 3 "$2" && told "$3"; }
check "maps overlap" wrong e3sm overlap "two blobs have element"
check "... and leave a hole" wrong e3sm hole "f.nc: variable '[a-z]*': no subfile has element"
check "... or lose a run, of land alone" wrong e3sm lost "f.nc: variable '[a-z]*': its maps name [0-9]* elements, and"
check "... point outside" wrong e3sm outside "f.nc.0002: the map of blob .* points outside"
check "... begin below 0" wrong e3sm negative "f.nc.0002: the map of blob .* points outside"
check "a subfile of another run" wrong e3sm run "f.nc.0002: it is of another run"
check "... with fewer records" wrong e3sm records "f.nc.0002: it has 2 records"
check "a master of another run" wrong master run "f.nc.0002: it is of another run"
check "ranges overlap" wrong pnetcdf overlap "f.nc: variable 'area': the ranges of its subfiles overlap"
check "... and leave a hole" wrong pnetcdf hole "f.nc: variable 'area': the ranges of its subfiles leave a hole"
check "... point outside" wrong pnetcdf outside "f.nc: variable 'area': the range of a subfile points outside"
check "records that PnetCDF lost" wrong pnetcdf records "f.nc.subfile_[0-2].nc: it has 2 records"
gone() { make "$1" 3 && rm "$f$2" && told "f.nc$2: No such file"; }
check "a subfile is missing" gone e3sm .0002
check "... of a master's" gone master .0000
check "... of PnetCDF's" gone pnetcdf .subfile_1.nc
short() {
    local size n
    make "$1" 2 && size=$(stat -c %s "$f$2") || return
    for n in 40 $((size / 2)) $((size - 30)); do
        make "$1" 2 && truncate -s $n "$f$2" && told "f.nc$2: " || { echo "cut to $n"; return 1; }
    done
}
check "one is cut off" short e3sm .0001
check "... of PnetCDF's" short pnetcdf .subfile_1.nc
twice() { make e3sm 2 && cp "$f.0000" "$f.0001" && told "f.nc: "; }
check "one is there twice" twice
swapped() {
    make pnetcdf 2 && mv "$f.subfile_0.nc" "$work/x" && mv "$f.subfile_1.nc" "$f.subfile_0.nc" && mv "$work/x" "$f.subfile_1.nc" &&
        status 1 "$join" "$f" "$o" && grep -q "f.nc.subfile_1.nc: it was the subfile of another number" "$work/err"
}
check "PnetCDF's in another order" swapped
other() { make e3sm 2 && cp "$w" "$f.0001" && told "f.nc.0001: it is no subfile"; }
check "one is another dataset" other
none() { make e3sm 1 && rm "$f.0000" && refused 1 'f.nc: No such file' "$join" "$f" "$o"; }
check "no dataset" none
stray() { make e3sm 1 && cp "$w" "$f.0000" && refused 1 'No such file' "$join" "$f" "$o" && status 1 "$validate" "$f"; }
check "what stands there is none" stray
# A file with all its values is what it is, though it says that it once was in blobs.
ordinary() { make master 2 && rm -f "$o" && "$PWD/ncmpicopy" "$f.0000" "$o" && status 0 "$validate" "$o"; }
check "a subfile by itself" ordinary

# Bytes that are not as they were: an error, or other values; no tool crashes, or waits.
broken() {
    local i at size files layout=$1
    for i in $(seq ${JOIN_SEEDS:-5}); do
        make "$layout" 2 && files=("$f"*) && at=${files[$((RANDOM % ${#files[@]}))]}
        size=$(stat -c %s "$at") && size=$((size < 4000 ? size : 4000))
        printf "\\x$(printf %02x $((RANDOM % 256)))" | dd of="$at" bs=1 seek=$((RANDOM % size)) conv=notrunc 2>/dev/null
        rm -f "$o"
        timeout 60 "$join" -c "$f" "$o" >"$work/out" 2>&1
        [ $? -le 1 ] && timeout 60 "$validate" -q "$f"
        [ $? -le 1 ] || { echo "$at"; cat "$work/out"; return 1; }
        timeout 60 "$PWD/ncmpicopy" -f "$f" "$o" >"$work/out" 2>&1
        [ $? -le 1 ] || { echo "$at"; cat "$work/out"; return 1; }
        [ -x "$sanitized" ] || continue
        timeout 60 "$sanitized" "$f" >"$work/out" 2>"$work/err"
        [ $? -le 1 ] && ! grep -q ERROR "$work/err" || { echo "$at"; cat "$work/err"; return 1; }
    done
}
RANDOM=${JOIN_SEED:-4712}
check "broken subfiles" broken e3sm
check "... of a master's" broken master
check "... of PnetCDF's" broken pnetcdf
finish
