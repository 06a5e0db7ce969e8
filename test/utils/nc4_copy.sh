#!/bin/bash
# Tests how ncmpicopy copies netCDF-4 files to classic ones and, if netCDF-C was built for this MPI,
# to netCDF-4 files. The copy must equal a copy of the classic file with the same contents, and
# copying it back must restore that file.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
trap 'launch_kill; rm -rf "$work"' EXIT
need ncgen nccopy ncdump
bin=$PWD
copy=$bin/ncmpicopy
cd "$work" || exit 99
same() { status 0 "$bin/cdfdiff" "$@"; }

cat >t.cdl <<'E'
netcdf t {
dimensions: t = UNLIMITED ; x = 5 ; y = 300 ; z = 400 ;
variables:
 double a(x, y) ; a:u = "m" ; float f(t, x) ; byte c(t, x) ; int s ; short w(y, z) ; char n(t, y, z) ;
 f:_FillValue = -1.f ; :title = "A" ;
data:
 a = 1, 2, 3, 4 ; f = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 ;
 c = 1, 2, 3, 4, 5, 6 ; s = 7 ; w = 1, 2 ; n = "abc" ;
}
E
ncgen -k nc4 -o t4.nc t.cdl && ncgen -k nc7 -o t7.nc t.cdl && ncgen -k cdf5 -o t5.nc t.cdl || exit 1
"$copy" -k 5 t5.nc plain.nc || exit 1

# from FILE N ARGUMENT...: copies FILE on N processes. The copy must equal, byte for byte, a copy of
# the classic file.
from() {
    rm -f p.nc c.nc
    status 0 "$copy" "${@:3}" t5.nc p.nc && status 0 launch "$2" "$copy" "${@:3}" "$1" c.nc && cmp p.nc c.nc
}
check "a netCDF-4 file is copied to CDF-5" eval 'from t4.nc 1 -k 5 && from t7.nc 3 -k 5'
check "parts of a netCDF-4 file are copied to CDF-1" eval 'from t4.nc 1 -k classic -v f,c -d t=1: -d x=::2 && from t4.nc 3 -k 1 -v n -d z=7:9'
check "-u: the unlimited dimension becomes a fixed one" from t7.nc 1 -k 5 -u
in_blobs() {
    rm -f c.nc* j.nc
    PNETCDF_HINTS="nc_blob=enable" status 0 launch 3 "$copy" -k 5 t4.nc c.nc && same t5.nc c.nc
}
check "a netCDF-4 file is copied into subfiles" in_blobs
random_files() {
    local seed n=0
    for ((seed = 1; seed < 30 && n < 3; seed++)); do
        "$random" 5 $seed r.nc && nccopy -k nc4 -d 1 r.nc r4.nc 2>log || continue
        ! "$bin/ncoffsets" r.nc | grep -q 'record variables: 0' || continue
        rm -f c.nc
        # skip files with a name or _FillValue that the library refuses to define
        "$copy" -k 5 r4.nc c.nc 2>err || continue
        same r4.nc c.nc || { echo "seed $seed"; return 1; }
        n=$((n + 1))
    done
    [ $n = 3 ]
}
check "copies of random files are equal" random_files
named() {
    sed '$s/}/group: g { variables: int inside ; } }/' t.cdl >g.cdl && ncgen -k nc4 -o g.nc g.cdl && rm -f c.nc &&
        status 0 launch 3 "$copy" -k 5 g.nc c.nc && [ "$(grep -c '^ncmpicopy: g.nc: .*\<g\>' err)" = 1 ] &&
        same t5.nc c.nc
}
check "objects that are not copied are named" named
check "-d LEVEL is refused for classic files" refused 1 'only netCDF-4 files can be deflated' "$copy" -d 4 t5.nc n.nc

# ---- to netCDF-4 ----

# Several processes can write netCDF-4 only if netCDF-C was built for this MPI.
several=3
launch 2 "$copy" -k nc4 t5.nc probe.nc >log 2>&1 || several=1
if [ $several = 1 ]; then
    refuses() {
        status 1 launch 2 "$copy" -k nc4 t5.nc probe.nc && ! [ -e probe.nc ] &&
            [ "$(grep -c '^ncmpicopy: probe.nc: .*libnetcdf-mpi-19' err)" = 1 ]
    }
    check "several processes refuse netCDF-4 without parallel netCDF-C" refuses
fi

# there KIND N ARGUMENT...: copies to netCDF-4 on N processes, and back again.
there() {
    rm -f c4.nc c.nc
    status 0 launch "$2" "$copy" -k "$1" "${@:3}" t5.nc c4.nc && same t5.nc c4.nc &&
        status 0 "$copy" -k 5 c4.nc c.nc && cmp plain.nc c.nc
}
is() { [ "$(ncdump -k c4.nc)" = "$1" ]; }
check "a file is copied to netCDF-4 and back" eval 'there nc4 1 && is netCDF-4 && there nc4 $several && is netCDF-4'
check "a file is copied to netCDF-4's classic model and back" eval '"$copy" -k 1 t5.nc c1.nc && rm -f c4.nc c.nc &&
    status 0 launch $several "$copy" -k nc7 c1.nc c4.nc && same c1.nc c4.nc &&
    is "netCDF-4 classic model" && status 0 "$copy" -k 1 c4.nc c.nc && cmp c1.nc c.nc'
deflated() {
    local n
    for n in 1 $several; do
        there nc4 "$n" -d 4 && ncdump -h -s c4.nc >said && grep -q 'n:_DeflateLevel = 4' said &&
            [ "$(stat -c %s c4.nc)" -lt 100000 ] || { cat said; return 1; }
    done
}
check "-d: deflates values" deflated
check "the format of a netCDF-4 file is kept" eval 'rm -f c4.nc && status 0 launch $several "$copy" t7.nc c4.nc &&
    is "netCDF-4 classic model" && same t7.nc c4.nc'
check "parts are copied, with a new unlimited dimension" eval 'rm -f c4.nc p.nc &&
    status 0 launch $several "$copy" -k nc4 -v a,s -u -U x -d y=3:250:7 t5.nc c4.nc &&
    status 0 "$copy" -v a,s -u -U x -d y=3:250:7 t5.nc p.nc && same p.nc c4.nc'
check "an existing file is kept" eval 'cp t5.nc c4.nc; refused 1 "c4.nc: " "$copy" -k nc4 t5.nc c4.nc && cmp t5.nc c4.nc'
check "-f overwrites an existing file" eval 'status 0 "$copy" -f -k nc4 t5.nc c4.nc && same t5.nc c4.nc && is netCDF-4'
rights() { rm -f c4.nc; chmod 640 t5.nc; status 0 "$copy" -k nc4 t5.nc c4.nc && [ "$(stat -c %a c4.nc)" = 640 ]; }
check "the copy has the source's mode" rights
finish
