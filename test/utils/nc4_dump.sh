#!/bin/bash
# netCDF-4 files: ncmpidump prints what ncdump does; what the classic model has no place for is
# named; tools for classic files say that they are not for these.
. "${srcdir:-.}/test/utils/tool_lib.sh"
need ncdump ncgen nccopy
dump=$PWD/ncmpidump
cd "$work" || exit 99

# As ncmpidump differs from ncdump for classic files, too: see dump_random.sh.
mend() { sed -E 's,(// (\\9)?scalar.*)\([0-9]+\)$,\1,' | sed -z 's/\\n",\n    "/\\n/g'; }
# alike FILE OPTION...: and nothing on standard error
alike() {
    local file=$1
    shift
    "$dump" "$@" "$file" >ours 2>err && ! [ -s err ] || { cat err; return 1; }
    ncdump "$@" "$file" | mend | diff -a - ours
}

# ---- what ncgen makes of text ----

corpus() {
    local cdl n=0
    for cdl in "$here"/test/fuzz/cdl-corpus/all-*.cdl "$here"/examples/C/*.cdl "$here"/test/house/*.cdl; do
        ncgen -k "$1" -o c.nc "$cdl" >log 2>&1 || continue
        alike c.nc -s && [ "$("$dump" -k c.nc)" = "$(ncdump -k c.nc)" ] || { echo "$cdl"; return 1; }
        n=$((n + 1))
    done
    [ $n -ge 14 ]
}
check "CDL of the examples, as netCDF-4" corpus nc4
check "CDL of the examples, as its classic model" corpus nc7

# ---- random files, all types ----

# The first three that nccopy takes: it wants a _FillValue to be of its variable's type.
random_files() {
    local kind=$1 seed options n=0
    for ((seed = 1; seed < 30 && n < 3; seed++)); do
        "$random" "$2" $seed r.nc && nccopy -k "$kind" r.nc r4.nc 2>log || continue
        n=$((n + 1))
        for options in '' -h '-b c -f f' '-p 9,17' '-l 10'; do
            # shellcheck disable=SC2086
            alike r4.nc $options || { echo "seed $seed, $options"; return 1; }
        done
    done
    [ $n = 3 ]
}
check "random files of CDF-5's types" random_files nc4 5
check "random files of the classic model" random_files nc7 1

# ---- dimensions without limit ----

cat >several.cdl <<'E'
netcdf several {
dimensions: t = UNLIMITED ; u = UNLIMITED ; x = 5 ; y = 3 ;
variables: double t(t) ; float v(t, x) ; v:_FillValue = -1.f ; short z(t, u) ; short big(u, x) ;
  char cu(t, u) ; int w(x, u) ; int w4(t, u, y) ; int s5(y, x, u, t) ; byte b(x) ; int scalar ;
data: t = 1, 2 ; v = 1, 2, 3, 4, 5, 6, 7 ; z = {1, 2, 3}, {-24800} ; cu = {"ab"}, {"c"} ;
  w = {10}, {20}, {30}, {40}, {50, 60} ; w4 = {1, 2, 3, 4, 5, 6}, {7, 8, 9} ; b = 1, 2 ;
}
E
several() {
    local options
    for options in '' '-l 10' '-b c' '-b f' '-f c' '-v w,cu -f f -b f' -s; do
        # shellcheck disable=SC2086
        alike several.nc $options || { echo "$options"; return 1; }
    done
}
if ncgen -k nc4 -o several.nc several.cdl; then
    check "several dimensions without limit" several
    check "they are in JSON" matches '"w": \{' "$dump" -j several.nc
else
    skip "several dimensions without limit" "ncgen cannot"
    skip "they are in JSON" "ncgen cannot"
fi

# ---- how it is stored ----

cat >stored.cdl <<'E'
netcdf stored {
dimensions: t = UNLIMITED ; x = 5 ;
variables: float v(t, x) ; v:_DeflateLevel = 4 ; v:_Shuffle = "true" ; v:_ChunkSizes = 2, 5 ;
  int w(x) ; w:_Endianness = "big" ; w:_Fletcher32 = "true" ; w:_NoFill = "true" ; byte b(t) ;
  short c(x) ; c:_Storage = "compact" ; char text(x) ;
data: v = 1, 2, _, 4, 5, 6, 7 ; w = 1, 2, 3, 4, 5 ; b = 1, 2 ; c = 5, 4, 3, 2, 1 ; text = "abc" ;
}
E
ncgen -k nc7 -o stored.nc stored.cdl || exit 1
check "filters, chunks, byte order: values" alike stored.nc
check "-s: they are shown" alike stored.nc -s

# ---- what does not fit ----

cat >more.cdl <<'E'
netcdf more {
types: compound c { int i ; float f ; } ; int(*) vl ; byte enum e { A = 1, B = 2 } ;
dimensions: t = UNLIMITED ; x = 2 ;
variables: double t(t) ; string s(x) ; c cc(x) ; vl vv(x) ; e ee(x) ; int fits(x) ;
  vl t:vla = {1, 2} ; string :two = "a", "b" ; :plain = "p" ;
data: t = 1, 2, 3 ; s = "x", "yy" ; fits = 7, 8 ;
group: g { variables: int inside(x) ; }
}
E
ncgen -k nc4 -o more.nc more.cdl || exit 1
names() {
    local name
    status 0 "$dump" -n m more.nc || return
    for name in g s cc vv ee vla two; do
        grep -q "^ncmpidump: more.nc: .*\b$name\b" err || { echo "$name"; return 1; }
    done
    grep -q ' fits = 7, 8 ;' out && grep -q ' t = 1, 2, 3 ;' out && grep -q ':plain = "p"' out &&
        ! grep -q inside out
}
check "what does not fit is named, the rest is shown" names

# ---- no netCDF-C, and files that are broken ----

check "without netCDF-C" env NCMPI_NETCDF4=/nonexistent/libnetcdf.so bash -c "
    . '$here/test/utils/tool_lib.sh'; refused 1 'netCDF' '$dump' '$work/stored.nc'"
cut() {
    local size length
    size=$(stat -c %s stored.nc)
    for length in 9 100 600 $((size / 2)) $((size - 1)); do
        head -c "$length" stored.nc >cut.nc
        refused 1 '^ncmpidump: cut.nc: ' "$dump" cut.nc || { echo "$length bytes"; return 1; }
    done
}
check "a file that was cut" cut
check "HDF5 behind a user block" eval '{ head -c 512 /dev/zero; cat stored.nc; } >user.nc; status 0 "$dump" -h user.nc'
bin=$OLDPWD
check "ncvalidator is for others" refused 2 'ncmpidump and h5dump' "$bin/ncvalidator" stored.nc
check "so is ncoffsets" refused 1 'ncmpidump and h5dump' "$bin/ncoffsets" stored.nc
check "so is ncmpigen" eval '! "$bin/ncmpigen" -k nc4 stored.cdl 2>err && grep -q "ncmpicopy -k nc4" err'
finish
