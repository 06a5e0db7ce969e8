#!/bin/bash
# Tests ncmpijoin and the other tools on a dataset in subfiles. The joined file must have the same
# bytes as the file that the program writes without subfiles, and all tools must read the same
# values from the subfiles. Missing, foreign and damaged subfiles must be reported, and no output
# file may remain after an error.
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
# ncmpicopy and ncmpidiff must read the dataset in subfiles, and ncmpicopy must also write one.
copies() {
    rm -f "$o"* && status 0 launch 2 "$PWD/ncmpicopy" "$b" "$o" && status 0 "$PWD/cdfdiff" "$o" "$d" && rm "$o" &&
        status 0 "$PWD/ncmpidiff" "$b" "$d" && blob 2 2 "$PWD/ncmpicopy" "$d" "$o" && status 0 "$PWD/cdfdiff" "$o" "$d" &&
        rm -f "$o"*
}
joins() {
    rm -f "$o"
    status 0 "$@" "$b" "$o" && cmp "$o" "$d" && [ "$(ls "$work" | grep -c 'o.nc')" = 1 ]
}
# A close with nc_blob_join must create the same file as ncmpijoin.
closes() {
    rm -f "$o"*
    PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=$2;nc_blob_join=close" launch 3 "$write" "$1" "$o" && cmp "$o" "$d" &&
        [ "$(ls "$work" | grep -c 'o.nc')" = 1 ]
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
    [ "$(ls "$b".* | wc -l)" = "$subfiles" ] && joins "$join" && closes "$format" "$subfiles" && reads
}
for format in 1 2 5; do
    for subfiles in 1 2 3; do
        check "CDF-$format, $subfiles subfiles: the joined file has the same bytes" alike $format $subfiles
    done
done
d=$work/d5.nc
check "three processes join and check" joins launch 3 "$join" -c
check "ncmpicopy and ncmpidiff read the dataset" copies
keep() { rm -rf "$work/kept" && mkdir "$work/kept" && cp "$b" "$b".* "$work/kept/"; }
restore() { rm -f "$b"*; cp "$work/kept/"* "$work/"; }
keep
# all_refuse PATTERN [JOIN_PATTERN]: succeeds if every tool reports an error whose message matches
# PATTERN (JOIN_PATTERN if ncmpijoin has a different message), and none creates a file.
all_refuse() {
    rm -f "$o"
    refused 1 "${2-$1}" "$join" "$b" "$o" && ! [ -e "$o" ] && status 1 launch 2 "$join" "$b" "$o" &&
        [ "$(ls "$work" | grep -c 'o.nc')" = 0 ] && status 1 "$dump" "$b" && grep -qE "$1" "$work/err" &&
        status 1 "$validate" "$b"
}
missing() {
    rm "$b.0001"
    all_refuse "variable '.*': elements [0-9]+ to [0-9]+.* missing subfile: .*b.nc.0001" \
        "variable '.*', which is in subfile 1: opening .*b.nc.0001" &&
        status 0 "$dump" -v scalar "$b" && grep -q '3.25' "$work/out"
}
check "a missing subfile is an error" missing
none() { rm -f "$b".*; all_refuse "none of its subfiles exists"; }
check "missing subfiles are an error" none
restore
exchanged() { cp "$b.0000" "$b.0001"; all_refuse "b.nc.0001: it is a subfile with another number"; }
check "exchanged subfiles are refused" exchanged
restore
foreign() {
    blob 3 3 "$write" 5 "$work/f.nc" && cp "$work/f.nc.0001" "$b.0001" && rm "$work"/f.nc* &&
        all_refuse "b.nc.0001: it is a subfile of another dataset or another run"
}
check "a subfile of another run is refused" foreign
restore
not_one() { echo no >"$b.0001"; all_refuse "b.nc.0001: "; }
check "a subfile that is no dataset is refused" not_one
restore
cut() {
    local size n
    size=$(stat -c %s "$b.0001")
    for n in 100 3000 6000 $((size / 2)) $((size - 8)); do
        head -c $n "$work/kept/b.nc.0001" >"$b.0001"
        all_refuse "b.nc.0001: " || { echo "cut to $n"; return 1; }
    done
}
check "a truncated subfile is refused" cut
restore
folder() { rm "$b.0001" && mkdir "$b.0001" && all_refuse "b.nc.0001: Not a regular file"; rmdir "$b.0001"; }
check "a directory with a subfile's name is refused" folder
restore
superblock() {
    printf '\001' | dd of="$b" bs=1 seek=20 conv=notrunc 2>/dev/null
    refused 1 'first page is corrupt' "$join" "$b" "$o" && status 1 "$validate" "$b"
}
check "a damaged superblock is refused" superblock
restore
# The master contains the last variable, because only one process writes it.
short_master() {
    printf 'netcdf p { dimensions: n = 5000; variables: double a(n); int s; data: s = 7; }\n' >"$work/p.cdl"
    rm -f "$b"* "$o" && "$PWD/ncmpigen" -b -o "$work/p.nc" "$work/p.cdl" && blob 2 2 "$PWD/ncmpicopy" "$work/p.nc" "$b" &&
        [ -e "$b.0001" ] && status 0 "$join" "$b" "$o" && cmp "$work/p.nc" "$o" && rm "$o" && truncate -s -4 "$b" &&
        refused 1 'b.nc: offset [0-9]*: the file ends before the end of its data' launch 2 "$join" "$b" "$o" &&
        [ "$(ls "$work" | grep -c 'o.nc')" = 0 ]
}
check "a truncated master is refused" short_master
restore
long_master() {
    head -c 9999 "$d" >>"$b"
    joined="$work/long.nc"
    cat "$d" >"$joined" && head -c 9999 "$d" >>"$joined" && rm -f "$o" && status 0 launch 2 "$join" -c "$b" "$o" && cmp "$o" "$joined"
}
check "the bytes after the last record are joined" long_master
restore
hints() { PNETCDF_HINTS='nc_stage=enable;nc_burst_buf=enable;nc_short_file=error' joins "$join"; }
check "hints in the environment are ignored" hints
check "an ordinary file is refused" refused 1 'nothing to join' "$join" "$d" "$o"
check "an ordinary file is refused by several processes" status 1 launch 3 "$join" "$d" "$o"
check "a missing dataset is an error" status 1 launch 2 "$join" "$work/no.nc" "$o"
check "an existing file is kept" eval 'cp "$d" "$o"; echo >>"$o"; cp "$o" "$work/e"; refused 1 "File exists" "$join" "$b" "$o" && cmp "$o" "$work/e"'
check "-f overwrites an existing file" eval 'status 0 "$join" -f "$b" "$o" && cmp "$o" "$d"'
check "-f refuses to overwrite a subfile" refused 1 'this file is part of the dataset' "$join" -f "$b" "$b.0001"
check "-f refuses to overwrite the dataset itself" refused 1 'this file is part of the dataset' "$join" -f "$b" "$work/../$(basename "$work")/b.nc"
mkfifo "$work/pipe"
check "-f refuses to overwrite a pipe" eval 'refused 1 "Not a regular file" "$join" -f "$b" "$work/pipe" && [ -p "$work/pipe" ]'
check "a missing directory is an error" refused 1 'No such file' "$join" "$b" "$work/no/o.nc"
check "ncvalidator -r refuses a dataset in subfiles" refused 2 'one file with ncmpijoin' "$validate" -r "$work/r.nc" "$b"
fault=$PWD/test/support/.libs/fault.so
if [ -e "$fault" ]; then
    faulty() {
        rm -f "$o"
        status 1 env LD_PRELOAD="$fault" NCMPI_FAULT="$1" "$join" --remove "$b" "$o" && grep -q "$2" "$work/err" &&
            [ "$(ls "$work" | grep -c 'o.nc')" = 0 ] && ls "$b" "$b.0000"
    }
    check "full disk: no output remains, no subfile is removed" faulty "write:1+:ENOSPC:*o.nc*" 'o.nc'
    check "a sync that fails keeps the subfiles" faulty "sync:1:EIO:*o.nc*" 'o.nc'
    check "a joined file that differs when read is removed" faulty "read:5+:wrong:*o.nc*" 'differ from those of the dataset'
    check "a subfile that cannot be read is an error" faulty "read:20+:EIO:*b.nc.0001" 'b.nc.0001'
    in_parts() {
        rm -f "$o"
        status 0 env LD_PRELOAD="$fault" NCMPI_FAULT="read:1+:short:*b.nc*" "$join" "$b" "$o" && cmp "$o" "$d"
    }
    check "short transfers are continued" in_parts
fi

# Damages random bytes of a subfile. Each tool must either report an error or read the values as
# they are; none may crash or hang.
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
check "damaged subfiles cause no crash" broken
restore
# Tools must detect a changed value, must name its variable, and must not remove any file.
flipped() {
    local at
    at=$("$PWD/ncoffsets" "$b.0001" | awk '/ irregular\(D/ { print $1 }')
    [ -n "$at" ] || { echo "no variable that is in blobs"; return 1; }
    printf '\125' | dd of="$b.0001" bs=1 seek=$((at + 1)) conv=notrunc 2>/dev/null
    rm -f "$o"
    for check in "$join -r $b $o" "launch 2 $join -c $b $o"; do
        status 1 $check && grep -q "b.nc.0001: variable '.*': the values that process . wrote are damaged" "$work/err" && ! [ -e "$o" ] || return
    done
    status 1 "$validate" "$b" && grep -q "b.nc.0001: variable '.*': the values that process . wrote are damaged" "$work/out" && [ -e "$b.0001" ]
}
if ! "$join" -fcv "$b" "$o" | grep -q 'built without'; then
    check "a changed value is detected" flipped
    restore
fi
more() {
    launch 2 "$write" 5 "$d" more && launch 2 "$write" 5 "$b" more || return
    joins "$join" -c && reads && copies
}
d=$work/m.nc
cp "$work/d5.nc" "$d"
check "subfiles of different numbers of processes are joined" more

removes() {
    rm -f "$o"
    ln -s "$b" "$work/link.nc"
    status 0 launch 2 "$join" -rv "$work/link.nc" "$o" && [ "$(grep -v checksums "$work/out")" = "$o: written and checked
$work/link.nc: removed, with its subfiles" ] &&
        cmp "$o" "$d" && [ "$(ls "$work" | grep -c -e '^b.nc' -e link.nc)" = 0 ]
}
check "--remove: removes the subfiles after the check" removes
finish
