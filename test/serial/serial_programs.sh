#!/bin/bash
# Programs for serial netCDF, compiled unchanged with our netcdf.h and netcdf.inc, say and
# write what they do with netCDF itself.
. "${srcdir:-.}/test/support/tap.sh"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

# same NAME: the same words, and the same bytes in the file.
same() {
    test/serial/"$1" "$dir/ours.nc" >"$dir/ours.txt" || { cat "$dir/ours.txt"; return 1; }
    test/serial/"$1"_netcdf "$dir/theirs.nc" >"$dir/theirs.txt" || return 1
    diff "$dir/theirs.txt" "$dir/ours.txt" && cmp "$dir/theirs.nc" "$dir/ours.nc"
}

for program in ocean weather answers river surface groups; do
    if [ -e "test/serial/${program}_netcdf" ]; then
        check "$program: the same words and the same bytes as with netCDF" same "$program"
    else
        skip "$program: the same words and the same bytes as with netCDF" "no netCDF for it"
    fi
done
finish
