#!/bin/bash
# Tests ncmpidump on bad input: it must print one clear line and exit with status 1, and never
# crash.
. "${srcdir:-.}/test/utils/dump_lib.sh"

check "missing file" refuses '^ncmpidump: .*: No such file' "$work/missing.nc"
check "directory" refuses '^ncmpidump: .*: Is a directory' "$work"
mkfifo "$work/pipe"
check "pipe" refuses 'not a regular file' "$work/pipe"
: >"$work/secret.nc"
chmod 0 "$work/secret.nc"
if [ -r "$work/secret.nc" ]; then
    skip "no permission" "this user may read all"
else
    check "no permission" refuses 'Permission denied' "$work/secret.nc"
fi
: >"$work/empty.nc"
check "empty file" refuses ': offset 0: ' "$work/empty.nc"
printf 'plain text\n' >"$work/text.nc"
check "plain text" refuses ': offset 0: ' "$work/text.nc"
printf '\x89HDF\r\n\x1a\n12345678' >"$work/hdf5.nc"
check "HDF5" refuses 'HDF5' "$work/hdf5.nc"
printf 'CDF\x01\0\0\0\xb9\x8d\xff\xff\x08\xdb' >"$work/13.nc"
check "invalid header of 13 bytes" refuses ': offset [0-9]+: ' "$work/13.nc"
"$random" 5 3 "$work/r.nc"
check "a file name with unprintable characters" refuses '^ncmpidump: .*a\?b: No such' "$work/a
b"
check "no such variable" refuses "no variable is named 'nosuch'" -v nosuch "$work/r.nc"
check "no variable has the empty name" refuses "named ''" -v '' "$work/r.nc"

# Dumps every file in the fuzzing corpus, and repeats this with the sanitizer build if there is one.
corpus() {
    local dump=$1 file status n=0
    for file in "${srcdir:-.}"/test/fuzz/corpus/*; do
        # some headers claim billions of values, which all read as zeros
        "$dump" -t -f c "$file" 2>"$work/err" | head -c 1000000 >"$work/out"
        status=${PIPESTATUS[0]}
        if [ "$(stat -c %s "$work/out")" = 1000000 ]; then
            [ $status -le 1 ] || [ $status = 141 ] || { echo "$file: status $status"; return 1; }
            continue
        fi
        [ $status = "$(grep -vc 'read as zeros$' "$work/err")" ] && [ $status -le 1 ] ||
            { echo "$file: status $status"; cat "$work/err"; return 1; }
        n=$((n + status))
    done
    [ $n -gt 40 ]
}
check "hostile headers" corpus "$dump"
if [ -x test/utils/ncmpidump_sanitized ]; then
    check "hostile headers, sanitized" corpus "$PWD/test/utils/ncmpidump_sanitized"
fi

# filled FILE: succeeds if values beyond the end of the file are printed as zeros, and standard
# error has a line that reports this.
filled() { "$dump" "$1" >"$work/out" 2>"$work/err" && grep -q ': the file ends .*read as zeros$' "$work/err"; }

# Truncates a file at many lengths. A file with an incomplete header must be rejected, and missing
# values must read as zeros.
cut_anywhere() {
    local size length program=$1
    "$random" 2 11 "$work/whole.nc"
    size=$(stat -c %s "$work/whole.nc")
    for ((length = size - 8; length > 0; length -= 1 + length / 40)); do
        head -c $length "$work/whole.nc" >"$work/cut.nc"
        refuses ': offset [0-9]+: ' "$work/cut.nc" || filled "$work/cut.nc" || { echo "cut to $length"; return 1; }
    done
}
check "a file truncated at any byte is refused or filled with zeros" cut_anywhere

# The header defines x = 10 integers at offset 80, but the file ends after five and a half of them.
missing_data() {
    printf 'CDF\x01\0\0\0\0\0\0\0\x0a\0\0\0\x01\0\0\0\x01x\0\0\0\0\0\0\x0a' >"$work/short.nc"
    printf '\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0\x01\0\0\0\x01v\0\0\0\0\0\0\x01\0\0\0\0' >>"$work/short.nc"
    printf '\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\x28\0\0\0\x50' >>"$work/short.nc"
    head -c 22 /dev/zero >>"$work/short.nc"
    filled "$work/short.nc" && grep -q ": offset 102: variable 'v'" "$work/err" &&
        grep -q ' v = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 ;' "$work/out" && "$dump" -h "$work/short.nc"
}
check "values missing in the file are reported" missing_data

full_disk() {
    [ -w /dev/full ] || return 0
    local status=0
    "$dump" "$work/r.nc" >/dev/full 2>"$work/err" || status=$?
    [ $status = 1 ] && grep -q '^ncmpidump: standard output: No space' "$work/err" &&
        ! "$dump" --help >/dev/full 2>"$work/err" && grep -q 'No space' "$work/err"
}
check "full disk" full_disk
closed_output() {
    ! "$dump" "$work/r.nc" >&- 2>"$work/err" && [ "$(wc -l <"$work/err")" = 1 ]
}
check "closed standard output" closed_output

# Printing a single row of 48 MiB must require less memory than that.
bounded_memory() {
    printf 'CDF\x01\0\0\0\0\0\0\0\x0a\0\0\0\x01\0\0\0\x01x\0\0\0\x03\0\0\0' >"$work/large.nc"
    printf '\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0\x01\0\0\0\x01v\0\0\0\0\0\0\x01\0\0\0\0' >>"$work/large.nc"
    printf '\0\0\0\0\0\0\0\0\0\0\0\x02\x03\0\0\0\0\0\0\x50' >>"$work/large.nc"
    truncate -s $((80 + 48 * 1024 * 1024)) "$work/large.nc"
    printf 'end' | dd of="$work/large.nc" bs=1 seek=$((80 + 48 * 1024 * 1024 - 3)) conv=notrunc
    (ulimit -v 32768 && "$dump" "$work/large.nc" | tail -c 16 | grep -q '000end" ;')
}
check "memory does not depend on the amount of data" bounded_memory
finish
