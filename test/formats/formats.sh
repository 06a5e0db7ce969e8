#!/bin/bash
# Checks that doc/formats.md is complete. An independent decoder, written only from that document,
# drains logs to the file, decodes a journal, and joins a dataset in subfiles. Its results must be
# identical to those of the library.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
dir=$(scratch formats) || exit 99
trap 'launch_kill; rm -rf "$dir"' EXIT
examples=${srcdir:-.}/examples/C
python=$(python_with 'xxhash')
decoder() { "$python" -B "${srcdir:-.}/test/formats/decoder.py" "$@"; }

fresh() { rm -rf "$dir"/*; }

# ---- logs ----

# leave N POINT HINTS: kills N processes when the first one reaches the call POINT, and stores the
# names of their logs in $metas.
leave() {
    fresh
    { PNETCDF_HINTS="nc_burst_buf=enable;nc_burst_buf_dirname=$dir;$3" BURST_CALLS_DIR=$dir BURST_PUTS=30 \
        BURST_PIDS=$dir/pids BURST_KILL_RANK=0 BURST_KILL_AT=$2 \
        launch "$1" test/burst/burst_killed write "$file" "$dir/told"; } >"$dir/out" 2>&1
    mapfile -t metas < <(ls "$dir"/a.nc.*.meta 2>/dev/null)
}
file=$dir/a.nc

# logs N HINTS: drains the logs with the decoder into a copy of the file, and with ncmpilog into the
# file itself, and compares the two files. Skips points where no log entry is pending, or where the
# file is not yet a dataset.
logs() { # N HINTS
    local point compared=0
    for ((point = 10; point < 160; point += 9)); do
        leave "$1" "$point" "$2"
        if [ "${#metas[@]}" = 0 ] || ! ./ncvalidator -q "$file" 2>/dev/null; then continue; fi
        decoder log "${metas[@]}" >"$dir/waiting" || return 1
        if [ ! -s "$dir/waiting" ]; then continue; fi
        cp "$file" "$dir/copy.nc"
        decoder replay "$dir/copy.nc" "${metas[@]}" && ./ncmpilog replay -q -r "$dir" >"$dir/out" 2>&1 &&
            ./cdfdiff "$dir/copy.nc" "$file" && cmp "$dir/copy.nc" "$file" || { cat "$dir/out"; return 1; }
        compared=$((compared + 1))
    done
    echo "$compared points"
    [ "$compared" -ge 2 ]
}
broken_log() {
    leave 1 37 '' && decoder log "${metas[@]}" >"$dir/out" && [ -s "$dir/out" ] &&
        printf X | dd of="${metas[0]}" bs=1 seek=4130 conv=notrunc 2>/dev/null &&
        ! decoder log "${metas[@]}" >"$dir/out" 2>&1
}

# ---- the journal ----

redef() { "$redefine" "$@" >"$dir/out" 2>&1; }
redefine=test/mpio/redef_killed

# head_is FILE HEADER: succeeds if the file begins with the bytes of HEADER.
head_is() { cmp -n "$(stat -c %s "$2")" "$1" "$2"; }
journal() { # CHANGE POINT
    fresh
    redef make "$file" && cp "$file" "$dir/before.nc" || return 1
    { BURST_CALLS_DIR=$dir BURST_PIDS=$dir/pids BURST_KILL_AT=$2 redef try "$file" "$1"; } 2>/dev/null
    [ -e "$file.redef" ] || { echo "it was not interrupted"; return 1; }
    decoder journal "$file" >"$dir/told" && cat "$dir/told" && head_is "$dir/before.nc" "$file.old" &&
        ./ncvalidator -q -f "$file" && { head_is "$file" "$file.new" || head_is "$file" "$file.old"; }
}

# ---- subfiles ----

blobs() { # N PROGRAM ARGUMENT...: the program creates the file named by its last argument
    local n=$1
    shift
    launch "$n" "$@" "$dir/a.nc" >"$dir/out" 2>&1 &&
        PNETCDF_HINTS='nc_blob=enable;nc_num_subfiles=2' launch "$n" "$@" "$dir/b.nc" >"$dir/out" 2>&1 ||
        { cat "$dir/out"; return 1; }
    [ -s "$dir/b.nc.0000" ] && decoder join "$dir/b.nc" "$dir/o.nc" && cmp "$dir/a.nc" "$dir/o.nc"
}
# framed CODEC N: tests blobs with several frames in each chain. Some values are put twice, and some
# are in the master file.
framed() {
    fresh
    launch "$2" test/formats/frames_write "$dir/a.nc" >"$dir/out" 2>&1 &&
        PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2;nc_compress=$1" \
            launch "$2" test/formats/frames_write "$dir/b.nc" >"$dir/out" 2>&1 || { cat "$dir/out"; return 1; }
    [ $(($(od -An -tu1 -j55 -N1 "$dir/b.nc") & 4)) = 4 ] || { echo "not in frames"; return 1; }
    decoder join "$dir/b.nc" "$dir/o.nc" && cmp "$dir/a.nc" "$dir/o.nc"
}
# damaged_frame CODEC: changes the first byte of the first frame in the last chain, which the
# decoder must detect.
damaged_frame() {
    framed "$1" 3 || return
    local file=$dir/b.nc.0001 chain log at
    log=$(./ncoffsets "$file" | awk '/ frames\(frames\)/ { print $1 }')
    chain=$(grep -abo NCCHAIN "$file" | tail -n 1)
    at=$((log + 0x$(od -An -tx1 -j$((${chain%%:*} + 48)) -N8 "$file" | tr -d ' ')))
    printf "\\x$(printf %02x $((0x$(od -An -tx1 -j$at -N1 "$file" | tr -d ' ') ^ 85)))" |
        dd of="$file" bs=1 seek=$at conv=notrunc 2>/dev/null
    ! decoder join "$dir/b.nc" "$dir/o.nc" 2>"$dir/out" && grep -q "the checksum of a frame is wrong" "$dir/out"
}
example() { fresh && blobs "$2" "examples/C/$1"; }
damaged() {
    example "$1" 2 && printf X | dd of="$dir/b.nc.0001" bs=1 conv=notrunc \
        seek=$(($(stat -c %s "$dir/b.nc.0001") - 3)) 2>/dev/null
    ! decoder join "$dir/b.nc" "$dir/o.nc" 2>"$dir/out" && grep -q checksum "$dir/out"
}

if [ -z "$python" ]; then
    skip "the formats are as documented" "no python3 with xxhash"
    finish
    exit
fi
if [ -x test/burst/burst_killed ]; then
    check "a log of one process is as documented" logs 1 ''
    check "logs of three processes are as documented" logs 3 ''
    check "a log that three processes share is as documented" logs 3 nc_burst_buf_shared_logs=enable
    check "a damaged entry of a log is detected" broken_log
else
    skip "logs" "no burst buffer"
fi
for point in 50 60 75 90; do check "a journal is as documented, data moved up to call $point" journal 0 "$point"; done
for source in "$examples"/*.c; do
    name=${source##*/} name=${name%.c}
    check "$name in subfiles is as documented" example "$name" 3
done
check "a damaged value is detected" damaged blocks
while read -r codec module macro; do
    if ! grep -q "define $macro " config.h || ! "$python" -c "import $module" 2>/dev/null; then
        skip "values in frames of $codec" "no $codec, or no python3 with $module"
        continue
    fi
    for n in 2 5; do check "frames of $codec by $n processes are as documented" framed "$codec" "$n"; done
    check "a damaged frame of $codec is detected" damaged_frame "$codec"
done <<EOF
zstd zstandard HAVE_ZSTD
lz4 lz4.block HAVE_LZ4
EOF
finish
