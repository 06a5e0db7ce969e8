#!/bin/bash
# Tests reading and writing netCDF-4 files without MPI. If a file fits the classic model, it must
# equal the classic file with the same contents. Objects that do not fit must be omitted and
# reported by name.
. "${srcdir:-.}/test/support/tap.sh"
twin=$PWD/test/nc4/nc4_twin
dir=$(scratch nc4_model) || exit 99
trap 'rm -rf "$dir"' EXIT

if ! command -v ncgen >/dev/null || NCMPI_NETCDF4='' "$twin" /dev/null | grep -q "need netCDF-C\|without-netcdf4"; then
    echo "1..0 # SKIP no netCDF-C, or no ncgen"
    exit
fi

# make KIND NAME: creates a file from the CDL on standard input.
make() { ncgen -k "$1" -o "$dir/$2" - || exit 99; }

fits='netcdf x {
dimensions: x = 3; time = UNLIMITED; y = 5;
variables: byte b(time, x); ubyte ub(x); char c(y, x); short s(x); ushort us(x); int i; uint ui(time);
  int64 l(time, y); uint64 ul(x); float f(x, y); double d(time); d:_FillValue = 9.5; c:units = "m";
  f:range = 1.5f, 2.5f; :title = "a title"; :ids = 1LL, 2LL; :u = 3US; :nothing = "";
data: b = 1, 2, 3, 4, 5, 6; ub = 250, 1, 2; c = "abcdefghijklmno"; s = 1, -2, 3; us = 65000, 1, 2;
  i = 77; ui = 4000000000, 5; l = 1, 2, 3, 4, 5, 6, 7, 8, 9, -10; ul = 1, 2, 3; d = 1.5, _;
  f = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15;
}'
make nc4 fits.nc4 <<<"$fits"
nccopy -k cdf5 "$dir/fits.nc4" "$dir/fits.nc" || exit 99
check "types, attributes, records and values equal the classic twin's" "$twin" "$dir"/fits.{nc4,nc}

written() {
    "$twin" -w "$dir/written.nc4" "$dir/fits.nc" &&
        diff <(ncdump "$dir/written.nc4" | tail -n +2) <(ncdump "$dir/fits.nc" | tail -n +2)
}
check "a netCDF-4 file written from its twin is printed equally by ncdump" written

if command -v h5dump >/dev/null; then
    dumped() { h5dump -y -d /us "$dir/written.nc4" | tr -d ' \n' | grep -q 'DATA{65000,1,2}'; }
    check "h5dump reads the written file" dumped
else
    skip "h5dump reads the written file" "there is none"
fi
python=/usr/bin/python3
if "$python" -c 'import netCDF4' 2>/dev/null; then
    check "Python's netCDF4 reads the written file" "$python" -c 'import netCDF4, sys
f = netCDF4.Dataset(sys.argv[1])
assert f["l"][:].tolist() == [[1, 2, 3, 4, 5], [6, 7, 8, 9, -10]] and f["c"].units == "m"' "$dir/written.nc4"
else
    skip "Python's netCDF4 reads the written file" "there is none"
fi

if "$python" -c 'import h5py' 2>/dev/null; then
    check "h5py reads the written file" "$python" -c 'import h5py, sys
f = h5py.File(sys.argv[1], "r")
assert f["l"][:].tolist() == [[1, 2, 3, 4, 5], [6, 7, 8, 9, -10]] and f["us"][:].tolist() == [65000, 1, 2]
assert f["c"].attrs["units"] == b"m" and f["f"].attrs["range"].tolist() == [1.5, 2.5]
assert f["ul"].dtype == "u8" and f["d"][:].tolist() == [1.5, 9.5]' "$dir/written.nc4"
else
    skip "h5py reads the written file" "there is none"
fi

chunked() { nccopy -k nc4 -d 4 -s -c x/2,y/3 "$dir/fits.nc" "$dir/chunked.nc4" && "$twin" "$dir/chunked.nc4" "$dir/fits.nc"; }
check "chunked and filtered values equal the classic twin's" chunked

nc7='netcdf x { dimensions: t = UNLIMITED; variables: short s(t); data: s = 1, 2, 3; }'
make nc7 classic.nc4 <<<"$nc7"
make cdf5 classic.nc <<<"$nc7"
check "a file of netCDF-4's classic model is read" "$twin" "$dir"/classic.{nc4,nc}

make nc4 several.nc4 <<'X'
netcdf x { dimensions: a = UNLIMITED; b = UNLIMITED; c = UNLIMITED;
variables: int v(b, a); int w(c); data: v = {1, 2, 3}, {4, 5, 6}; w = 7, 8; }
X
make cdf5 several.nc <<'X'
netcdf x { dimensions: a = 3; b = UNLIMITED; c = 2;
variables: int v(b, a); int w(c); data: v = 1, 2, 3, 4, 5, 6; w = 7, 8; }
X
check "the first possible one of several unlimited dimensions has the records" "$twin" "$dir"/several.{nc4,nc}

# ncgen would pad the rows to equal lengths, so Python writes this file.
inner='
import netCDF4, numpy, sys
d = netCDF4.Dataset(sys.argv[1], "w")
for name, length in ("a", None), ("b", None), ("x", 3), ("y", 2):
    d.createDimension(name, length)
d.createVariable("n", "i4", ("a",))[:] = [1, 2, 3, 4]
d.createVariable("w", "i4", ("x", "a"))[:, :2] = numpy.arange(6).reshape(3, 2)
d.createVariable("z", "i4", ("b", "a", "y"))[:2, :2, :] = numpy.arange(8).reshape(2, 2, 2)'
make cdf5 inner.nc <<'X'
netcdf x { dimensions: a = 4; b = UNLIMITED; x = 3; y = 2;
variables: int n(a); int w(x, a); int z(b, a, y);
data: n = 1, 2, 3, 4; w = 0, 1, _, _, 2, 3, _, _, 4, 5; z = 0, 1, 2, 3, _, _, _, _, 4, 5, 6, 7; }
X
if /usr/bin/python3 -c "$inner" "$dir/inner.nc4" 2>/dev/null; then
    check "unwritten values of an inner dimension read as fill values" "$twin" "$dir"/inner.{nc4,nc}
else
    skip "unwritten values of an inner dimension read as fill values" "no netCDF4 for Python"
fi

make nc4 odd.nc4 <<'X'
netcdf x { types: compound pair { int a; int b; };
dimensions: x = 2; e = UNLIMITED; r = UNLIMITED;
variables: string s(x); pair p(x); int i(x); int n(x, e); string i:words = "a", "b"; :k = 4;
data: i = 1, 2;
group: g { variables: int j; } group: h { } }
X
make cdf5 odd.nc <<'X'
netcdf x { dimensions: x = 2; r = UNLIMITED; variables: int i(x); :k = 4; data: i = 1, 2; }
X
named() {
    local all
    all=$("$twin" "$dir"/odd.{nc4,nc})
    local bad=$?
    echo "$all"
    local line
    for line in "group g" "group h" "dimension e (of length 0)" "variable s (string)" \
        "variable p (user-defined type)" "attribute i:words (string)" "variable n (a dimension of length 0)"; do
        grep -qxF "$line" <<<"$all" || return 1
    done
    [ $bad = 0 ]
}
check "omitted groups, strings and user-defined types are named" named

many() {
    { echo 'netcdf x {'; for i in $(seq 100); do echo "group: a_group_number_$i { }"; done; echo '}'; } |
        make nc4 many.nc4 && [ "$("$twin" "$dir/many.nc4" | grep -c '^group a_group_number_[0-9]*$')" = 100 ]
}
check "each of many omitted objects is named" many

# The names that h5py and HDF5 accept but netCDF does not. A moved object becomes the last one.
make nc4 names.nc4 <<'X'
netcdf x { dimensions: x = 2; y = 3; z = 4; r = UNLIMITED;
variables: int v(x); int w(x); int k(y, x); int l(z); float s(r); int colon(x); int c(x);
  v:dash = 1; v:slash = 2; v:blank = 3; v:stays = 4; w:huge = 5; c:colon = 6; :slash = 7; :stays = 8;
data: v = 1, 2; w = 3, 4; s = 5, 6; colon = 7, 8; l = 1, 2, 3, 4; }
X
make cdf5 names.nc <<'X'
netcdf x { dimensions: x = 2; second = 4; r = UNLIMITED; variables: int w(x); int l(second); float s(r); int c(x); int a\:b(x);
  c:a\:b = 6; :stays = 8;
data: w = 3, 4; s = 5, 6; a\:b = 7, 8; l = 1, 2, 3, 4; }
X
odd_names() {
    local all long
    long=$(printf 'n%.0s' {1..300})
    test/nc4/nc4_alter "$dir/names.nc4" v dash -b v slash a/b v blank 'b ' w huge "$long" c colon a:b / slash /b \
        move v -v move y 'y ' link z second move colon a:b &&
        all=$("$twin" "$dir"/names.{nc4,nc})
    local bad=$?
    echo "$all"
    while read -r line; do grep -q "^$line" <<<"$all" || { echo "no $line"; return 1; }; done <<'X'
dimension y  ('y ' ends with a space)
variable k (a dimension that was omitted)
dimension second (a second link to it)
variable -v ('-v' does not start
attribute :/b ('/b'
attributes of w (one has a name that is too long)
X
    [ $bad = 0 ]
}
check "objects with names that netCDF does not create are named, and the others are read" odd_names

# netCDF-C cuts the name, with or without some random bytes after it.
make nc4 long.nc4 <<<'netcdf x { dimensions: x = 2; variables: int v(x); int w(x); data: w = 1, 2; }'
long_name() {
    test/nc4/nc4_alter "$dir/long.nc4" move v "$(printf 'n%.0s' {1..300})" && "$twin" "$dir/long.nc4"
}
check "a name of 300 bytes does not prevent reading" long_name

make nc4 nofill.nc4 <<<'netcdf x { dimensions: x = 9; variables: int v(x); v:_NoFill = "true"; }'
make cdf5 nofill.nc <<<'netcdf x { dimensions: x = 9; variables: int v(x); data: v = 0, 0, 0, 0, 0, 0, 0, 0, 0; }'
check "values that were never written in no-fill mode are zeros" "$twin" "$dir"/nofill.{nc4,nc}

refuses() { ! "$twin" "$1" && "$twin" "$1" | grep -q "$2"; }
check "netCDF-C refuses a classic file" refuses "$dir/fits.nc" "fits.nc is not in HDF5 format"
head -c 300 "$dir/fits.nc4" >"$dir/short.nc4"
check "a truncated file returns netCDF-C's message" refuses "$dir/short.nc4" "short.nc4, netCDF-C (libnetcdf"
check "a missing file returns netCDF-C's message" refuses "$dir/none.nc4" "No such file"

elsewhere() { NCMPI_NETCDF4=libnothing.so.1 refuses "$dir/fits.nc4" "netCDF-C, which was not found.*Debian: libnetcdf19"; }
check "without netCDF-C the error says what to install" elsewhere
links_none() {
    local program=test/nc4/.libs/nc4_twin
    [ -f $program ] || program=$twin
    ! ldd "$program" | grep -q libnetcdf
}
check "a program is not linked with netCDF-C" links_none
finish
