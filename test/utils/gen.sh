#!/bin/bash
# Tests ncmpigen. It must create the same file as ncgen, and restore a file from the text that
# ncmpidump printed. The C and Fortran programs that it generates must create the same file. If the
# text is invalid, the error message must contain the line and column, and no file may remain.
. "${srcdir:-.}/test/utils/tool_lib.sh"
gen=$PWD/ncmpigen
dump=$PWD/ncmpidump
check "--help" matches '^Usage: ncmpigen ' "$gen" --help
check "--version" matches '^ncmpigen \(PnetCDF\) [0-9]' "$gen" --version
check "an unknown option" status 1 "$gen" --no-such-option
cd "$work" || exit 99

cat >t.cdl <<'END'
netcdf t { // every kind of value
dimensions: t = UNLIMITED ; x = 3 ; y = 4 ; n = 6 ;
variables:
 byte b(x) ; char c(x, n), one(n), s ; short h(t, x) ; int i(y) ; float f(x, y) ; double d(t) ;
 char r(t, n) ; int none(y), some(y) ; some:_FillValue = -7 ;
 b:u = "m\n", "2" ; i:v = 1, -2, 3 ; d:w = 1.5, NaN, -Infinity ; f:x = 0.1f ; h:z = 1s, 2s ;
 :title = "it's ? \"quoted\" \\ \001" ;
data:
 c = "abc", "abcdefg" ; one = "ab", "cd" ; s = "q" ;
 b = -128, _, 127 ; i = 0x10, 010, 10, -2147483648 ; some = 1 ;
 f = 1.5, 1e10, NaN, -Infinity, 0.1f, .5, 5., 16777217 ; h = 1, 2, 3, 4 ; d = 1, 2.5, 1e300 ;
 r = "x", "yyyyyy" ;
}
END
for kind in 1 2 5; do
    made() { status 0 "$gen" -k $kind -o t$kind.nc t.cdl && status 0 "$OLDPWD/ncvalidator" --no-notes t$kind.nc; }
    check "CDF-$kind: CDL is converted to a file" made
    if type ncgen >/dev/null 2>&1; then
        ncgen_too() {
            ncgen -k nc$((kind * kind == 25 ? 5 : kind * 3)) -o n.nc t.cdl && status 0 "$OLDPWD/cdfdiff" n.nc t$kind.nc
        }
        check "CDF-$kind: ncgen makes the same file" ncgen_too
    fi
done
round() {
    local format seed
    for format in 1 2 5; do
        for seed in 1 2 3 5 6 7 9 10; do
            "$random" $format $seed r.nc tame && "$dump" -p 9,17 -n r r.nc >r.cdl &&
                status 0 "$gen" -k $format -o g.nc r.cdl || return
            diff -a r.cdl <("$dump" -p 9,17 -n r g.nc) || return
        done
    done
}
check "random files survive a round trip through CDL" round
# Uses only seeds whose files contain no names, integers or empty attributes that ncgen rejects or
# misreads.
random_as_ncgen() {
    local format seed
    for format in 1 2; do
        for seed in 2 7 10; do
            "$random" $format $seed r.nc tame && "$dump" -p 9,17 -n r r.nc >r.cdl &&
                status 0 "$gen" -k $format -o g.nc r.cdl && ncgen -k nc$((format * 3)) -o n.nc r.cdl &&
                status 0 "$OLDPWD/cdfdiff" n.nc g.nc || return
        done
    done
}
if type ncgen >/dev/null 2>&1; then
    check "ncgen makes the same random files" random_as_ncgen
fi
check "CDL is read from standard input" eval '"$gen" -o p.nc <t.cdl && status 0 "$OLDPWD/cdfdiff" p.nc t1.nc'
check "-b: uses the name in the CDL" eval '"$gen" -b t.cdl && cmp t.nc t1.nc'
check "without options the CDL is only checked" eval 'status 0 "$gen" t.cdl && [ ! -s out ]'

c_program() {
    "$gen" -c -o m.c t.cdl && $MPICC -Wall -Wextra -Werror -I"$OLDPWD/include" -o m m.c "$OLDPWD/libpnetcdf.la" 2>/dev/null ||
        $MPICC -Wall -Wextra -Werror -I"$OLDPWD/include" -o m m.c -L"$OLDPWD/.libs" -lpnetcdf -Wl,-rpath,"$OLDPWD/.libs" || return
    rm -f t.nc && ./m && status 0 "$OLDPWD/cdfdiff" t.nc t1.nc
}
# fortran_program LANGUAGE SUFFIX: generates, compiles and runs a Fortran program, which must create
# the same file.
fortran_program() {
    "$gen" -l "$1" -o "m.$2" t.cdl && $MPIF90 -I"$OLDPWD/include" -o mf "m.$2" -L"$OLDPWD/.libs" -lpnetcdf -Wl,-rpath,"$OLDPWD/.libs" || return
    rm -f t.nc && ./mf && status 0 "$OLDPWD/cdfdiff" t.nc t1.nc
}
if [ -n "${MPICC-}" ] && [ -e "$OLDPWD/.libs/libpnetcdf.so" ]; then
    check "the generated C program makes the same file" c_program
    if [ -e "$OLDPWD/include/pnetcdf.inc" ]; then
        MPIF90=${MPICC/mpicc/mpif90}
        check "the generated Fortran 90 program makes the same file" fortran_program f90 f90
        check "the generated Fortran 77 program makes the same file" fortran_program f77 f
    fi
fi

# wrong PATTERN TEXT: succeeds if the text is rejected with this message, and no file remains.
wrong() {
    printf '%s' "$2" >w.cdl
    refused 1 "^ncmpigen: w.cdl: line $1" "$gen" -o w.nc w.cdl && ! [ -e w.nc ]
}
head='netcdf w { dimensions: x = 2 ; variables: int i(x) ; char c(x) ; byte b ;
data:
'
check "too many values are refused" wrong "3, column 12: variable 'i' has more values" "$head i = 1, 2, 3 ; }"
check "a value out of range is refused" wrong "3, column 6: invalid value for variable 'b'" "$head b = 300 ; }"
check "text for a number is refused" wrong '3, column 6: text' "$head i = \"a\" ; }"
check "a number for text is refused" wrong "3, column 6: invalid value for variable 'c'" "$head c = 1 ; }"
check "values of an unknown variable are refused" wrong "3, column 2: no variable is named 'q'" "$head q = 1 ; }"
check "a missing value is refused" wrong "3, column 6: unexpected ','" "$head i = , ; }"
check "text after the end is refused" wrong "3, column 12: unexpected 'x'" "$head i = 1 ; } x"
own_text() {
    cp t.cdl own.cdl && refused 1 'the output file is the CDL input file' "$gen" -o own.cdl own.cdl && cmp t.cdl own.cdl &&
        ln -s own.cdl link.cdl && refused 1 'the output file is the CDL input file' "$gen" -o link.cdl own.cdl && cmp t.cdl own.cdl
}
check "output over the input is refused" own_text
check "a missing file is an error" refused 1 'No such file' "$gen" -o w.nc missing.cdl
truncated() {
    local length size
    size=$(wc -c <t.cdl)
    for ((length = 1; length < size - 2; length += 13)); do
        head -c $length t.cdl >w.cdl
        refused 1 '^ncmpigen: w.cdl: line [0-9]+, column [0-9]+: ' "$gen" -o w.nc w.cdl && ! [ -e w.nc ] || return
    done
}
check "truncated CDL is refused" truncated
corpus() {
    local file
    for file in "$here"/test/fuzz/cdl-corpus/bad-*; do
        refused 1 'line [0-9]+, column [0-9]+: ' "$gen" "$file" || return
    done
    for file in "$here"/test/fuzz/cdl-corpus/all-*; do
        "$gen" "$file" 2>/dev/null
        [ $? -le 1 ] || return
    done
}
check "hostile CDL is refused" corpus
# Reading four million numbers must require less memory than the numbers occupy.
bounded() {
    { echo 'netcdf l { dimensions: x = 4000000 ; variables: double d(x) ; data: d ='
      yes 1.5, | head -n 3999999; echo '2 ; }'; } >l.cdl
    (ulimit -d 16384 && status 0 "$gen" -o l.nc l.cdl) && [ "$(stat -c %s l.nc)" -gt 32000000 ]
}
check "memory does not depend on the amount of data" bounded
if [ -e "$OLDPWD/test/support/.libs/fault.so" ]; then
    full() {
        status 1 env LD_PRELOAD="$OLDPWD/test/support/.libs/fault.so" NCMPI_FAULT="write:2+:ENOSPC:*f.nc" \
            "$gen" -o f.nc t.cdl && ! [ -e f.nc ] && grep -q 'No space left' "$work/err"
    }
    check "full disk: the file is removed" full
fi
finish
