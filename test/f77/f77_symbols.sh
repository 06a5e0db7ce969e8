#!/bin/bash
# Checks that every nfmpi_ function is exported under the compiler's spelling, declared in
# pnetcdf.inc, and called by the tests, and that every parameter has the right value in fixed-form
# and free-form sources.
here=${srcdir:-.}/test/f77
. "${srcdir:-.}/test/support/tap.sh"
export LC_ALL=C
library=.libs/libpnetcdf.so
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
count=433

# Spells the names on standard input as the compiler does, according to config.h.
spelled() {
    case $(sed -n 's/^#define F77_NAME(name,NAME) //p' config.h) in
    'name ## __') sed 's/$/__/' ;;
    'name ## _') sed 's/$/_/' ;;
    'name') cat ;;
    'NAME ## _') tr a-z A-Z | sed 's/$/_/' ;;
    *) tr a-z A-Z ;;
    esac
}
functions() { sed 's/^/nfmpi_/' "$here/f77_names.txt" | sort; }
exported() { nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | sort; }
# none_missing COMMAND...: checks that the command prints the names of all functions.
none_missing() {
    "$@" >"$scratch/there"
    functions | comm -23 - "$scratch/there" >"$scratch/missing"
    cat "$scratch/missing"
    [ "$(functions | wc -l)" = $count ] && [ ! -s "$scratch/missing" ]
}
symbols_exported() {
    functions | spelled | sort | comm -23 - <(exported) >"$scratch/missing"
    cat "$scratch/missing"
    [ "$(functions | wc -l)" = $count ] && [ ! -s "$scratch/missing" ]
}
# Checks that the library also exports the functions that PnetCDF's .inc file does not
# declare, but that the published functions in PnetCDF's library call.
others_exported() {
    ! printf 'nfmpi_%s\n' xinq_libvers xstrerror xstrerrno inq_version | spelled | sort |
        comm -23 - <(exported) | grep .
}
declared() { sed -n 's/^ *external //p' include/pnetcdf.inc | sort; }
called() {
    cat "$here"/*.f test/f77/*.f | grep -oE 'nfmpi_[a-z0-9_]+ *\(' | tr -d '( ' | sort -u
}
fits_both_forms() { ! grep -nE '^.{73}|^ {0,5}[^ !]|	' include/pnetcdf.inc; }

# values ENDING FLAG...: compiles a program that prints every parameter, in this source form, and
# checks the values.
values() {
    local file=$scratch/values.$1
    shift
    {
        echo '      program values'
        echo '      implicit none'
        echo "      include 'pnetcdf.inc'"
        sed '/^#/d; s/ .*//' "$here/f77_values.txt" | while read -r name; do
            printf "      write (*, '(a)', advance='no') '%s '\n" "$name"
            printf "      print *, %s\n" "$name"
        done
        echo '      end'
    } >"$file"
    $MPIF90 "$@" -Iinclude -o "$scratch/values" "$file" &&
        "$scratch/values" >"$scratch/got" &&
        awk 'FILENAME ~ /pnetcdf\.h$/ { if (sub(/^#define /, "")) gsub(/"/, ""); macro[$1] = $2; next }
            FILENAME ~ /values\.txt$/ { if ($1 != "#") want[$1] = $2 == "@" ? macro[$1] : $2; next }
            want[$1] ~ /\..*\./ { n++; if ($2 != want[$1]) { print; bad = 1 }; next } # the version
            { n++; d = $2 - want[$1]; if (d < 0) d = -d
              size = $2 < 0 ? -$2 : $2
              if (!($1 in want) || d > 1e-6 * size) { print $1, want[$1], $2; bad = 1 } }
            END { exit bad || n != 323 }' include/pnetcdf.h "$here/f77_values.txt" "$scratch/got"
}

if [ -e "$library" ]; then
    check "every nfmpi_ function is exported ($count)" symbols_exported
    check "every undeclared nfmpi_ function is exported" others_exported
else
    skip "every nfmpi_ function is exported ($count)" "no shared library is built"
fi
check "every nfmpi_ function is declared" none_missing declared
check "every nfmpi_ function is called by the tests" none_missing called
check "pnetcdf.inc is valid in fixed and free form" fits_both_forms
check "every parameter has its value, fixed form" values f
check "every parameter has its value, free form" values f90
finish
