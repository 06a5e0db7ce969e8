#!/bin/bash
# Tests cdfdiff and ncmpidiff on netCDF-4 files. A file must compare equal to the classic file with
# the same contents. Differences must be reported, with the same output from one process and from
# several.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
need ncgen nccopy
bin=$PWD
cd "$work" || exit 99

# both STATUS ARGUMENT...: succeeds if cdfdiff, and ncmpidiff on 1 and 3 processes, all exit with
# this status and print the same output.
both() {
    local n
    status "$1" "$bin/cdfdiff" "${@:2}" && cp out serial || return
    for n in 1 3; do
        status "$1" launch $n "$bin/ncmpidiff" "${@:2}" && diff serial out || return
    done
}

twins() {
    local format kind seed n
    for kind in nc4 nc7; do
        format=5 n=0
        if [ $kind = nc7 ]; then format=1; fi
        for ((seed = 1; seed < 30 && n < 2; seed++)); do
            "$random" $format $seed r.nc && nccopy -k $kind r.nc r4.nc 2>log || continue
            # without record variables, the number of records is lost
            ! "$bin/ncoffsets" r.nc | grep -q 'record variables: 0' || continue
            n=$((n + 1))
            both 0 r.nc r4.nc && both 0 -b r4.nc r.nc || { echo "seed $seed"; return 1; }
        done
        [ $n = 2 ] || return
    done
}
check "random files equal their classic twins" twins

# make_file NAME KIND [SED-SCRIPT]: creates a file from the CDL text below, after editing it.
make_file() {
    sed -e "${3-}" >"$1.cdl" <<'E'
netcdf t {
dimensions: t = UNLIMITED ; x = 300 ; y = 2 ;
variables:
 double a(x, y) ; a:u = "m" ; a:n = 1, 2 ; float f(t, y) ; char c(y) ; int s ; short z(t) ;
 :title = "A" ;
data:
 a = 1, 2, 3, 4, 5, NaN ; f = 1, 2, 3, 4, 5, 6 ; c = "ab" ; s = 7 ; z = 1, 2, 3 ;
}
E
    ncgen -k "$2" -o "$1.nc" "$1.cdl"
}
make_file a classic && make_file b nc4 && make_file c nc7 || exit 1
check "netCDF-4 and classic text are equal" eval 'both 0 a.nc b.nc && both 0 b.nc c.nc'
tells() {
    make_file other nc4 "$2" && both 1 a.nc other.nc && grep -qxF -e "$1" serial || { cat serial; return 1; }
}
check "a different value is reported" tells "variable a: 1 of 600 values differ" '/a = 1/s/4, 5/4.5, 5/'
check "a different attribute is reported" tells "attribute a:u is \"m\" in the first file, \"km\" in the second" 's/"m"/"km"/'
check "a different number of records is reported" tells "dimension t has length 3 in the first file, 4 in the second" 's/z = 1, 2, 3/&, 4/'
check "a variable in one file only is reported" tells "variable extra exists only in the second file" 's/ int s ;/& int extra(y) ;/'

# This file has several unlimited dimensions. The classic model allows only one.
cat >u.cdl <<'E'
netcdf u {
dimensions: t = UNLIMITED ; u = UNLIMITED ; x = 5 ;
variables: short z(t, u) ; int w(x, u) ; double t(t) ;
data: t = 1, 2 ; z = {1, 2, 3}, {4} ; w = {1}, {2}, {3}, {4}, {5, 6} ;
}
E
ncgen -k nc4 -o u.nc u.cdl || exit 1
check "several unlimited dimensions are compared" eval 'nccopy -d 3 u.nc v.nc && both 0 u.nc v.nc'
check "unlimited dimensions are compared with fixed ones" eval 'nccopy -u -k cdf5 u.nc v.nc && both 1 u.nc v.nc &&
    grep -qx "1 definitions and 0 of 3 variables differ" serial && both 0 -d u.nc v.nc'
names() {
    sed '$s/}/group: g { variables: int inside ; } }/' u.cdl >g.cdl && ncgen -k nc4 -o g.nc g.cdl &&
        both 0 u.nc g.nc && grep -q '\(cdf\|ncmpi\)diff: g.nc: .*\<g\>' err && [ "$(wc -l <err)" = 1 ]
}
check "objects that are not compared are named" names
cut() { head -c 3000 b.nc >cut.nc && refused 2 'cdfdiff: cut.nc: ' "$bin/cdfdiff" a.nc cut.nc &&
    status 2 launch 3 "$bin/ncmpidiff" a.nc cut.nc && [ "$(grep -c '^ncmpidiff: cut.nc: ' err)" = 1 ]; }
check "a truncated file is refused" cut
without() {
    NCMPI_NETCDF4=/nonexistent/libnetcdf.so refused 2 netCDF "$bin/cdfdiff" a.nc b.nc &&
        NCMPI_NETCDF4=/nonexistent/libnetcdf.so status 2 launch 3 "$bin/ncmpidiff" a.nc b.nc &&
        [ "$(grep -c '^ncmpidiff: b.nc: ' err)" = 1 ]
}
check "without netCDF-C a netCDF-4 file is refused" without
finish
