#!/bin/bash
# Tests every option of ncmpidump, dates, and the intended differences from ncdump.
. "${srcdir:-.}/test/utils/dump_lib.sh"
need ncgen

cat >"$work/t.cdl" <<'END'
netcdf t {
dimensions: time = UNLIMITED ; nv = 2 ; x\,y = 2 ;
variables:
double time(time) ;
 time:units = "days since 2000-01-01" ; time:bounds = "edges" ;
 time:actual_range = 0.5, 2.25 ;
double edges(time, nv) ;
int far(nv) ; far:units = "hours since 1-1-1" ; far:calendar = "360_day" ;
float sc ; sc:C_format = "%.2f" ;
short x\,y(x\,y) ;
int bad(nv) ; bad:C_format = "%s%n" ; bad:empty = "" ;
data:
 time = 0.5, 1 ;
 edges = 0, 1.00001, _, NaN ;
 far = 1, 2147483647 ;
 sc = 1.125 ; x\,y = 7, 8 ; bad = 1, 2 ;
}
END
ncgen -k classic -o "$work/t.nc" "$work/t.cdl" || exit 1

header() {
    cat <<'END'
netcdf t {
dimensions:
	time = UNLIMITED ; // (2 currently)
	nv = 2 ;
	x\,y = 2 ;
variables:
	double time(time) ;
		time:units = "days since 2000-01-01" ;
		time:bounds = "edges" ;
END
    printf '\t\ttime:actual_range = 0.5, 2.25 ;%s\n' "$1"
    cat <<'END'
	double edges(time, nv) ;
	int far(nv) ;
		far:units = "hours since 1-1-1" ;
		far:calendar = "360_day" ;
	float sc ;
		sc:C_format = "%.2f" ;
	short x\,y(x\,y) ;
	int bad(nv) ;
		bad:C_format = "%s%n" ;
		bad:empty = "" ;
END
}

check "-h: prints only the header" prints "$(header; echo '}')" -h "$work/t.nc"
check "-c: prints coordinates" prints "$(header; cat <<'END'
data:

 time = 0.5, 1 ;

 x\,y = 7, 8 ;
}
END
)" -c "$work/t.nc"
check "-v: selects variables; a comma in a name is escaped" prints "$(header; cat <<'END'
data:

 sc = 1.12 ;

 x\,y = 7, 8 ;
}
END
)" -v 'x\,y,sc' "$work/t.nc"
check "-v: the last list takes precedence" prints "$(header; printf 'data:\n\n bad = 1, 2 ;\n}\n')" \
    -v sc -v bad "$work/t.nc"
check "-c and -v: print variables that both select" prints "$(header; printf 'data:\n\n time = 0.5, 1 ;\n}\n')" \
    -v time,sc -c "$work/t.nc"
check "-t: prints dates, of bounds too" prints "$(header ' // "2000-01-01 12", "2000-01-03 06"'; cat <<'END'
data:

 time = "2000-01-01 12", "2000-01-02" ;

 edges =
  "2000-01-01", "2000-01-02 00:00:00.864000",
  _, NaN ;

 far = "0001-01-01 01", "248552-05-06 07" ;
}
END
)" -t -v time,edges,far "$work/t.nc"
check "-i: prints dates with a T" prints "$(header ' // "2000-01-01T12", "2000-01-03T06"'; cat <<'END'
data:

 time = "2000-01-01T12", "2000-01-02" ;
}
END
)" -i -v time "$work/t.nc"
check "-f: prints no index for a scalar" prints "$(header; printf 'data:\n\n sc = 1.12;  // sc\n    }\n')" \
    -f c -v sc "$work/t.nc"
check "-n: sets the dataset's name" prints "$(header | sed '1s|.*|netcdf \\1\\ n\\:/ {|'; echo '}')" \
    -h -n '1 n:/' "$work/t.nc"
check "-s: prints the format as an attribute" prints "$(header; cat <<'END'

// global attributes:
		:_Format = "classic" ;
}
END
)" -hs "$work/t.nc"

kind() {
    "$random" "$1" 1 "$work/r.nc" && prints "$2" -k "$work/r.nc"
}
check "-k: prints CDF-1" kind 1 classic
check "-k: prints CDF-2" kind 2 '64-bit offset'
check "-k: prints CDF-5" kind 5 cdf5

says() {
    local pattern=$1
    shift
    "$dump" "$@" | grep -q -e "$pattern"
}
check "--help explains every option" says '^  -l LENGTH' --help
check "--version" says '^ncmpidump (PnetCDF) [0-9]' --version
check "-V" says '^ncmpidump (PnetCDF) [0-9]' -V

# wrong ARGUMENT...: succeeds if ncmpidump exits with status 1 and prints only the usage, on
# standard error.
wrong() {
    local status=0
    "$dump" "$@" >"$work/out" 2>"$work/err" || status=$?
    [ $status = 1 ] && ! [ -s "$work/out" ] && grep -q '^Usage: ncmpidump ' "$work/err"
}
check "an unknown short option is refused" wrong -Z "$work/t.nc"
check "an unknown long option is refused" wrong --nonsense "$work/t.nc"
check "a missing argument of an option is refused" wrong -v
check "a missing file name is refused" wrong
check "two file names are refused" wrong "$work/t.nc" "$work/t.nc"
for option in '-b x' '-f x' '-l 9' '-l 1x' '-l 99999999999999' '-p 0' '-p 21' '-p 3,' '-p 3,x' '-p ,4'; do
    check "an invalid option is refused: $option" wrong $option "$work/t.nc"
done
# The time must be proportional to the number of variables. With a quadratic algorithm, this test
# would take minutes.
many_variables() {
    awk 'BEGIN { print "netcdf many { dimensions: x = 2 ; variables:"
        for (i = 0; i < 100000; i++) printf "float v%d(x) ; v%d:units = \"m\" ;\n", i, i
        print "}" }' >"$work/many.cdl" && "$PWD/ncmpigen" -o "$work/many.nc" "$work/many.cdl" &&
        timeout $((10 * ${NCMPI_TEST_TIME_SCALE:-1})) "$dump" -h "$work/many.nc" >"$work/many.out" &&
        [ "$(grep -c ':units' "$work/many.out")" = 100000 ]
}
check "a header of 10^5 variables is printed quickly" many_variables
check "ncmpidump needs no MPI library" sh -c '! ldd "$1" | grep -i mpi' - "$dump"
finish
