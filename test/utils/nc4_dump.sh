#!/bin/bash
# Tests the tools on netCDF-4 files. ncmpidump must print what ncdump prints, and must name the
# objects that the classic model cannot represent. Tools that support only classic files must name
# the tool to use instead.
. "${srcdir:-.}/test/utils/tool_lib.sh"
need ncdump ncgen nccopy
dump=$PWD/ncmpidump
cd "$work" || exit 99

# Removes the intended differences from ncdump's output: see dump_random.sh.
mend() { sed -E 's,(// (\\9)?scalar.*)\([0-9]+\)$,\1,' | sed -z 's/\\n",\n    "/\\n/g'; }
# alike FILE OPTION...: succeeds if ncdump and ncmpidump print the same text, and ncmpidump prints
# nothing on standard error.
alike() {
    local file=$1
    shift
    "$dump" "$@" "$file" >ours 2>err && ! [ -s err ] || { cat err; return 1; }
    ncdump "$@" "$file" | mend | diff -a - ours
}

# ---- files that ncgen creates from text ----

corpus() {
    local cdl n=0
    for cdl in "$here"/test/fuzz/cdl-corpus/all-*.cdl "$here"/examples/C/*.cdl "$here"/test/house/*.cdl; do
        ncgen -k "$1" -o c.nc "$cdl" >log 2>&1 || continue
        alike c.nc -s && [ "$("$dump" -k c.nc)" = "$(ncdump -k c.nc)" ] || { echo "$cdl"; return 1; }
        n=$((n + 1))
    done
    [ $n -ge 14 ]
}
check "the examples' CDL is printed from netCDF-4 files" corpus nc4
check "the examples' CDL is printed from classic-model files" corpus nc7

lines() {
    ncgen -k "$1" -o l.nc - <<<'netcdf l { variables: int v; v:a = "one\n\ntwo"; :b = "x\n"; }' && alike l.nc -h
}
check "lines of text in attributes are printed as by ncdump" eval 'lines nc4 && lines nc7 && lines cdf5'

# ---- random files, all types ----

# Tests the first three seeds whose files nccopy accepts. nccopy rejects a _FillValue whose type
# differs from the variable's.
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
check "random files with CDF-5's types are printed" random_files nc4 5
check "random files of the classic model are printed" random_files nc7 1

# ---- several unlimited dimensions ----

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
    check "several unlimited dimensions are printed" several
    check "several unlimited dimensions are printed as JSON" matches '"w": \{' "$dump" -j several.nc
else
    skip "several unlimited dimensions are printed" "ncgen cannot"
    skip "several unlimited dimensions are printed as JSON" "ncgen cannot"
fi

# ---- storage ----

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
check "values with filters, chunks and byte order are printed" alike stored.nc
check "-s: prints filters, chunks and byte order" alike stored.nc -s

# ---- objects that the classic model lacks ----

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
check "unsupported objects are named, the rest is printed" names

# ---- without netCDF-C, and broken files ----

check "without netCDF-C a netCDF-4 file is refused" env NCMPI_NETCDF4=/nonexistent/libnetcdf.so bash -c "
    . '$here/test/utils/tool_lib.sh'; refused 1 'netCDF' '$dump' '$work/stored.nc'"
cut() {
    local size length
    size=$(stat -c %s stored.nc)
    for length in 9 100 600 $((size / 2)) $((size - 1)); do
        head -c "$length" stored.nc >cut.nc
        refused 1 '^ncmpidump: cut.nc: ' "$dump" cut.nc || { echo "$length bytes"; return 1; }
    done
}
check "a truncated file is refused" cut
check "HDF5 after a user block is recognized" eval '{ head -c 512 /dev/zero; cat stored.nc; } >user.nc; status 0 "$dump" -h user.nc'
bin=$OLDPWD
check "ncvalidator refuses netCDF-4" refused 2 'ncmpidump or h5dump' "$bin/ncvalidator" stored.nc
check "ncoffsets refuses netCDF-4" refused 1 'ncmpidump or h5dump' "$bin/ncoffsets" stored.nc
check "ncmpigen refuses netCDF-4" eval '! "$bin/ncmpigen" -k nc4 stored.cdl 2>err && grep -q "ncmpicopy -k nc4" err'
finish
