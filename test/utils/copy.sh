#!/bin/bash
# Tests ncmpicopy: formats, parts, fixed and unlimited dimensions, subfiles, permissions and
# errors. The copy must compare equal to the source, and no incomplete copy may remain after an
# error.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
copy=$PWD/ncmpicopy
same() { status 0 "$PWD/cdfdiff" "$@"; }
usual "$copy" 1
need ncgen

cat >"$work/t.cdl" <<'END'
netcdf t {
dimensions: t = UNLIMITED ; x = 5 ; y = 300 ; z = 400 ;
variables:
 double a(x, y) ; a:u = "m" ; float f(t, x) ; byte c(t, x) ; int s ; short w(y, z) ; char n(t, y, z) ;
 :title = "A" ;
data:
 a = 1, 2, 3, 4 ; f = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 ;
 c = 1, 2, 3, 4, 5, 6 ; s = 7 ; w = 1, 2 ; n = "abc" ;
}
END
ncgen -k classic -o "$work/t.nc" "$work/t.cdl" || exit 1
a=$work/t.nc b=$work/c.nc

to() {
    rm -f "$b"
    status 0 "$copy" "$@" "$a" "$b" && same "$a" "$b" && status 0 "$PWD/ncvalidator" --no-notes "$b"
}
for format in 1 2 5; do
    check "a file is copied to CDF-$format" to -k $format
    check "the copy's format is CDF-$format" matches "^(classic|64-bit offset|cdf5)\$" "$PWD/ncmpidump" -k "$b"
done
in_parallel() {
    rm -f "$b"
    status 0 launch 3 "$copy" -k 5 "$a" "$b" && same "$a" "$b" && to -k 5 && cp "$b" "$work/d.nc" &&
        rm "$b" && status 0 launch 2 "$copy" -k 5 "$a" "$b" && cmp "$b" "$work/d.nc"
}
check "several processes write the same bytes" in_parallel
room() {
    to -r 1000 && "$PWD/ncoffsets" "$b" >"$work/places" && grep -qE '^header: .* by 1[0-9]{3} free' "$work/places"
}
check "-r: sets the space of the header" room
there_and_back() {
    to -k 2 || return
    rm -f "$work/d.nc" "$work/e.nc"
    "$copy" -u "$a" "$work/d.nc" && "$PWD/ncmpidump" -h "$work/d.nc" | grep -q 't = 3 ;' &&
        "$copy" -U t "$work/d.nc" "$work/e.nc" && same "$a" "$work/e.nc"
}
check "-u, -U: make dimensions fixed and unlimited again" there_and_back
parts() {
    rm -f "$b"
    status 0 "$copy" -v f,c -d t=1: -d x=::2 "$a" "$b" && "$PWD/ncmpidump" -n q "$b" >"$work/out" &&
        grep -q '  6, 8, 10,' "$work/out" && grep -q '  11, 13, 15 ;' "$work/out" &&
        ! grep -q ' y = ' "$work/out" && grep -q ':title' "$work/out"
}
check "-v, -d: select variables and hyperslabs" parts
one_index() {
    rm -f "$b"
    status 0 "$copy" -v f -d t=-1 -d x=3 "$a" "$b" && "$PWD/ncmpidump" "$b" | grep -q '  14 ;'
}
check "-d: selects single indices" one_index
random_files() {
    local format seed
    for format in 1 2 5; do
        for seed in 1 2 3 4 5 6; do
            "$random" $format $seed "$work/r.nc" || return
            rm -f "$b"
            status 0 "$copy" -k 5 "$work/r.nc" "$b" || return
            # without record variables, the number of records is lost
            "$PWD/ncoffsets" "$b" | grep -q 'record variables: 0' || same "$work/r.nc" "$b" || return
        done
    done
}
check "copies of random files are equal" random_files
check "an index out of bounds is refused" status 1 "$copy" -d x=7 "$a" "$work/n.nc"
check "an unknown dimension is refused" refused 1 "no dimension is named 'q'" "$copy" -d q=1 "$a" "$work/n.nc"
check "an unknown variable is refused" refused 1 "'q': " "$copy" -v q "$a" "$work/n.nc"
check "a type that the format lacks is refused" eval '
    "$copy" -k 5 "$a" "$work/u.nc"; "$random" 5 8 "$work/r.nc"
    printf "netcdf u { variables: uint64 v ; }" >"$work/u.cdl" && ncgen -k cdf5 -o "$work/u.nc" "$work/u.cdl" &&
    status 1 "$copy" -k 1 "$work/u.nc" "$work/n.nc" && ! [ -e "$work/n.nc" ]'
check "an existing file is kept" eval 'cp "$a" "$b"; refused 1 "c.nc: " "$copy" "$a" "$b" && cmp "$a" "$b"'
check "-f overwrites an existing file" eval 'status 0 "$copy" -f -k 5 "$a" "$b" && same "$a" "$b"'
# rights MODE MASK EXPECTED: sets the source's mode to MODE and copies it with umask MASK. The copy
# must have mode EXPECTED. Partial copies, which use different code, must have the same mode.
rights() {
    chmod "$1" "$a"
    rm -f "$b"
    (umask "$2" && status 0 "$copy" "$a" "$b") && [ "$(stat -c %a "$b")" = "$3" ] &&
        rm -f "$b" && (umask "$2" && status 0 "$copy" -v s "$a" "$b") && [ "$(stat -c %a "$b")" = "$3" ]
}
check "the copy of a private file is private" rights 600 022 600
check "the copy gets the source's mode, reduced by umask" eval 'rights 664 022 644 && rights 640 002 640'
over() {
    cp "$work/t.cdl" "$b" && chmod 644 "$b" && chmod 600 "$a" &&
        status 0 "$copy" -f "$a" "$b" && [ "$(stat -c %a "$b")" = 600 ] &&
        chmod 644 "$a" && status 0 "$copy" -f "$a" "$b" && [ "$(stat -c %a "$b")" = 600 ]
}
check "an overwritten file gets no more permissions than the source" over
group() { chmod 640 "$a" && chgrp 1 "$a" && rm -f "$b" && status 0 "$copy" "$a" "$b" && [ "$(stat -c %a:%g "$b")" = 640:1 ]; }
if [ "$(id -u)" = 0 ]; then
    check "the group's permissions are copied only with the group" group
else
    skip "the group's permissions are copied only with the group" "only root can give one"
fi
chmod 644 "$a"
check "a copy onto itself is refused" refused 1 'the same file' "$copy" -f "$a" "$work/../$(basename "$work")/t.nc"
check "a missing file is an error" refused 1 'missing.nc: No such file or directory; check the path' "$copy" "$work/missing.nc" "$work/n.nc"
corpus() {
    local file
    for file in "$here"/test/fuzz/corpus/bad-*; do
        case $file in *cdf?-streaming|*cdf1-far-start) continue ;; esac
        refused 1 'ncmpicopy: ' "$copy" "$file" "$work/n.nc" || return
        ! [ -e "$work/n.nc" ] || return
    done
}
check "hostile headers are refused" corpus
named_once() {
    refused 1 'Not a classic' "$copy" "$here/test/fuzz/corpus/bad-cdf5-tag" "$work/n.nc" &&
        [ "$(grep -o bad-cdf5-tag "$work/err" | wc -l)" = 1 ]
}
check "a message has the path only once" named_once
hostile_in_parallel() {
    local file
    for file in bad-cdf5-{tag,overlap,att-length} bad-empty bad-hdf5 bad-cdf1-twins cdf5-huge.nc; do
        status 1 launch 2 "$copy" "$here/test/fuzz/corpus/$file" "$work/n.nc" && ! [ -e "$work/n.nc" ] || return
        [ "$(grep -c '^ncmpicopy: ' "$work/err")" = 1 ] || grep -q removed "$work/err" || return
    done
}
check "several processes refuse hostile headers" hostile_in_parallel
too_short() {
    local size
    size=$(stat -c %s "$a")
    head -c $((size - 4)) "$a" >"$work/short.nc"
    rm -f "$work/n.nc" "$b" && status 0 "$copy" "$work/short.nc" "$work/n.nc" &&
        grep -q "offset $((size - 4)): variable 'n': the file ends before" "$work/err" &&
        "$PWD/cdfdiff" -q "$work/short.nc" "$work/n.nc" 2>"$work/err" &&
        [ "$(stat -c %s "$work/n.nc")" -ge "$size" ] && status 0 "$copy" -v a "$work/short.nc" "$b"
}
check "a truncated file is reported" too_short
# Copies into subfiles, with and without compression. The file into which the subfiles are joined
# must equal the plain copy.
in_blobs() {
    local n hints with
    for with in "-k 5" "-d x=1:5:2 -v f,n,s" "-u"; do
        rm -f "$work"/{c,p}.nc*
        # shellcheck disable=SC2086
        status 0 "$copy" $with "$a" "$work/p.nc" || return
        for n in 1 3; do
            for hints in nc_blob=enable "nc_blob=enable;nc_compress=zstd" "nc_blob=enable;nc_compress=lz4;nc_num_subfiles=2"; do
                rm -f "$work"/{c,j}.nc*
                # shellcheck disable=SC2086
                PNETCDF_HINTS=$hints status 0 launch "$n" "$copy" $with "$a" "$b" &&
                    "$PWD/cdfdiff" -q "$work/p.nc" "$b" && status 0 "$PWD/ncvalidator" --no-notes "$b" &&
                    [ -e "$b.0000" ] && status 0 "$PWD/ncmpijoin" "$b" "$work/j.nc" && cmp "$work/p.nc" "$work/j.nc" ||
                    return
            done
        done
    done
}
check "a file is copied into subfiles" in_blobs
shorter() {
    rm -f "$b"*
    grep -q '^#define HAVE_ZSTD 1' config.h || return 0
    PNETCDF_HINTS="nc_blob=enable;nc_compress=zstd" status 0 launch 3 "$copy" -v n "$a" "$b" &&
        [ "$(du -k "$b.0000" | cut -f 1)" -lt 100 ] # less than the plain 352 KiB
}
check "copies in subfiles are compressed" shorter
if [ -e test/support/.libs/fault.so ]; then
    full() {
        rm -f "$b"
        status 1 env LD_PRELOAD="$PWD/test/support/.libs/fault.so" NCMPI_FAULT="write:3+:ENOSPC:*c.nc" \
            "$copy" "$a" "$b" && ! [ -e "$b" ] && grep -q 'incomplete; removed' "$work/err"
    }
    check "full disk: the copy is removed" full
    full_subfile() {
        rm -f "$b"*
        PNETCDF_HINTS="nc_blob=enable;nc_compress=zstd" status 1 env LD_PRELOAD="$PWD/test/support/.libs/fault.so" \
            NCMPI_FAULT="write:3+:ENOSPC:*c.nc.0000" "$copy" "$a" "$b" && ! [ -e "$b" ] && ! [ -e "$b.0000" ]
    }
    check "full disk: subfiles are removed, too" full_subfile
    # A complete copy is verified byte by byte; a partial copy, by reading it through the library.
    # The first three reads fetch the header, so the fault is injected into the fourth.
    misread() {
        rm -f "$b"
        status 1 env LD_PRELOAD="$PWD/test/support/.libs/fault.so" NCMPI_FAULT="read:4:wrong:*c.nc" \
            "$copy" "$@" "$a" "$b" && ! [ -e "$b" ] && grep -q 'differ from those written' "$work/err"
    }
    check "a copy that differs when read is removed" misread
    check "a partial copy that differs when read is removed" misread -d x=::2
    in_parts() {
        local op
        for op in "read:1+:short:*t.nc" "read:1+:short:*c.nc" "write:3+:short:*c.nc"; do
            rm -f "$b"
            status 0 env LD_PRELOAD="$PWD/test/support/.libs/fault.so" NCMPI_FAULT="$op" "$copy" -k 5 "$a" "$b" &&
                same "$a" "$b" || return
        done
    }
    check "short transfers are continued" in_parts
fi
finish
