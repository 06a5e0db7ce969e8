#!/bin/bash
# Tests the tools on datasets that other libraries wrote into subfiles (E3SM's and PnetCDF's
# layouts). With every tool, each dataset must read like the single file that it represents. Error
# messages must name the missing, damaged or inconsistent subfile, and no tool may crash, hang or
# leave a file behind.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
join=$PWD/ncmpijoin dump=$PWD/ncmpidump validate=$PWD/ncvalidator write=$PWD/test/utils/foreign_write
sanitized=$PWD/test/utils/ncmpidump_sanitized
w=$work/w.nc f=$work/f.nc o=$work/o.nc
"$write" whole "$w" 1 || exit 1

# make LAYOUT SUBFILES [WRONG]: writes the dataset as f.nc, in this layout.
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
        check "$layout, $subfiles subfiles: read correctly" reads
        check "$layout, $subfiles subfiles: joined" joins
    done
    check "$layout: joined by three processes" joins launch 3
    check "$layout: copied and compared" copies
    check "$layout: removed after a join" removes
done
# If there is no master, OUT may have its name. Then --remove must not remove OUT.
onto_itself() {
    make e3sm 2 && status 1 "$join" -r "$f" "$f" && grep -q 'were not removed' "$work/err" &&
        status 0 "$PWD/cdfdiff" "$f" "$w" && [ -e "$f.0000" ] && [ -e "$f.0001" ]
}
check "a file joined under the name of a missing master is kept" onto_itself
# If the maps do not contain all elements of a variable, the missing elements must read as zeros.
"$write" whole "$w" 1 land || exit 1
for layout in e3sm master; do
    make $layout 3 land
    check "$layout, only land points: read correctly" reads
    check "$layout, only land points: joined" joins launch 3
    check "$layout, only land points: copied and compared" copies
done
"$write" whole "$w" 1 || exit 1

# Succeeds if every tool reports an error whose message matches PATTERN, and none creates a file.
all_refuse() {
    rm -f "$o"
    refused 1 "$1" "$join" "$f" "$o" && [ "$(ls "$work" | grep -c 'o.nc')" = 0 ] && status 1 "$dump" "$f" && grep -qE "$1" "$work/err" &&
        status 1 "$validate" "$f" && grep -qE "$1" "$work/out" "$work/err" && status 1 launch 2 "$PWD/ncmpicopy" "$f" "$o" &&
        rm -f "$o"
}
wrong() { make "$1" 3 "$2" && all_refuse "$3"; }
check "overlapping maps are refused" wrong e3sm overlap "two blobs contain element"
check "maps with a hole are refused" wrong e3sm hole "f.nc: variable '[a-z]*': no subfile contains element"
check "maps of land points that lack a run are refused" wrong e3sm lost "f.nc: variable '[a-z]*': the maps name [0-9]* elements, but"
check "maps beyond the bounds are refused" wrong e3sm outside "f.nc.0002: the map of blob .* exceeds the bounds"
check "maps below 0 are refused" wrong e3sm negative "f.nc.0002: the map of blob .* exceeds the bounds"
check "a subfile of another run is refused" wrong e3sm run "f.nc.0002: it belongs to another run"
check "a subfile with fewer records is refused" wrong e3sm records "f.nc.0002: it has only 2 records"
check "a subfile of another master is refused" wrong master run "f.nc.0002: it belongs to another run"
check "overlapping ranges are refused" wrong pnetcdf overlap "f.nc: variable 'area': the ranges of its subfiles overlap"
check "ranges with a hole are refused" wrong pnetcdf hole "f.nc: variable 'area': the ranges of its subfiles do not cover the whole dimension"
check "ranges beyond the bounds are refused" wrong pnetcdf outside "f.nc: variable 'area': the range of a subfile exceeds its dimension"
check "records that PnetCDF lost are reported" wrong pnetcdf records "f.nc.subfile_[0-2].nc: it has only 2 records"
gone() { make "$1" 3 && rm "$f$2" && all_refuse "f.nc$2: No such file"; }
check "a missing subfile is an error" gone e3sm .0002
check "a missing subfile of a master is an error" gone master .0000
check "a missing subfile of PnetCDF is an error" gone pnetcdf .subfile_1.nc
short() {
    local size n
    make "$1" 2 && size=$(stat -c %s "$f$2") || return
    for n in 40 $((size / 2)) $((size - 30)); do
        make "$1" 2 && truncate -s $n "$f$2" && all_refuse "f.nc$2: " || { echo "cut to $n"; return 1; }
    done
}
check "a truncated subfile is refused" short e3sm .0001
check "a truncated subfile of PnetCDF is refused" short pnetcdf .subfile_1.nc
twice() { make e3sm 2 && cp "$f.0000" "$f.0001" && all_refuse "f.nc: "; }
check "a duplicate subfile is refused" twice
swapped() {
    make pnetcdf 2 && mv "$f.subfile_0.nc" "$work/x" && mv "$f.subfile_1.nc" "$f.subfile_0.nc" && mv "$work/x" "$f.subfile_1.nc" &&
        status 1 "$join" "$f" "$o" && grep -q "f.nc.subfile_1.nc: it is a subfile with another number" "$work/err"
}
check "PnetCDF's subfiles in another order are refused" swapped
other() { make e3sm 2 && cp "$w" "$f.0001" && all_refuse "f.nc.0001: it is not a subfile"; }
check "a subfile that is another dataset is refused" other
none() { make e3sm 1 && rm "$f.0000" && refused 1 'f.nc: No such file' "$join" "$f" "$o"; }
check "a missing dataset is an error" none
stray() { make e3sm 1 && cp "$w" "$f.0000" && refused 1 'No such file' "$join" "$f" "$o" && status 1 "$validate" "$f"; }
check "another file with a subfile's name is refused" stray
# A file that contains all of its values is an ordinary file, even if its attributes indicate
# subfiles.
ordinary() { make master 2 && rm -f "$o" && "$PWD/ncmpicopy" "$f.0000" "$o" && status 0 "$validate" "$o"; }
check "a subfile with all values is an ordinary dataset" ordinary

# Damages random bytes. Each tool must either report an error or read the values as they are; none
# may crash or hang.
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
check "damaged subfiles cause no crash" broken e3sm
check "damaged subfiles of a master cause no crash" broken master
check "damaged subfiles of PnetCDF cause no crash" broken pnetcdf
finish
