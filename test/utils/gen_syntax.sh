#!/bin/bash
# Tests ncmpigen's parser. It must accept every CDL notation and interpret it as ncgen does. If the
# input uses a feature that the classic model lacks, the error must name the feature. If the input
# is truncated at any byte, the error must contain the line and column.
. "${srcdir:-.}/test/utils/tool_lib.sh"
gen=$PWD/ncmpigen dump=$PWD/ncmpidump diff=$PWD/cdfdiff
cd "$work" || exit 99

cat >s.cdl <<'END'
netcdf s { // what only CDF-5 has, and every way of writing
/* a comment
   over lines */
dimensions: x = 4, y = 2 ; t = UNLIMITED ; größe = 3, a\ b = 2 ;
variables: byte b(x), b2(x) ; ubyte ub(x) ; ushort us(x) ; uint u(x) ; uint64 ul(x) ;
 real re ; short s(x) ; int i(x) ; double d(x) ; float f(x) ; char c(x), w(y, x), z(t, x) ;
 int größe(größe), odd\ name(a\ b), never(x), all(t) ; int scalar ;
 i:_FillValue = -9 ; u:_FillValue = 7U ;
 b:b = 1b, -1B ; s:s = 1s, 2S ; i:l = 3l, 4L ; ub:ub = 200ub, 201UB ; us:us = 60000us, 1US ;
 u:u = 4000000000u, 2U ; i:ll = 1ll, -9223372036854775808LL ;
 ul:ul = 18446744073709551615ull, 1ULL ;
 f:f = 1.f, .5F, 1e3f ; d:d = 1., .5, 1.5e-3, 1E5, 2.5L ; d:n = NaN, Infinity, -Infinity ;
 f:n = NaNf, Infinityf, -Infinityf ; s:wide = 1s, 2 ; f:mixed = 1, 2.5f ;
 :text = "one", "two\n", "\101\\\"\'\t" ; :lines = "over
lines" ; :utf = "größe" ; :ch = 'a', '\n', '\101' ; char :typed = "x" ; double :td = 1, 2 ;
 double d:typed = 3 ;
data:
 b = 'a', '\n', -128, 127 ; b2 = 1, _, 3, _ ; ub = 0, 255, 1, 2 ; us = 0, 65535, 1, 2 ;
 u = 4294967295, _, 0x10, 010 ; ul = 18446744073709551615ULL, 0, 1, 2 ;
 re = 1.5 ; s = -32768, 32767, 0x7f, 017 ; i = 2147483647, -2147483648, _, 1 ;
 d = 1e308, -1e-308, NaN, Infinity ; f = 3.4e38, NaNf, -Infinity, _ ;
 c = "a\000b\n" ; w = "abcd", "ef" ; z = "q", "rstu", "" ;
 größe = 1, 2, 3 ; odd\ name = 1, 2 ; all = 1, 2, 3, 4 ; scalar = 42 ;
}
END
check "all syntax is accepted" status 0 "$gen" -o s.nc s.cdl
if type ncgen >/dev/null 2>&1; then
    as_ncgen() { ncgen -k nc5 -o n.nc s.cdl && status 0 "$diff" n.nc s.nc; }
    check "ncgen makes the same file" as_ncgen
else
    skip "ncgen makes the same file" "no ncgen"
fi
back() { "$dump" -p 9,17 s.nc | status 0 "$gen" -o r.nc && status 0 "$diff" s.nc r.nc; }
check "all syntax survives a round trip through CDL" back

# Notations that ncgen 4.9 misreads or refuses: a u at the end of a suffix, int64 in CDF-5, \x, hexadecimal attributes, integers of more
# than 32 bits for double variables, and empty text.
cat >o.cdl <<'END'
netcdf o { dimensions: x = 2 ; variables: int64 l(x) ; double d(x) ; char c(x) ; d:h = 0x1F, 017 ;
 :empty = "" ; :u = 7BU, 8bu ; :us = 14SU, 14US ; :u4 = 20LU, 20U ; :u8 = 20LLU, 20ULL ; data: l = -9223372036854775808, 9223372036854775807 ; d = 4294967296, -5000000000 ;
 c = "\x41\x6a" ; }
END
cat >o.want <<'END'
netcdf o {
dimensions:
	x = 2 ;
variables:
	int64 l(x) ;
	double d(x) ;
		d:h = 31, 15 ;
	char c(x) ;

// global attributes:
		:empty = "" ;
		:u = 7UB, 8UB ;
		:us = 14US, 14US ;
		:u4 = 20U, 20U ;
		:u8 = 20ULL, 20ULL ;
data:

 l = -9223372036854775808, 9223372036854775807 ;

 d = 4294967296, -5000000000 ;

 c = "Aj" ;
}
END
others() { "$gen" -o o.nc o.cdl && "$dump" -p 9,17 o.nc | diff - o.want; }
check "values that ncgen misreads or refuses are read correctly" others
storage() {
    printf '%s' 'netcdf a { variables: int v ; v:_Storage = "chunked" ; v:_ChunkSizes = 1 ;
        :_Format = "64-bit offset" ; :_NCProperties = "x" ; v:a = 1 ; }' >a.cdl
    status 0 "$gen" -o a.nc a.cdl && [ "$("$dump" -k a.nc)" = "64-bit offset" ] &&
        ! "$dump" -h a.nc | grep _ && "$dump" -h a.nc | grep 'v:a = 1'
}
check "netCDF-4's storage attributes are ignored" storage

# wrong PATTERN TEXT: succeeds if the text is rejected with this position and message, and no file
# remains.
wrong() {
    printf '%s' "$2" >w.cdl
    refused 1 "^ncmpigen: w.cdl: line $1" "$gen" -o w.nc w.cdl && ! [ -e w.nc ]
}
v='netcdf w { variables: int v ; '
check "a group is refused" wrong '2, column 1: groups' "$v
group: g { } }"
check "user-defined types are refused" wrong '1, column 12: .*types' 'netcdf w { types: int(*) t ; variables: t v ; }'
check "type string is refused" wrong "1, column 31: type 'string'" "${v}string s ; }"
check "an unknown type is refused" wrong "1, column 31: 'text' is not a type" "${v}text s ; }"
check "braces in data are refused" wrong "1, column 41: unexpected '\{'" "${v}data: v = { 1 } ; }"
check "unterminated text is refused" wrong "1, column 37: unterminated string" "${v}v:a = \"x ; }"
check "an unterminated comment is refused" wrong "1, column 31: unterminated comment" "$v/* x ; }"
check "two unlimited dimensions are refused" wrong '1, column 40: ' \
    'netcdf w { dimensions: t = UNLIMITED ; u = UNLIMITED ; }'
check "a type that the format lacks is refused" refused 1 'line 5, column' "$gen" -k 1 -o w.nc s.cdl

# Truncates the text at every byte up to its last brace. Each truncated text must be rejected.
cut_everywhere() {
    local text length got bad=0
    text=$(<s.cdl)
    for ((length = 0; length < ${#text} - 1; length++)); do
        printf '%s' "${text:0:length}" >w.cdl
        got=$("$gen" -o w.nc w.cdl 2>&1) && bad=1
        [[ $got =~ ^ncmpigen:\ w.cdl:\ line\ [0-9]+,\ column\ [0-9]+:\ [^$'\n']+$ ]] || bad=1
        [ ! -e w.nc ] && [ $bad = 0 ] || { echo "cut at $length: $got"; return 1; }
    done
}
check "CDL truncated at any byte is refused" cut_everywhere

# Reads 32 MB of numbers from a pipe, using at most 16 MiB of memory.
piped() {
    {
        echo 'netcdf l { dimensions: x = 4000000 ; variables: double d(x) ; data: d ='
        yes 1.5, | head -n 3999999
        echo '2 ; }'
    } | (ulimit -d 16384 && "$gen" -o l.nc) && [ "$(stat -c %s l.nc)" -gt 32000000 ]
}
check "memory does not depend on the amount of data read from a pipe" piped
finish
