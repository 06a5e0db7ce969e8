#!/bin/bash
# Tests that programs for serial netCDF, compiled unchanged with our netcdf.h or netcdf.inc, print
# the same text and write the same file as when they are linked with netCDF.
. "${srcdir:-.}/test/support/tap.sh"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

# same NAME: runs both builds of a program and compares their output and their files.
same() {
    test/serial/"$1" "$dir/ours.nc" >"$dir/ours.txt" || { cat "$dir/ours.txt"; return 1; }
    test/serial/"$1"_netcdf "$dir/theirs.nc" >"$dir/theirs.txt" || return 1
    diff "$dir/theirs.txt" "$dir/ours.txt" && cmp "$dir/theirs.nc" "$dir/ours.nc"
}

for program in ocean weather answers river surface groups; do
    if [ -e "test/serial/${program}_netcdf" ]; then
        check "$program: prints and writes the same as with netCDF" same "$program"
    else
        skip "$program: prints and writes the same as with netCDF" "no netCDF for it"
    fi
done
finish
