#!/bin/bash
# Headers as ncdump and ncmpidump print them define what the file does.
. "${srcdir:-.}/test/support/tap.sh"
same=test/cdl/cdl_same
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

# read_back DUMP FILE: with as many digits as tell the values apart.
read_back() { "$1" -h -p 9,17 "$2" >"$dir/dump.cdl" && "$same" "$dir/dump.cdl" "$2"; }

# differs FILE OTHER: the test can tell two files apart.
differs() {
    ./ncmpidump -h "$1" >"$dir/dump.cdl" && ! "$same" "$dir/dump.cdl" "$2"
}

# generate KIND NAME: keeps what standard input defines as a file.
generate() { ncgen -x -k "$1" -o "$dir/$2.nc" -; }

numbers='v:b = -128b, 127b; v:s = -32768s, 32767s; v:i = -2147483648, 2147483647;
    v:f = 1.1f, -3.4028235e38f, 1e-45f, NaNf, Infinityf, -Infinityf, 16777217.f;
    v:d = 0.1, 1.7976931348623157e308, 5e-324, NaN, Infinity, -Infinity, 3., 1e22;
    v:t = "quotes \" '"\\'"' \\ lines\nand\ttabs \001 \177 été", " and more";'
numbers5='v:ub = 255ub; v:us = 65535us; v:u = 4294967295u; v:l = -9223372036854775808ll;
    v:ul = 18446744073709551615ull;'
types='variables: byte b(t); char c(x); short s(t, x); int i; float f(x, x); double v(t, x);'
types5='ubyte ub; ushort us(t); uint u(x); int64 l; uint64 ul(t, x);'
if command -v ncgen >/dev/null; then
    for kind in nc3 nc6 nc5; do
        generate $kind "types-$kind" <<X
netcdf x { dimensions: x = 3; t = UNLIMITED; a\ b\:c = 2; \9n = 4;
$types $([ $kind = nc5 ] && echo "$types5 $numbers5") $numbers
 float odd\ one\;(a\ b\:c, \9n); odd\ one\;:a.b-c@d = 1.;
:title = "all of it"; :v = 1, 2, 3; data: i = 1; }
X
    done
fi

# The random ones of the corpus have fill values of other types than their variables, which
# CDL cannot tell.
for file in "$dir"/*.nc "${srcdir:-.}"/test/fuzz/corpus/*.nc /usr/share/ferret-vis/data/*; do
    [ -e "$file" ] && [[ $file != *random* ]] || continue
    for dump in ncdump ./ncmpidump; do
        name="$(basename "$file") by ${dump##*/}"
        if command -v "$dump" >/dev/null; then
            check "$name" read_back "$dump" "$file"
        else
            skip "$name" "no $dump"
        fi
    done
done
check "another file's header is another" differs "${srcdir:-.}"/test/fuzz/corpus/cdf1-{fixed,records}.nc
finish
