#!/bin/bash
# Tests that our netcdf.h and netcdf.inc have every name that netCDF's files have. In C, a name must
# be mapped to an exported function of libpnetcdf_serial or libpnetcdf; otherwise, calling it must
# not compile, and the compiler must print the reason. In Fortran, the functions for netCDF-4 must
# exist and return the error that doc/porting.md lists.
here=${srcdir:-.}
. "$here/test/support/tap.sh"
export LC_ALL=C
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
ours=include/pnetcdf_serial
libraries=".libs/libpnetcdf.so .libs/libpnetcdf_serial.so"

# declared [FLAG...]: prints the functions that netcdf.h declares when compiled with these flags.
declared() {
    echo '#include <netcdf.h>' | $MPICC -E "$@" - | grep -oE '\bnc_[a-z0-9_]+ *\(' | tr -d ' (' |
        grep -v '^nc_type$' | sort -u
}
mapped() {
    grep -oE '^#define nc_[a-z0-9_]+(\(\.\.\.\))? [a-z0-9_]+' "$ours/netcdf.h" |
        sed 's/(\.\.\.)//' | cut -d ' ' -f 2- | sort
}
all_of_c() {
    declared >"$scratch/theirs"
    [ "$(wc -l <"$scratch/theirs")" -gt 250 ] || return 1
    mapped | cut -d ' ' -f 1 | comm -23 "$scratch/theirs" - >"$scratch/missing"
    cat "$scratch/missing"
    [ ! -s "$scratch/missing" ]
}
# Checks that each mapped name leads to an exported function.
all_there() {
    nm -D --defined-only $libraries | awk '{print $NF}' | sed 's/@.*//' | sort -u >"$scratch/exported"
    mapped | cut -d ' ' -f 2 | sort -u | grep -vx ncserial_needs_netcdf4 |
        comm -23 - "$scratch/exported" >"$scratch/missing"
    cat "$scratch/missing"
    [ -s "$scratch/exported" ] && [ ! -s "$scratch/missing" ]
}
# Checks that calls to functions for netCDF-4 do not compile, and that the compiler prints the
# reason for each one.
says_why() {
    mapped | awk '$2 == "ncserial_needs_netcdf4" {print $1}' >"$scratch/names"
    {
        echo '#include <netcdf.h>'
        awk '{print "int f" NR "(void) { return " $1 "(1, 2); }"}' "$scratch/names"
    } >"$scratch/four.c"
    ! $MPICC -I$ours -Iinclude -c -o "$scratch/four.o" "$scratch/four.c" 2>"$scratch/said" || return 1
    [ "$(grep -c 'error: .*is for netCDF-4 files' "$scratch/said")" = "$(wc -l <"$scratch/names")" ]
}
external() { tr A-Z a-z <"$1" | sed -n 's/^ *external *\(nf_[a-z0-9_]*\) *$/\1/p' | sort -u; }
all_of_fortran() {
    external "$NETCDFF_DIR/netcdf.inc" >"$scratch/theirs"
    external $ours/netcdf.inc >"$scratch/ours"
    [ "$(wc -l <"$scratch/theirs")" -gt 150 ] || return 1
    comm -23 "$scratch/theirs" "$scratch/ours" >"$scratch/missing"
    cat "$scratch/missing"
    [ ! -s "$scratch/missing" ]
}
# Calls the Fortran functions for which doc/porting.md lists an error, and checks that each returns
# its error.
refused() {
    local error
    {
        echo "      program refused"
        echo "      include 'netcdf.inc'"
        echo "      integer nc, e"
        echo "      e = nf_create('$scratch/f.nc', NF_CLOBBER, nc)"
        for error in NF_ENOTNC4 NF_ENOPAR; do
            sed -n "/^These functions return \`$error\`/,/^\$/p" "$here/doc/porting.md" |
                grep -oE '\bnf_[a-z0-9_]+' | sort -u | while read -r name; do
                    echo "$name" >>"$scratch/$error"
                    echo "      e = $name("
                    echo "     &    nc, 1, 1, 1, 1)"
                    echo "      if (e .ne. $error)"
                    echo "     &    stop '$name'"
                done
        done
        echo "      e = nf_close(nc)"
        echo "      end"
    } >"$scratch/refused.f"
    [ "$(wc -l <"$scratch/NF_ENOTNC4")" -gt 30 ] && [ "$(wc -l <"$scratch/NF_ENOPAR")" = 3 ] &&
        $MPIF77 -fallow-argument-mismatch -I$ours -c -o "$scratch/refused.o" "$scratch/refused.f" &&
        ./libtool --silent --tag=F77 --mode=link $MPIF77 -static -o "$scratch/refused.x" \
            "$scratch/refused.o" libpnetcdf_serial.la libpnetcdf.la &&
        "$scratch/refused.x"
}
fortran_there() {
    nm -D --defined-only $libraries | awk '{print tolower($NF)}' | sed 's/@.*//; s/_*$//' | sort -u \
        >"$scratch/exported"
    external $ours/netcdf.inc | sed 's/_*$//' | sort -u | comm -23 - "$scratch/exported" \
        >"$scratch/missing"
    cat "$scratch/missing"
    [ ! -s "$scratch/missing" ]
}
parameters() {
    tr A-Z a-z <"$1" | tr -d ' ' | sed -n 's/^parameter(\(nf_[a-z0-9_]*\)=.*/\1/p' | sort -u
}
all_parameters() {
    parameters "$NETCDFF_DIR/netcdf.inc" >"$scratch/theirs"
    parameters $ours/netcdf.inc | comm -23 "$scratch/theirs" - >"$scratch/missing"
    cat "$scratch/missing"
    [ -s "$scratch/theirs" ] && [ ! -s "$scratch/missing" ]
}

if [ ! -e .libs/libpnetcdf_serial.so ]; then
    echo "1..0 # SKIP no shared library is built"
    exit 0
fi
check "every function that netcdf.h names is exported" all_there
check "netCDF-4 functions do not compile, and a message says why" says_why
if echo '#include <netcdf.h>' | $MPICC -E - >/dev/null 2>&1; then
    check "this netcdf.h has every function of netCDF's" all_of_c
else
    skip "this netcdf.h has every function of netCDF's" "no netCDF"
fi
if [ -e $ours/netcdf.inc ]; then
    check "every function that netcdf.inc names is exported" fortran_there
    if $MPIF77 --version 2>/dev/null | grep -q GNU; then
        check "netCDF-4 functions return what the guide says" refused
    else
        skip "netCDF-4 functions return what the guide says" "needs gfortran"
    fi
    if [ "$HAVE_NETCDFF" = yes ]; then
        check "module netcdf has every function of netCDF-Fortran" all_of_fortran
        check "module netcdf has every parameter of netCDF-Fortran" all_parameters
    else
        skip "module netcdf has every function of netCDF-Fortran" "no netCDF-Fortran"
    fi
fi
finish
