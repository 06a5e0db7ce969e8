#!/bin/bash
# Flips a bit in the metadata of a dataset in subfiles. ncvalidator and ncmpijoin must then either
# report an error, in which case ncmpijoin --remove removes nothing, or give the same results as
# before. The test flips bits of names and values whose damage once turned a variable into zeros,
# and a sample of other bits. blob_flips.mpi flips every bit within a single program.
#
#   BLOB_FLIPS=N    samples every Nth byte (301)
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
dir=$(scratch damage) || exit 99
trap 'launch_kill; rm -rf "$dir"' EXIT
step=${BLOB_FLIPS:-301}
suffixes=("" .0000 .0001)

# make_dataset PROGRAM HINTS: creates a dataset in subfiles, and joins it into a single file.
make_dataset() {
    rm -rf "$dir"/*
    mkdir "$dir/good" &&
        PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2;$2" launch 2 "$1" "$dir/good/a.nc" >"$dir/out" 2>&1 &&
        ./ncmpijoin --check "$dir/good/a.nc" "$dir/joined.nc" >"$dir/out" 2>&1 || { cat "$dir/out"; return 1; }
}
# flip SUFFIX BYTE BIT: flips a bit in a fresh copy of the dataset.
flip() {
    rm -rf "$dir/bad" "$dir/o.nc"
    cp -r "$dir/good" "$dir/bad" || return
    local value
    value=$(od -An -tu1 -j"$2" -N1 "$dir/good/a.nc$1")
    printf "\\x$(printf %02x $((value ^ 1 << $3)))" |
        dd of="$dir/bad/a.nc$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
    cp -r "$dir/bad" "$dir/kept"
}
same_files() { diff -r "$dir/bad" "$dir/kept" >/dev/null; }
# refused TOOL...: succeeds if the tool reported an error that names a file, and did not change any
# file.
refused() {
    grep -q "$dir/bad/a\.nc" "$dir/out" && same_files && ! [ -e "$dir/o.nc" ] && return
    echo "$*: an error without the name of a file, or files are gone"
    cat "$dir/out"
    return 1
}
# judge SUFFIX BYTE BIT WANTED: flips a bit and runs the tools. WANTED is `error` if they must
# detect it, or `any`.
judge() {
    local wrong=0 status joined
    rm -rf "$dir/kept"
    flip "$1" "$2" "$3" || return
    ./ncvalidator "$dir/bad/a.nc" >"$dir/out" 2>&1 && wrong=1
    if [ "$wrong" = 0 ]; then refused ncvalidator || return; fi
    for mode in --check --remove; do
        ./ncmpijoin $mode "$dir/bad/a.nc" "$dir/o.nc" >"$dir/out" 2>&1 && status=0 || status=$?
        joined=$status
        if [ "$status" != 0 ]; then refused "ncmpijoin $mode" || return; fi
        if [ "$status" = 0 ] && ! cmp -s "$dir/o.nc" "$dir/joined.nc"; then
            echo "a.nc$1, bit $3 of byte $2: ncmpijoin $mode makes another file"
            return 1
        fi
        [ "$4" = any ] || [ "$status" != 0 ] || { echo "a.nc$1, byte $2: ncmpijoin $mode finds nothing"; return 1; }
        rm -f "$dir/o.nc"
    done
    [ "$4" = any ] || [ "$wrong" = 0 ] || { echo "a.nc$1, byte $2: ncvalidator finds nothing"; return 1; }
}

# Damages the names of attributes and variables that locate values, in each subfile.
names() {
    local name suffix at n=0
    for suffix in .0000 .0001; do
        for name in decomposition_ID global_varid dataset_token D1.offsets D1.blob_start header_checksum; do
            at=$(grep -abo -- "$name" "$dir/good/a.nc$suffix" | head -n 1)
            [ -n "$at" ] || { echo "no $name"; return 1; }
            judge "$suffix" $((${at%%:*} + 5)) $((n % 6)) error || return
            n=$((n + 1))
        done
        at=$(grep -abo decomposition_ID "$dir/good/a.nc$suffix" | head -n 1)
        judge "$suffix" $((${at%%:*} + 16 + 4 + 8 + 3)) 0 error || return # the attribute's value
    done
}
sample() {
    local suffix at n=0
    for suffix in "${suffixes[@]}"; do
        for ((at = 5; at < 8192; at += step)); do
            [ "$suffix" != "" ] || [ $at -lt 4400 ] || continue
            judge "$suffix" $at $((n % 8)) any || return
            n=$((n + 1))
        done
    done
    echo "$n bits"
}

kinds=("")
grep -q "define HAVE_ZSTD " config.h && grep -q "define HAVE_XXHASH " config.h && kinds+=(nc_compress=zstd)
for hints in "${kinds[@]}"; do
    check "a dataset is created${hints:+, $hints}" make_dataset examples/C/columns "$hints"
    check "damaged names are an error${hints:+, $hints}" names
    check "a flipped bit changes nothing, or is an error${hints:+, $hints}" sample
done
finish
