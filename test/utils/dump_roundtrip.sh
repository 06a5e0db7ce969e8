#!/bin/bash
# Converts files to CDL with ncmpidump, and back with ncgen. The contents must not change. The test
# uses a file with every type, and real data sets. From the real data sets, the test converts only
# variables that are small enough for a quick test, unless DUMP_ALL=1 is set (make check-slow).
. "${srcdir:-.}/test/utils/dump_lib.sh"
need ncgen ncdump
data=${DUMP_DATA:-/usr/share/ferret-vis/data}

# round FILE KIND [VARIABLE,...]: succeeds if, according to ncdump, the file that ncgen creates from
# the text has the same contents as FILE.
round() {
    local file=$1 kind=$2 part=()
    [ $# -lt 3 ] || part=(-v "$3")
    "$dump" -p 9,17 -n g "${part[@]}" "$file" >"$work/g.cdl" &&
        ncgen -k "$kind" -o "$work/g.nc" "$work/g.cdl" || return
    ncdump -p 9,17 -n g "${part[@]}" "$file" >"$work/before" &&
        ncdump -p 9,17 "${part[@]}" "$work/g.nc" >"$work/after" &&
        cmp "$work/before" "$work/after"
}

# small_variables FILE: prints a list of the variables with fewer than a million elements.
small_variables() {
    "$dump" -h "$1" | awk -v most=1000000 '
        $2 == "=" && /;$|currently/ && !/:/ { size[$1] = $3 == "UNLIMITED" ? substr($6, 2) : $3 }
        /^\t[a-z]+ [^ ]*\(/ {
            n = 1; name = $2; sub(/\(.*/, "", name)
            dims = $0; sub(/^[^(]*\(/, "", dims); sub(/\).*/, "", dims)
            k = split(dims, d, ", "); for (i = 1; i <= k; i++) n *= size[d[i]]
            if (n < most) list = list (list == "" ? "" : ",") name
        }
        END { print list }'
}

# A file with every type, and with text and values that are hard to convert. int64 is omitted,
# because ncgen 4.9 reads it as int in CDF-5.
cat >"$work/types.cdl" <<'END'
netcdf types {
dimensions: time = UNLIMITED ; n = 6 ; x\ y\# = 3 ;
variables:
byte b(n) ; b:_FillValue = -1b ; b:a = 1b, -128b ;
char c(x\ y\#, n) ; c:text = "two\nlines\t\"quoted\" \\ \001", "é" ;
short s(time, x\ y\#) ; s:a = -32768s, 32767s ;
int i(n) ; i:a = -2147483648, 2147483647 ;
float f(n) ; f:a = 0.1f, 1.e-45f, NaNf, -Infinityf ; f:_FillValue = NaNf ;
double d(n) ; d:a = 0.1, 4.9e-324, NaN, Infinity, 1.7976931348623157e308 ;
END
cp "$work/types.cdl" "$work/types5.cdl"
cat >>"$work/types5.cdl" <<'END'
ubyte ub(n) ; ub:a = 255ub ;
ushort us(n) ; us:a = 65535us ;
uint ui(n) ; ui:a = 4294967295u ; ui:b = -9223372036854775807ll ;
uint64 u64(n) ; u64:a = 18446744073709551615ull ;
char scalar ;
data:
 ub = 0, 1, 254, 255, _, 5 ; us = 0, 1, 65534, 65535, _, 5 ;
 ui = 0, 1, 4294967294, 4294967295, _, 5 ;
 u64 = 0, 1, 18446744073709551613, 18446744073709551615, _, 5 ; scalar = "'" ;
END
echo 'data:' >>"$work/types.cdl"
for cdl in types types5; do
    cat >>"$work/$cdl.cdl" <<'END'
 b = -128, 127, _, 0, 1, 2 ; c = "abcdef", "a\n\n\303\251", "" ;
 s = -32768, 32767, _, 0, 1, 2 ; i = -2147483648, 2147483647, _, 0, 1, 2 ;
 f = 0.1, 16777217, NaNf, Infinityf, 0.5, 1e-45 ;
 d = 0.1, 1e300, _, NaN, -Infinity, 2.5 ;
}
END
done
for kind in classic '64-bit offset' cdf5; do
    cdl=types
    [ "$kind" != cdf5 ] || cdl=types5
    check "every type survives a round trip, $kind" eval \
        'ncgen -k "$kind" -o "$work/types.nc" "$work/$cdl.cdl" && round "$work/types.nc" "$kind"'
done

found=0
for file in "$data"/*.cdf "$data"/*.nc; do
    kind=$("$dump" -k "$file" 2>/dev/null) || continue
    found=$((found + 1))
    if [ -n "${DUMP_ALL:-}" ]; then
        check "all of $(basename "$file")" round "$file" "$kind"
    else
        check "$(basename "$file")" round "$file" "$kind" "$(small_variables "$file")"
    fi
done
[ $found -gt 0 ] || skip "real data" "none in $data (Debian: ferret-datasets)"
finish
