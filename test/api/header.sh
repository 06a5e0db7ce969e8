#!/bin/bash
# Checks that pnetcdf.h declares the published interface, that it compiles as C99, as C++ and
# together with netcdf.h, and that it rejects an MPI other than the one it was built for.
here=${srcdir:-.}/test/api
. "${srcdir:-.}/test/support/tap.sh"
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
header=include/pnetcdf.h
read -ra mpicc <<<"${MPICC:-mpicc} -Iinclude"

# compile NAME FLAG...: compiles NAME.c in the scratch directory and fails if there are warnings.
compile() {
    local name=$1
    shift
    "${mpicc[@]}" "$@" -Werror -o "$scratch/$name" "$scratch/$name.c"
}

prototypes_agree() {
    awk -f "$here/functions.awk" "$here/functions.txt" | LC_ALL=C sort >"$scratch/want"
    awk -f "$here/prototypes.awk" "$header" | LC_ALL=C sort >"$scratch/got"
    [ "$(wc -l <"$scratch/want")" = 924 ] && diff "$scratch/want" "$scratch/got"
}

names_agree() {
    "${mpicc[@]}" -E -dM -include pnetcdf.h -x c /dev/null |
        sed -nE 's/^#define (NC[A-Z0-9]*_[A-Za-z0-9_]*(\(err\))?|_FillValue|PNETCDF_(VERSION_PRE|RELEASE_DATE)) .*/\1/p' |
        LC_ALL=C sort >"$scratch/got"
    sed '/^#/d; s/ .*//' "$here/constants.txt" | LC_ALL=C sort >"$scratch/want"
    diff "$scratch/want" "$scratch/got"
}

# Compiles and runs a program that prints all constants in pnetcdf.h in the format of constants.txt.
values_agree() {
    {
        echo '#include <stdio.h>'
        echo '#include <pnetcdf.h>'
        echo 'int main(void) {'
        while read -r name kind value; do
            case $kind in
            integer) echo "printf(\"$name $kind %lld\\n\", (long long)$name);" ;;
            uint64) echo "printf(\"$name $kind %llu\\n\", (unsigned long long)$name);" ;;
            float) echo "printf(\"$name $kind %.9g\\n\", (double)$name);" ;;
            double) echo "printf(\"$name $kind %.17g\\n\", $name);" ;;
            macro) # NC_ISSYSERR must recognize system errors
                echo "printf(\"$name $kind %s\\n\", NC_ISSYSERR(1) && !NC_ISSYSERR(0) &&"
                echo "!NC_ISSYSERR(-1) ? \"$value\" : \"wrong\");"
                ;;
            date) echo "printf(\"$name $kind%s\\n\", *$name ? \"\" : \" none\");" ;;
            string) echo "printf(\"$name $kind \\\"%s\\\"\\n\", $name);" ;;
            esac
        done < <(sed '/^#/d' "$here/constants.txt")
        echo 'return 0; }'
    } >"$scratch/values.c"
    compile values && "$scratch/values" >"$scratch/got" || return 1
    sed '/^#/d' "$here/constants.txt" | same_numbers >"$scratch/want"
    same_numbers <"$scratch/got" | diff "$scratch/want" -
}
# Prints decimal fractions in a uniform format.
same_numbers() { awk '$2 == "double" { $3 = sprintf("%.17g", $3) } 1'; }

version_is() { grep -q "^#define PNETCDF_VERSION_$1 $2\$" "$header"; }
version_is_whole() {
    grep -qE '^#define PNETCDF_VERSION "[0-9]+\.[0-9]+\.[0-9]+"$' "$header"
}
features_are_numbers() {
    local name
    for name in ENABLE_FORTRAN ENABLE_CXX ERANGE_FILL SUBFILING RELAX_COORD_BOUND \
        DEBUG_MODE PROFILING NULL_BYTE_HEADER_PADDING BYTE_SWAP_IN_PLACE \
        BURST_BUFFERING THREAD_SAFE DRIVER_NETCDF4 DRIVER_ADIOS DRIVER_GIO; do
        grep -qE "^#define PNETCDF_$name (0|1|-1)\$" "$header" || { echo "$name"; return 1; }
    done
}

# Features that can be enabled by hints must be reported as built in.
features_are_reported() {
    grep -q '^#define PNETCDF_SUBFILING 1$' "$header" &&
        grep -q '^#define PNETCDF_THREAD_SAFE 1$' "$header"
}

# Includes both headers. netcdf.h is copied out of its system directory, because the compiler
# suppresses warnings about system headers.
with_netcdf() {
    mkdir -p "$scratch/netcdf" && cp "$netcdf" "$scratch/netcdf/netcdf.h"
    printf '#include <%s>\n#include <%s>\nint main(void) { return NC_NOERR; }\n' "$1" "$2" \
        >"$scratch/both.c"
    compile both -Wall -Wextra -I"$scratch/netcdf"
}
# netcdf.h redefines four limits as smaller values, and netCDF 4.9.0 spells one name differently.
with_netcdf_last() {
    with_netcdf pnetcdf.h netcdf.h >"$scratch/log" 2>&1 && return
    grep 'error: ' "$scratch/log" |
        grep -vE '"NC_(MAX_(DIMS|ATTRS|VARS|VAR_DIMS)|QUANTIZE_BITGROOM_ATT_NAME)" redefined' &&
        return 1
    grep -q ' redefined' "$scratch/log"
}

check "prototypes are those of PnetCDF" prototypes_agree
check "constants have PnetCDF's names" names_agree
check "constants have PnetCDF's values" values_agree
check "the major version is a single macro" version_is MAJOR 1
check "the minor version is a single macro" version_is MINOR 15
check "the sub version is a single macro" version_is SUB 0
check "the version is a string" version_is_whole
check "features are 0, 1 or -1" features_are_numbers
check "features that are built in are reported" features_are_reported

use='int main(void) { MPI_Offset n = NC_UNLIMITED; nc_type t = NC_INT; return !(n == 0 && t); }'
printf '#include <pnetcdf.h>\n%s\n' "$use" >"$scratch/once.c"
printf '#include "pnetcdf_constants.h"\n#include <pnetcdf.h>\n%s\n' '' '' "$use" >"$scratch/twice.c"
check "the header compiles as C99" compile once -std=c99 -Wall -Wextra -pedantic
check "the header compiles as C++" compile once -x c++ -fsyntax-only -Wall -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX
check "the header may be included twice, and after the constants" compile twice -Wall -Wextra \
    -I"${srcdir:-.}/include"

# If the MPI library is a different one, with other handle types, the header must stop the
# compilation with a message that names a compiler of the right one.
other_mpi_is_rejected() {
    local right
    ! "$1" -Iinclude -fsyntax-only "$scratch/once.c" 2>"$scratch/log" &&
        right=$(sed -n 's/.*another MPI.*; compile with \([^ ]*\)"$/\1/p' "$scratch/log" | head -n 1) &&
        $right -Iinclude -fsyntax-only "$scratch/once.c"
}
other=
case $MPI_FLAVOUR in mpich) other=openmpi ;; openmpi) other=mpich ;; esac
if command -v "mpicc.${other:-none}" >/dev/null; then
    check "the header rejects a different MPI" other_mpi_is_rejected "mpicc.$other"
else
    skip "the header rejects a different MPI" "there is no other"
fi

netcdf=$(printf '#include <netcdf.h>\n' | "${mpicc[@]}" -E - 2>/dev/null |
    sed -n 's/^# [0-9]* "\(.*netcdf\.h\)".*/\1/p' | head -n 1)
if [ -n "$netcdf" ]; then
    check "netcdf.h may be included first" with_netcdf netcdf.h pnetcdf.h
    check "netcdf.h may be included last" with_netcdf_last
else
    skip "netcdf.h may be included first" "no netcdf.h"
    skip "netcdf.h may be included last" "no netcdf.h"
fi
finish
