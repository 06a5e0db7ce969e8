#!/bin/bash
# doc/calls.md has a row for every function of netCDF's header, include file and module;
# each counterpart that it names is there.
here=${srcdir:-.}
. "$here/test/support/tap.sh"
export LC_ALL=C
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
guide=$here/doc/calls.md

# The first column, and the second where there is a counterpart.
rows() { sed -n "s/^| \`\($1[a-z0-9_]*\)\` | .*/\1/p" "$guide" | sort; }
counterparts() { sed -n "s/^| \`[a-z0-9_]*\` | \`\($1[a-z0-9_]*\)\` | .*/\1/p" "$guide" | sort -u; }
# covers PREFIX FILE: every name in FILE has a row, and there are many.
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
# The module's names: those that its library has or that are rows here, but for those that
# the compiler does not find.
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
    check "every function of netcdf.h has a row" covers_c
else
    skip "every function of netcdf.h has a row" "no netCDF"
fi
if [ "$HAVE_NETCDFF" = yes ]; then
    check "every function of netcdf.inc has a row" covers_f77
    check "every function of module netcdf has a row" covers_f90
else
    skip "every function of netcdf.inc has a row" "no netCDF-Fortran"
fi
if [ -e .libs/libpnetcdf.so ]; then
    check "every counterpart in C is there" there ncmpi_ in_c
fi
check "every counterpart in Fortran 77 is there" there nfmpi_ in_f77
check "every counterpart in Fortran 90 is there" there nf90mpi_ in_f90
finish
