#!/bin/bash
# ncmpijoin, and the tools on a dataset that is in subfiles: one file is what the program
# writes without them, byte for byte; what is missing, foreign or broken is told.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
join=$PWD/ncmpijoin dump=$PWD/ncmpidump validate=$PWD/ncvalidator write=$PWD/test/utils/join_write
sanitized=$PWD/test/utils/ncmpidump_sanitized
b=$work/b.nc o=$work/o.nc
usual "$join" 1

blob() {
    local subfiles=$1
    shift
    PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=$subfiles" launch "$@"
}
# The library's tools read it, and write one.
copies() {
    rm -f "$o"* && status 0 launch 2 "$PWD/ncmpicopy" "$b" "$o" && status 0 "$PWD/cdfdiff" "$o" "$d" && rm "$o" &&
        status 0 "$PWD/ncmpidiff" "$b" "$d" && blob 2 2 "$PWD/ncmpicopy" "$d" "$o" && status 0 "$PWD/cdfdiff" "$o" "$d" &&
        rm -f "$o"*
}
joins() {
    rm -f "$o"
    status 0 "$@" "$b" "$o" && cmp "$o" "$d" && [ "$(ls "$work" | grep -c 'o.nc')" = 1 ]
}
reads() {
    rm -f "$work/b.txt"
    "$dump" -n q "$b" >"$work/b.txt" && "$dump" -n q "$d" | cmp - "$work/b.txt" && status 0 "$PWD/cdfdiff" "$b" "$d" &&
        status 0 "$validate" "$b" && [ "$("$validate" "$b" | grep -vc ': note: .* have no checksum$')" = 1 ]
}
alike() {
    local format=$1 subfiles=$2
    d=$work/d$format.nc
    rm -f "$b"*
    [ -e "$d" ] || launch 3 "$write" "$format" "$d" || return
    blob "$subfiles" 3 "$write" "$format" "$b" || return
    [ "$(ls "$b".* | wc -l)" = "$subfiles" ] && joins "$join" && reads
}
for format in 1 2 5; do
    for subfiles in 1 2 3; do
        check "CDF-$format, $subfiles subfiles: the same bytes" alike $format $subfiles
    done
done
d=$work/d5.nc
check "by three processes, checked" joins launch 3 "$join" -c
check "ncmpicopy and ncmpidiff" copies
keep() { rm -rf "$work/kept" && mkdir "$work/kept" && cp "$b" "$b".* "$work/kept/"; }
restore() { rm -f "$b"*; cp "$work/kept/"* "$work/"; }
keep
# told PATTERN: all tools tell, and none makes a file.
told() {
    rm -f "$o"
    refused 1 "$1" "$join" "$b" "$o" && ! [ -e "$o" ] && status 1 launch 2 "$join" "$b" "$o" &&
        [ "$(ls "$work" | grep -c 'o.nc')" = 0 ] && status 1 "$dump" "$b" && grep -qE "$1" "$work/err" &&
        status 1 "$validate" "$b"
}
missing() {
    rm "$b.0001"
    told "variable '.*': elements [0-9]+ to [0-9]+.* missing: .*b.nc.0001" &&
        status 0 "$dump" -v scalar "$b" && grep -q '3.25' "$work/out"
}
check "a subfile is missing" missing
none() { rm -f "$b".*; told "none of its subfiles is there"; }
check "all of them are" none
restore
exchanged() { cp "$b.0000" "$b.0001"; told "b.nc.0001: it was the subfile of another number"; }
check "one is in another's place" exchanged
restore
foreign() {
    blob 3 3 "$write" 5 "$work/f.nc" && cp "$work/f.nc.0001" "$b.0001" && rm "$work"/f.nc* &&
        told "b.nc.0001: it is a subfile of another dataset, or of another run"
}
check "one is of another run" foreign
restore
not_one() { echo no >"$b.0001"; told "b.nc.0001: "; }
check "one is no dataset" not_one
restore
cut() {
    local size n
    size=$(stat -c %s "$b.0001")
    for n in 100 3000 6000 $((size / 2)) $((size - 8)); do
        head -c $n "$work/kept/b.nc.0001" >"$b.0001"
        told "b.nc.0001: " || { echo "cut to $n"; return 1; }
    done
}
check "one is cut off" cut
restore
folder() { rm "$b.0001" && mkdir "$b.0001" && told "b.nc.0001: Not a regular file"; rmdir "$b.0001"; }
check "one is a folder" folder
restore
envelope() {
    printf '\001' | dd of="$b" bs=1 seek=20 conv=notrunc 2>/dev/null
    refused 1 'first page is damaged' "$join" "$b" "$o" && status 1 "$validate" "$b"
}
check "the envelope is damaged" envelope
restore
check "an ordinary file" refused 1 'nothing to join' "$join" "$d" "$o"
check "... by several processes" status 1 launch 3 "$join" "$d" "$o"
check "no such dataset" status 1 launch 2 "$join" "$work/no.nc" "$o"
check "an existing file is kept" eval 'cp "$d" "$o"; echo >>"$o"; cp "$o" "$work/e"; refused 1 "File exists" "$join" "$b" "$o" && cmp "$o" "$work/e"'
check "-f overwrites it" eval 'status 0 "$join" -f "$b" "$o" && cmp "$o" "$d"'
check "not onto a subfile" refused 1 'the dataset is in this file' "$join" -f "$b" "$b.0001"
check "not onto itself" refused 1 'the dataset is in this file' "$join" -f "$b" "$work/../$(basename "$work")/b.nc"
mkfifo "$work/pipe"
check "not in place of a pipe" eval 'refused 1 "Not a regular file" "$join" -f "$b" "$work/pipe" && [ -p "$work/pipe" ]'
check "no such folder" refused 1 'No such file' "$join" "$b" "$work/no/o.nc"
check "no copy of the master is repaired" refused 2 'ncmpijoin makes one file' "$validate" -r "$work/r.nc" "$b"
fault=$PWD/test/support/.libs/fault.so
if [ -e "$fault" ]; then
    faulty() {
        rm -f "$o"
        status 1 env LD_PRELOAD="$fault" NCMPI_FAULT="$1" "$join" --remove "$b" "$o" && grep -q "$2" "$work/err" &&
            [ "$(ls "$work" | grep -c 'o.nc')" = 0 ] && ls "$b" "$b.0000"
    }
    check "full disk: nothing is left, nothing removed" faulty "write:1+:ENOSPC:*o.nc*" 'o.nc'
    check "not on the device" faulty "sync:1:EIO:*o.nc*" 'o.nc'
    check "a file that reads otherwise" faulty "read:1:wrong:*o.nc*" 'not what had been written'
    check "a subfile that cannot be read" faulty "read:20+:EIO:*b.nc.0001" 'b.nc.0001'
    in_parts() {
        rm -f "$o"
        status 0 env LD_PRELOAD="$fault" NCMPI_FAULT="read:1+:short:*b.nc*" "$join" "$b" "$o" && cmp "$o" "$d"
    }
    check "short transfers go on" in_parts
fi

# Bytes of subfiles that are not as they were: an error, or the values as far as they are
# those of the subfile; no tool crashes, or waits.
broken() {
    local i at
    for i in $(seq ${JOIN_SEEDS:-40}); do
        restore
        at=$((RANDOM % 6000))
        [ $((i % 4)) != 0 ] || at=$((1048576 + RANDOM % 12000))
        printf "\\x$(printf %02x $((RANDOM % 256)))" | dd of="$b.0001" bs=1 seek=$at conv=notrunc 2>/dev/null
        rm -f "$o"
        timeout 60 "$join" -c "$b" "$o" >"$work/out" 2>&1
        [ $? -le 1 ] && timeout 60 "$validate" -q "$b"
        [ $? -le 1 ] || { echo "byte $at"; cat "$work/out"; return 1; }
        [ -x "$sanitized" ] || continue
        timeout 60 "$sanitized" "$b" >"$work/out" 2>"$work/err"
        [ $? -le 1 ] && ! grep -q ERROR "$work/err" || { echo "byte $at"; cat "$work/err"; return 1; }
    done
}
RANDOM=4711
check "broken subfiles" broken
restore
# A bit of a value: found, by name, and nothing is removed.
flipped() {
    local at
    at=$("$PWD/ncoffsets" "$b.0001" | awk '/ irregular\(D/ { print $1 }')
    [ -n "$at" ] || { echo "no variable that is in blobs"; return 1; }
    printf '\125' | dd of="$b.0001" bs=1 seek=$((at + 1)) conv=notrunc 2>/dev/null
    rm -f "$o"
    for check in "$join -r $b $o" "launch 2 $join -c $b $o"; do
        status 1 $check && grep -q "b.nc.0001: variable '.*': what process . wrote is not there" "$work/err" && ! [ -e "$o" ] || return
    done
    status 1 "$validate" "$b" && grep -q "b.nc.0001: variable '.*': what process . wrote is not there" "$work/out" && [ -e "$b.0001" ]
}
if ! "$join" -fcv "$b" "$o" | grep -q 'built without'; then
    check "a value that has changed" flipped
    restore
fi
more() {
    launch 2 "$write" 5 "$d" more && launch 2 "$write" 5 "$b" more || return
    joins "$join" -c && reads && copies
}
d=$work/m.nc
cp "$work/d5.nc" "$d"
check "written on by another number of processes" more

removes() {
    rm -f "$o"
    ln -s "$b" "$work/link.nc"
    status 0 launch 2 "$join" -rv "$work/link.nc" "$o" && [ "$(grep -v checksums "$work/out")" = "$o: written and checked
$work/link.nc: removed, and its subfiles" ] &&
        cmp "$o" "$d" && [ "$(ls "$work" | grep -c -e '^b.nc' -e link.nc)" = 0 ]
}
check "--remove: after the check" removes
finish
