#!/bin/bash
# Tests ncvalidator. It must report every planted error at its offset, accept valid files, and
# repair what can be repaired safely.
. "${srcdir:-.}/test/utils/tool_lib.sh"
validator=$PWD/ncvalidator
breaker=$PWD/test/utils/broken_classic

usual "$validator" 2

flagged() {
    local file=$1 offset=$2
    status 1 "$validator" --no-notes "$work/$file" && grep -q ": offset $offset: " "$work/out"
}
for format in 1 2 5; do
    check "CDF-$format: damaged files are made" eval '"$breaker" $format "$work" >"$work/list"'
    check "CDF-$format: an intact file is valid" status 0 "$validator" "$work/good.nc"
    while read -r file offset mistake; do
        check "CDF-$format: $mistake" flagged "$file" "$offset"
    done <"$work/list"
done

# put FILE OFFSET BYTES: overwrites bytes of the file.
put() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
everything_is_listed() {
    local good=$work/good.nc file=$work/many.nc at
    cp "$good" "$file" || return
    at=$("$PWD/ncoffsets" -j "$file" | sed -n 's/.*"header_bytes": \([0-9]*\).*/\1/p')
    put "$file" 4 '\0\0\0\0\0\0\0\x9'
    put "$file" $((at - 12)) '\x7'
    put "$file" 33 'x'
    status 1 "$validator" "$file" && [ "$(grep -c ': offset' "$work/out")" = 3 ]
}
check "all errors of a file are listed" everything_is_listed

# -x must set padding to zero in the file itself, and must not change anything else.
pads() {
    local file=$work/padded.nc
    cp "$work/good.nc" "$file" && put "$file" 33 'x' && cp "$file" "$work/as_it_was.nc" &&
        status 1 "$validator" "$file" && cmp "$file" "$work/as_it_was.nc" &&
        status 0 "$validator" -x "$file" && grep -q '1 place repaired' "$work/out" && cmp "$file" "$work/good.nc"
}
check "-x: clears padding in the file" pads
pads_no_more() {
    local file=$work/other.nc
    cp "$work/many.nc" "$file" && status 1 "$validator" -x -q "$file" && [ "$(cmp -l "$file" "$work/many.nc" | wc -l)" = 1 ] &&
        cp "$work/good.nc" "$file" && status 0 "$validator" -x -t "$file" && cmp "$file" "$work/good.nc"
}
check "-x: changes only padding" pads_no_more
check "-x: is refused with -r" status 2 "$validator" -x -r "$work/no.nc" "$work/good.nc"
check "-x: fails for a missing file" status 2 "$validator" -x "$work/no.nc"

# Repairs numrecs, padding and vsize. The repaired copy must equal the file as it was before it was
# broken.
repairs() {
    local file=$work/many.nc
    rm -f "$work/fixed.nc"
    status 0 "$validator" -r "$work/fixed.nc" "$file" && cmp "$work/good.nc" "$work/fixed.nc"
}
check "-r: repairs what is safe" repairs
private() {
    rm -f "$work/fixed.nc"
    chmod 600 "$work/many.nc" && status 0 "$validator" -r "$work/fixed.nc" "$work/many.nc" &&
        [ "$(stat -c %a "$work/fixed.nc")" = 600 ] && chmod 644 "$work/many.nc"
}
check "a repaired copy of a private file is private" private
# rescues FORMAT KIND SUMMARY: the copy must be the one that misplaced_classic expects.
rescues() {
    rm -f "$work/fixed.nc"
    "$PWD/test/utils/misplaced_classic" "$1" "$2" "$work/odd.nc" "$work/wanted.nc" &&
        status 1 "$validator" -q "$work/odd.nc" && status 0 "$validator" -r "$work/fixed.nc" "$work/odd.nc" &&
        grep -q "a copy with the values that the header describes, in a valid layout of CDF-$3" "$work/out"
}
for format in 1 2 5; do
    for kind in behind order packed packed_behind whole packed_whole empty forged; do
        check "-r: CDF-$format: rescues variables: $kind" eval 'rescues $format $kind $format && cmp "$work/fixed.nc" "$work/wanted.nc"'
    done
done
large() {
    rescues "$@" && [ "$(stat -c %s "$work/fixed.nc")" = "$(stat -c %s "$work/wanted.nc")" ] &&
        [ "$(du -k "$work/fixed.nc" | cut -f 1)" -lt 9000 ] &&
        "$PWD/ncmpidump" -v a,c,r,s "$work/fixed.nc" >"$work/1" && "$PWD/ncmpidump" -n fixed -v a,c,r,s "$work/wanted.nc" | cmp - "$work/1" &&
        cmp -n 400 "$work/fixed.nc" "$work/wanted.nc" && rm "$work/odd.nc" "$work/fixed.nc" "$work/wanted.nc"
}
check "-r: makes a CDF-2 file whose variables are too large CDF-5" large 2 large 5
check "-r: makes a CDF-1 file whose variables are too large CDF-2" large 1 signed 2
# Nothing may be guessed: there is no copy.
hopeless() {
    rm -f "$work/fixed.nc"
    "$PWD/test/utils/misplaced_classic" "$1" "$2" "$work/odd.nc" "$work/wanted.nc" &&
        status 1 "$validator" -r "$work/fixed.nc" "$work/odd.nc" && ! [ -e "$work/fixed.nc" ]
}
for kind in overlap short stale stale_all stale_behind single single_behind aligned astray nul; do
    check "-r: does not guess where the values are: $kind" eval 'hopeless 1 $kind && hopeless 2 $kind && hopeless 5 $kind'
done
uncounted() { hopeless "$1" streaming && grep -q 'indeterminate$' "$work/out"; }
check "does not count the records if they are not where the format requires them" eval 'uncounted 1 && uncounted 5'
half_repaired() {
    head -c 40 "$work/good.nc" >"$work/short.nc"
    rm -f "$work/fixed.nc"
    status 1 "$validator" -r "$work/fixed.nc" "$work/short.nc"
}
check "-r: reports errors that remain after the repair" half_repaired
check "-r: does not overwrite an existing file" refused 2 'File exists' \
    "$validator" -r "$work/good.nc" "$work/many.nc"
if [ -w /dev/full ]; then
    check "full disk" refused 2 'standard output: No space' \
        bash -c '"$@" >/dev/full' - "$validator" "$work/good.nc"
fi
if [ -e test/support/.libs/fault.so ]; then
    no_room_for_the_copy() {
        rm -f "$work/fixed.nc"
        status 2 env LD_PRELOAD="$PWD/test/support/.libs/fault.so" \
            NCMPI_FAULT="write:1+:ENOSPC:*fixed.nc" "$validator" -q -r "$work/fixed.nc" "$work/many.nc" &&
            grep -q 'No space left on device; removed' "$work/err" && ! [ -e "$work/fixed.nc" ]
    }
    check "-r: removes a copy that does not fit on the disk" no_room_for_the_copy
fi
check "missing file" refused 2 'No such file' "$validator" "$work/missing.nc"
check "directory" refused 2 'Is a directory' "$validator" "$work"
check "the worst of several files determines the exit status" status 1 "$validator" "$work/good.nc" "$work/many.nc"

random_files() {
    local format seed
    for format in 1 2 5; do
        for seed in 1 2 3 4 5 6; do
            "$random" $format $seed "$work/r.nc" && status 0 "$validator" "$work/r.nc" || return
        done
    done
}
check "random files are valid" random_files
corpus() {
    local file n=0
    for file in "$here"/test/fuzz/corpus/*; do
        case $file in
        */bad-hdf5*) status 2 "$validator" "$file" || return ;;
        */bad-*) status 1 "$validator" "$file" || return ;;
        *.nc) # some have only a header
            ! "$validator" --no-notes "$file" | grep -vE 'ends here|records is|a valid|violations?' ||
                return ;;
        *) "$validator" -q "$file"; [ $? -le 1 ] || return ;;
        esac
        n=$((n + 1))
    done
    [ $n -gt 40 ]
}
check "hostile files are diagnosed" corpus
json() { "$validator" -j "$work/many.nc" "$work/good.nc" | python3 -c '
import json, sys
d = json.load(sys.stdin)
sys.exit(not (len(d) == 2 and len(d[0]["findings"]) == 3 and d[1]["valid"]))'; }
if command -v python3 >/dev/null; then check "JSON" json; else skip "JSON" "no python3"; fi
finish
