#!/bin/bash
# ncmpigen: every way of writing that CDL has, as ncgen takes it; what is not of the classic
# model is refused in so many words, and a text cut at any byte is told with its place.
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
check "every way of writing" status 0 "$gen" -o s.nc s.cdl
if type ncgen >/dev/null 2>&1; then
    as_ncgen() { ncgen -k nc5 -o n.nc s.cdl && status 0 "$diff" n.nc s.nc; }
    check "ncgen makes the same" as_ncgen
else
    skip "ncgen makes the same" "no ncgen"
fi
back() { "$dump" -p 9,17 s.nc | status 0 "$gen" -o r.nc && status 0 "$diff" s.nc r.nc; }
check "through text and back" back

# In which ncgen 4.9 goes astray: int64 in CDF-5, \x, hexadecimal attributes, whole numbers
# of more than 32 bits for doubles, empty text.
cat >o.cdl <<'END'
netcdf o { dimensions: x = 2 ; variables: int64 l(x) ; double d(x) ; char c(x) ; d:h = 0x1F, 017 ;
 :empty = "" ; data: l = -9223372036854775808, 9223372036854775807 ; d = 4294967296, -5000000000 ;
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
data:

 l = -9223372036854775808, 9223372036854775807 ;

 d = 4294967296, -5000000000 ;

 c = "Aj" ;
}
END
others() { "$gen" -o o.nc o.cdl && "$dump" -p 9,17 o.nc | diff - o.want; }
check "values that ncgen mistakes" others
storage() {
    printf '%s' 'netcdf a { variables: int v ; v:_Storage = "chunked" ; v:_ChunkSizes = 1 ;
        :_Format = "64-bit offset" ; :_NCProperties = "x" ; v:a = 1 ; }' >a.cdl
    status 0 "$gen" -o a.nc a.cdl && [ "$("$dump" -k a.nc)" = "64-bit offset" ] &&
        ! "$dump" -h a.nc | grep _ && "$dump" -h a.nc | grep 'v:a = 1'
}
check "how netCDF-4 stores is left out" storage

# wrong PATTERN TEXT: refused with this place and word, and nothing is left.
wrong() {
    printf '%s' "$2" >w.cdl
    refused 1 "^ncmpigen: w.cdl: line $1" "$gen" -o w.nc w.cdl && ! [ -e w.nc ]
}
v='netcdf w { variables: int v ; '
check "a group" wrong '2, column 1: groups' "$v
group: g { } }"
check "types" wrong '1, column 12: .*types' 'netcdf w { types: int(*) t ; variables: t v ; }'
check "a string" wrong "1, column 31: 'string'" "${v}string s ; }"
check "a type that is none" wrong "1, column 31: 'text' is no type" "${v}text s ; }"
check "braces in data" wrong "1, column 41: '\{'" "${v}data: v = { 1 } ; }"
check "text that does not end" wrong "1, column 37: a quote" "${v}v:a = \"x ; }"
check "a comment that does not end" wrong "1, column 31: a comment" "$v/* x ; }"
check "two unlimited dimensions" wrong '1, column 40: ' \
    'netcdf w { dimensions: t = UNLIMITED ; u = UNLIMITED ; }'
check "what the format has not" refused 1 'line 5, column' "$gen" -k 1 -o w.nc s.cdl

# No byte at which a text can be cut without a word; blanks behind its last brace apart.
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
check "cut at every byte" cut_everywhere

# From a pipe too: 32 MB of numbers in 16 MiB.
piped() {
    {
        echo 'netcdf l { dimensions: x = 4000000 ; variables: double d(x) ; data: d ='
        yes 1.5, | head -n 3999999
        echo '2 ; }'
    } | (ulimit -d 16384 && "$gen" -o l.nc) && [ "$(stat -c %s l.nc)" -gt 32000000 ]
}
check "memory does not grow with what comes through a pipe" piped
finish
