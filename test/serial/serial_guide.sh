#!/bin/bash
# Tests that doc/calls.md has exactly one row for each function of netCDF's header, include file and
# Fortran module, and that every counterpart named in a row exists in this library.
here=${srcdir:-.}
. "$here/test/support/tap.sh"
export LC_ALL=C
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
guide=$here/doc/calls.md

# rows PREFIX: prints the names in the table's first column. counterparts PREFIX: prints the names
# in the second column, where there is one.
rows() { sed -n "s/^| \`\($1[a-z0-9_]*\)\` | .*/\1/p" "$guide" | sort; }
counterparts() { sed -n "s/^| \`[a-z0-9_]*\` | \`\($1[a-z0-9_]*\)\` | .*/\1/p" "$guide" | sort -u; }
# covers PREFIX FILE COUNT: checks that each name in FILE has exactly one row, and that FILE has
# more than COUNT names.
covers() {
    rows "$1" >"$scratch/rows"
    comm -23 "$2" "$scratch/rows" >"$scratch/missing"
    cat "$scratch/missing"
    [ "$(wc -l <"$2")" -gt "$3" ] && [ ! -s "$scratch/missing" ] &&
        [ -z "$(uniq -d "$scratch/rows")" ]
}
covers_c() {
    echo '#include <netcdf.h>' | $MPICC -E - | grep -oE '\bnc_[a-z0-9_]+ *\(' | tr -d ' (' |
        grep -v '^nc_type$' | sort -u >"$scratch/c"
    covers nc_ "$scratch/c" 250
}
covers_f77() {
    tr A-Z a-z <"$NETCDFF_DIR/netcdf.inc" |
        sed -n 's/^ *external *\(nf_[a-z0-9_]*\) *$/\1/p' | sort -u >"$scratch/f77"
    covers nf_ "$scratch/f77" 150
}
# Finds the module's public names. The candidates are the names that the library exports and those
# in the table; the compiler shows which of them are in the module.
covers_f90() {
    local library
    library=$($MPIF90 -print-file-name=libnetcdff.so)
    { nm -D --defined-only "$library" | sed -n 's/.*__netcdf_MOD_\(nf90_[a-z0-9_]*\)$/\1/p'
      rows nf90_; } | sort -u >"$scratch/all"
    { echo 'program names'; sed 's/.*/use netcdf, only: &/' "$scratch/all"; echo end; } \
        >"$scratch/names.f90"
    $MPIF90 -I"$NETCDFF_DIR" -fmax-errors=0 -fsyntax-only "$scratch/names.f90" 2>&1 |
        grep -oE 'nf90_[a-z0-9_]+.* not found in module' | sed 's/[^a-z0-9_].*//' | sort -u \
            >"$scratch/hidden"
    comm -23 "$scratch/all" "$scratch/hidden" >"$scratch/f90"
    comm -12 "$scratch/hidden" <(rows nf90_)
    covers nf90_ "$scratch/f90" 80 && [ -z "$(comm -12 "$scratch/hidden" <(rows nf90_))" ]
}
there() {
    counterparts "$1" >"$scratch/named"
    "${@:2}" | sort -u | comm -23 "$scratch/named" - >"$scratch/missing"
    cat "$scratch/missing"
    [ -s "$scratch/named" ] && [ ! -s "$scratch/missing" ]
}
in_c() { nm -D --defined-only .libs/libpnetcdf.so | awk '{print $NF}' | sed 's/@.*//'; }
in_f77() { sed 's/^/nfmpi_/' "$here/test/f77/f77_names.txt"; }
in_f90() { grep -oE '^nf90mpi_[a-z0-9_]+' "$here/test/f90/f90_generics.txt"; }

if echo '#include <netcdf.h>' | $MPICC -E - >/dev/null 2>&1; then
    check "the guide has every function of netcdf.h" covers_c
else
    skip "the guide has every function of netcdf.h" "no netCDF"
fi
if [ "$HAVE_NETCDFF" = yes ]; then
    check "the guide has every function of netcdf.inc" covers_f77
    check "the guide has every function of module netcdf" covers_f90
else
    skip "the guide has every function of netcdf.inc" "no netCDF-Fortran"
fi
if [ -e .libs/libpnetcdf.so ]; then
    check "every counterpart in C exists" there ncmpi_ in_c
fi
check "every counterpart in Fortran 77 exists" there nfmpi_ in_f77
check "every counterpart in Fortran 90 exists" there nf90mpi_ in_f90
finish
