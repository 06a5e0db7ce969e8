#!/bin/bash
# Tests the tools on a dataset in subfiles whose values are compressed in frames. They must read the
# values that the program writes without compression, report the file, variable and record of any
# damage, and never crash or hang on damaged files. ncmpijoin --compact must reclaim unreferenced
# bytes, and must not lose a value if a write fails or the process is killed.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
join=$PWD/ncmpijoin dump=$PWD/ncmpidump validate=$PWD/ncvalidator write=$PWD/test/formats/frames_write
sanitized=$PWD/test/utils/ncmpidump_sanitized
b=$work/b.nc o=$work/o.nc d=$work/d.nc

keep() { rm -rf "$work/kept" && mkdir "$work/kept" && cp "$b" "$b".* "$work/kept/"; }
restore() { rm -f "$b"* "$o"*; cp "$work/kept/"* "$work/"; }
frame() { # CODEC NAME
    PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2;nc_compress=$1" launch 3 "$write" "$2"
}

# ---- the same values ----

joins() { rm -f "$o"* && status 0 "$@" "$b" "$o" && cmp "$o" "$d" && rm "$o"; }
reads() {
    "$dump" -n q -v series,bytes,shorts "$b" >"$work/b.txt" &&
        "$dump" -n q -v series,bytes,shorts "$d" | cmp - "$work/b.txt" &&
        status 0 "$PWD/cdfdiff" "$b" "$d" && status 0 "$validate" "$b" && [ "$("$validate" "$b" | wc -l)" = 1 ]
}
copies() {
    status 0 launch 2 "$PWD/ncmpicopy" "$b" "$o" && status 0 "$PWD/cdfdiff" "$o" "$d" && rm "$o" &&
        status 0 launch 2 "$PWD/ncmpidiff" "$b" "$d"
}
alike() {
    rm -f "$b"*
    frame "$1" "$b" && [ $(($(od -An -tu1 -j55 -N1 "$b") & 4)) = 4 ] && joins "$join" &&
        joins launch 3 "$join" -c && reads
}

# ---- damage ----

# where VARIABLE: prints the variable's offset in the first subfile. The variable `frames` contains
# the log of frames.
where() { "$PWD/ncoffsets" "$b.0000" | awk -v v=" $1(" 'index($0, v) { print $1; exit }'; }
# number OFFSET: prints the 64-bit number at the offset. word OFFSET VALUE: stores one there.
# page_at OFFSET: prints the page offset that is stored at OFFSET, without its check bits.
page_at() { echo $(($(number "$1") & 0xffffffffffff)); }
number() { od -An -tx1 -j"$1" -N8 "$b.0000" | tr -d ' \n' | sed 's/^/0x/'; }
word() {
    local hex
    printf -v hex %016x "$2"
    printf "$(sed 's/../\\x&/g' <<<"$hex")" | dd of="$b.0000" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
flip() {
    printf "\\x$(printf %02x $((0x$(od -An -tx1 -j"$1" -N1 "$b.0000" | tr -d ' ') ^ 85)))" |
        dd of="$b.0000" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
# chain VARIABLE [RECORD]: prints the offset of the chain of frames for the first blob of the
# record, which it finds through the table.
chain() {
    local record=${2-0} level=0 log page
    log=$(where frames)
    while [ $(((2 << level) - 2)) -lt "$record" ]; do level=$((level + 1)); done
    page=$(page_at $(($(where "$1") + 8 * level)))
    echo $((log + $(number $((log + page + (record + 1 - (1 << level)) * blobs * 16)))))
}
# Succeeds if every tool reports an error whose message matches PATTERN, and none creates a file.
all_refuse() {
    rm -f "$o"
    refused 1 "$1" "$join" "$b" "$o" && ! [ -e "$o" ] && refused 1 "$1" launch 2 "$join" -c "$b" "$o" &&
        [ "$(ls "$work" | grep -c 'o.nc')" = 0 ] && status 1 "$dump" "$b" && grep -qE "$1" "$work/err" &&
        status 1 "$validate" "$b" && grep -qE "$1" "$work/out"
}
place="b.nc.0000: variable 'series', record 3"
frame_damaged() {
    flip $(($(where frames) + $(number $(($(chain series 3) + 48)))))
    all_refuse "$place: the values that process 0 wrote are damaged: the checksum of a frame is wrong"
}
chain_damaged() {
    flip $(($(chain series 3) + 20))
    all_refuse "$place: the values that process 0 wrote are damaged: the chain of frames is damaged"
}
page=
place_damaged() { # VALUE PATTERN
    page=$(($(where frames) + $(page_at $(($(where series) + 16)))))
    word $page "$1" && all_refuse "$place.*: $2"
}
# If the offset of a table page is outside the log, tools that need the page's records must report
# an error.
level_damaged() {
    word $(($(where series) + 16)) 1000000000
    rm -f "$o"
    refused 1 "$place: the offset of a page of its table is damaged" "$join" "$b" "$o" && ! [ -e "$o" ] &&
        status 1 "$validate" "$b" &&
        grep -q "b.nc.0000: variable 'series': the offset of page 2 of its table is damaged" "$work/out" &&
        status 1 "$join" --compact "$b"
}
shared_page() {
    word $(($(where series) + 16)) "$(number $(($(where bytes) + 16)))"
    status 1 "$validate" "$b" && grep -q 'the offset of page 2 of its table is damaged' "$work/out" &&
        status 1 "$join" -c "$b" "$o"
}
cut() {
    local n size
    size=$(stat -c %s "$b.0000")
    for n in $((size - 1)) $((size / 2)) $(($(where frames) + 4)) 1000; do
        head -c "$n" "$work/kept/b.nc.0000" >"$b.0000"
        all_refuse "b.nc.0000: " || { echo "cut to $n"; return 1; }
    done
}
foreign() {
    frame "$codec" "$work/f.nc" && cp "$work/f.nc.0000" "$b.0000" && rm "$work"/f.nc* &&
        all_refuse "b.nc.0000: it is a subfile of another dataset or another run"
}
# Damages random bytes. Each tool must either report an error or read the values as they are; none
# may crash or hang.
broken() {
    local i at size
    size=$(stat -c %s "$b.0000")
    for i in $(seq "${JOIN_SEEDS:-25}"); do
        restore
        at=$((RANDOM * 32768 + RANDOM))
        flip $((i % 2 == 0 ? at % size : at % 12000))
        timeout 60 "$join" -c "$b" "$o" >"$work/out" 2>&1
        [ $? -le 1 ] && timeout 60 "$validate" -q "$b"
        [ $? -le 1 ] && timeout 60 "$join" --compact "$b" >"$work/out" 2>&1
        [ $? -le 1 ] || { echo "byte $at"; cat "$work/out"; return 1; }
        [ -x "$sanitized" ] || continue
        timeout 60 "$sanitized" -v series "$b" >"$work/out" 2>"$work/err"
        [ $? -le 1 ] && ! grep -q ERROR "$work/err" || { echo "byte $at"; cat "$work/err"; return 1; }
    done
}

# ---- --compact ----

subfiles_size() { cat "$b".* | wc -c; }
only() { [ "$(ls "$work" | grep '^b.nc' | tr '\n' ' ')" = "b.nc b.nc.0000 b.nc.0001 " ]; }
compacts() {
    local was now
    chmod 640 "$b.0000"
    was=$(subfiles_size)
    status 0 "$@" "$join" -v --compact "$b" && now=$(subfiles_size) &&
        [ "$(cat "$work/out")" = "$b: $((was - now)) bytes reclaimed" ] && [ "$now" -lt "$was" ] && only &&
        [ "$(stat -c %a "$b.0000")" = 640 ] && joins "$join" -c && reads &&
        status 0 "$join" -v --compact "$b" && grep -q ': 0 bytes' "$work/out" && joins "$join"
}
# Creates a temporary file like one left by a killed ncmpijoin, which the next one must remove. The
# last eight digits of its name are the exclusive or of the token's two numbers.
leftover() {
    local low
    low=$(od -An -tx4 --endian=big -j20 -N4 "$b" | tr -d ' ')
    printf -v low %08x $((0x$low ^ 0x$(od -An -tx4 --endian=big -j28 -N4 "$b" | tr -d ' ')))
    echo rest >"$b.0000.compact-$low"
    status 0 "$join" --compact "$b" && only && joins "$join"
}
failing() { # FAULT PATTERN
    status 1 env LD_PRELOAD="$fault" NCMPI_FAULT="$1" "$join" --compact "$b" && grep -q "$2" "$work/err" && only &&
        cmp "$b.0000" "$work/kept/b.nc.0000" && joins "$join"
}

# Kills ncmpijoin as soon as the replacement for the first or second subfile exists. Afterwards,
# each subfile must be either the old one or the complete new one.
killed() {
    local i pid
    for i in 0 1 0 1 0 1 0 1; do
        restore
        "$join" --compact "$b" 2>/dev/null &
        pid=$!
        until compgen -G "$b.000$i.compact-*" >/dev/null || ! kill -0 $pid 2>/dev/null; do :; done
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        joins "$join" -c && status 0 "$join" --compact "$b" && only && joins "$join" || return
    done
}

codecs=
grep -q 'define HAVE_ZSTD ' config.h && codecs+=' zstd'
grep -q 'define HAVE_LZ4 ' config.h && codecs+=' lz4'
if [ -z "$codecs" ]; then
    skip "values in frames" "neither zstd nor LZ4"
    finish
    exit
fi
launch 3 "$write" "$d"
for codec in $codecs; do check "$codec: the joined file has the same values" alike "$codec"; done
check "ncmpicopy and ncmpidiff read compressed subfiles" copies
keep
blobs=$(od -An -tu8 --endian=big -j32 -N8 "$b") blobs=$((blobs - blobs / 2))
check "a damaged frame is refused" frame_damaged
restore
check "a damaged chain is refused" chain_damaged
restore
check "a negative offset in a table is refused" place_damaged -1 "its table has invalid offsets"
restore
check "an offset beyond the log in a table is refused" place_damaged 1000000000000 "its table has invalid offsets"
restore
check "an offset of another chain in a table is refused" eval 'place_damaged $(($(chain series 2) - $(where frames))) "its table has invalid offsets"'
restore
check "a page beyond the log is refused" level_damaged
restore
check "two pages with one offset are refused" shared_page
restore
check "a truncated log is refused" cut
restore
check "a subfile of another run is refused" foreign
restore
RANDOM=4711
check "damaged subfiles cause no crash" broken
restore
check "--compact removes unused space" compacts
restore
check "--compact works with two processes" compacts launch 2
restore
check "--compact refuses an ordinary dataset" refused 1 'nothing to join' "$join" --compact "$d"
check "--compact refuses other options" eval 'status 1 "$join" --compact -f "$b" && grep -q "takes one dataset" "$work/err"'
fault=$PWD/test/support/.libs/fault.so
if [ -e "$fault" ]; then
    check "--compact on a full disk keeps the old subfile" failing "write:2+:ENOSPC:*compact-*" 'b.nc.0000.compact-'
    check "--compact keeps the old subfile if the rename fails" failing "rename:1:EIO:*compact-*" 'b.nc.0000'
    check "--compact keeps the old subfile if the sync fails" failing "sync:1:EIO:*compact-*" 'b.nc.0000.compact-'
fi
check "--compact removes files of a killed one" leftover
check "a killed --compact loses nothing" killed
finish
