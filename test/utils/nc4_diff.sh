#!/bin/bash
# cdfdiff and ncmpidiff on netCDF-4 files: the classic twin is the same, what differs is told, by
# one process and by several.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
need ncgen nccopy
bin=$PWD
cd "$work" || exit 99

# both STATUS ARGUMENT...: of cdfdiff, and of ncmpidiff on 1 and on 3 processes; all say the same.
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
            # without record variables there are no records
            ! "$bin/ncoffsets" r.nc | grep -q 'record variables: 0' || continue
            n=$((n + 1))
            both 0 r.nc r4.nc && both 0 -b r4.nc r.nc || { echo "seed $seed"; return 1; }
        done
        [ $n = 2 ] || return
    done
}
check "random files and their classic twins" twins

# make NAME KIND [SED-SCRIPT]
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
check "text as classic and as netCDF-4" eval 'both 0 a.nc b.nc && both 0 b.nc c.nc'
tells() {
    make_file other nc4 "$2" && both 1 a.nc other.nc && grep -qxF -e "$1" serial || { cat serial; return 1; }
}
check "a value" tells "variable a: 1 of 600 values differ" '/a = 1/s/4, 5/4.5, 5/'
check "an attribute" tells "attribute a:u is \"m\", \"km\"" 's/"m"/"km"/'
check "records" tells "dimension t has length 3, 4" 's/z = 1, 2, 3/&, 4/'
check "a variable" tells "variable extra is in the second file only" 's/ int s ;/& int extra(y) ;/'

# Of those without limit the model keeps one.
cat >u.cdl <<'E'
netcdf u {
dimensions: t = UNLIMITED ; u = UNLIMITED ; x = 5 ;
variables: short z(t, u) ; int w(x, u) ; double t(t) ;
data: t = 1, 2 ; z = {1, 2, 3}, {4} ; w = {1}, {2}, {3}, {4}, {5, 6} ;
}
E
ncgen -k nc4 -o u.nc u.cdl || exit 1
check "several dimensions without limit" eval 'nccopy -d 3 u.nc v.nc && both 0 u.nc v.nc'
check "likewise, against fixed ones" eval 'nccopy -u -k cdf5 u.nc v.nc && both 1 u.nc v.nc &&
    grep -qx "1 of the definitions, and 0 of 3 variables, differ" serial && both 0 -d u.nc v.nc'
names() {
    sed '$s/}/group: g { variables: int inside ; } }/' u.cdl >g.cdl && ncgen -k nc4 -o g.nc g.cdl &&
        both 0 u.nc g.nc && grep -q '\(cdf\|ncmpi\)diff: g.nc: .*\<g\>' err && [ "$(wc -l <err)" = 1 ]
}
check "what is not compared is named" names
cut() { head -c 3000 b.nc >cut.nc && refused 2 'cdfdiff: cut.nc: ' "$bin/cdfdiff" a.nc cut.nc &&
    status 2 launch 3 "$bin/ncmpidiff" a.nc cut.nc && [ "$(grep -c '^ncmpidiff: cut.nc: ' err)" = 1 ]; }
check "a file that was cut" cut
without() {
    NCMPI_NETCDF4=/nonexistent/libnetcdf.so refused 2 netCDF "$bin/cdfdiff" a.nc b.nc &&
        NCMPI_NETCDF4=/nonexistent/libnetcdf.so status 2 launch 3 "$bin/ncmpidiff" a.nc b.nc &&
        [ "$(grep -c '^ncmpidiff: b.nc: ' err)" = 1 ]
}
check "without netCDF-C" without
finish
