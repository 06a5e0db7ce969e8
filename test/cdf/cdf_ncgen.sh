#!/bin/bash
# Checks headers that ncgen writes. The test reads each header, makes the same definitions, and
# encodes the result, which must be identical to ncgen's header.
. "${srcdir:-.}/test/support/tap.sh"
redefine=test/cdf/cdf_redefine
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

if ! command -v ncgen >/dev/null; then
    echo "1..0 # SKIP no ncgen"
    exit
fi

# cdl NAME: stores standard input as a CDL file.
cdl() { cat >"$dir/$1.cdl"; }

cdl nothing <<'X'
netcdf x {
}
X
cdl dims <<'X'
netcdf x {
dimensions: a = 1; time = UNLIMITED; long_name_of_a_dimension = 7;
}
X
cdl atts <<'X'
netcdf x {
:title = "some text"; :empty = ""; :b = 1b, 2b, 3b; :s = 1s; :i = 5, 6; :f = 1.5f; :d = 2.5;
}
X
cdl fixed <<'X'
netcdf x {
dimensions: x = 3; y = 5;
variables: byte b(x); char c(y, x); short s(x); int i; float f(x, y); double d(y);
  s:units = "m"; d:_FillValue = 9.5; d:valid_range = 1., 2.;
}
X
cdl records <<'X'
netcdf x {
dimensions: x = 3; time = UNLIMITED;
variables: byte b(time, x); double d(time); short f(x); char c(time); int i(x);
data: d = 1, 2, 3;
}
X
for type in byte char short int; do
    cdl "alone_$type" <<X
netcdf x {
dimensions: x = 3; time = UNLIMITED;
variables: $type v(time, x); int fixed(x);
data: fixed = 1, 2, 3;
}
X
    cdl "alone_scalar_$type" <<X
netcdf x {
dimensions: time = UNLIMITED;
variables: $type v(time);
}
X
done
cdl names <<'X'
netcdf x {
dimensions: température = 2; 温度 = 3;
variables: float été(温度); float a\ b(température); été:größe = 1;
}
X
cdl types5 <<'X'
netcdf x {
dimensions: x = 3; time = UNLIMITED;
variables: ubyte a(x); ushort b(time, x); uint c(time); int64 d(x); uint64 e(time, x);
  a:x = 1ub; a:y = 1us, 2us; a:z = 1ul; a:l = 5ll; a:u = 7ull;
data: c = 1, 2;
}
X
# Tests sizes that do not fit into vsize. No data is written.
cdl huge1 <<'X'
netcdf x {
dimensions: x = 600000000;
variables: int small; double huge(x);
}
X
cdl huge_records <<'X'
netcdf x {
dimensions: x = 600000000; time = UNLIMITED;
variables: int small(time); double huge(time, x);
}
X

same() { # KIND CDL
    ncgen -x -k "$1" -o "$dir/out.nc" "$dir/$2.cdl" && "$redefine" "$dir/out.nc"
}

for file in "$dir"/*.cdl; do
    name=$(basename "$file" .cdl)
    for kind in nc3 nc6 nc5; do
        [ "$name" = types5 ] && [ $kind != nc5 ] && continue
        check "$name as $kind" same $kind "$name"
    done
done
finish
