#!/bin/bash
# Fortran compilers spell external names differently. For each spelling that this build's compiler
# does not use, the binding must provide all functions with names in that spelling, and a Fortran
# program must find them. gfortran has flags for the lower-case spellings. For upper case, objcopy
# renames the functions that the program calls.
here=${srcdir:-.}
support=$here/test/support
. "$support/tap.sh"
. "$support/launch.sh"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
if ! $MPIF77 --version 2>/dev/null | grep -q GNU || ! command -v objcopy >/dev/null; then
    echo "1..0 # SKIP needs gfortran and objcopy"
    exit 0
fi
if [ ! -e .libs/libpnetcdf.a ]; then
    echo "1..0 # SKIP no static library is built"
    exit 0
fi

# binding WAY MACRO: compiles the binding so that MACRO spells the names of its functions.
binding() {
    mkdir -p "$dir/$1" &&
        sed "s/^#define F77_NAME(name,NAME) .*/#define F77_NAME(name,NAME) $2/" config.h \
            >"$dir/$1/config.h" &&
        (top=$PWD && source=$(cd "$here" && pwd) && cd "$dir/$1" &&
            $MPICC -O0 -w -I. -I"$top/include" -I"$source/include" -I"$source/src/lib/base" \
                -I"$source/src/binding/f77" -c "$source"/src/binding/f77/*.c \
                "$top"/src/binding/f77/*.c)
}
# Prints the names of the published functions, and of four that they call (see f77_symbols.sh).
functions() {
    { cat "$here/test/f77/f77_names.txt" && printf '%s\n' xinq_libvers xstrerror xstrerrno inq_version; } |
        sed 's/^/nfmpi_/' | sort
}
# named WAY COMMAND...: checks that the binding defines every function under the spelling that the
# command produces.
named() {
    local way=$1
    shift
    nm -g --defined-only "$dir/$way"/*.o | awk '/ T nfmpi_| T NFMPI_/ {print $NF}' |
        sort >"$dir/there"
    functions | "$@" | sort >"$dir/wanted"
    [ "$(wc -l <"$dir/wanted")" -gt 400 ] && diff "$dir/wanted" "$dir/there"
}
# program WAY FLAG...: compiles an example with these flags and links it with the binding.
program() {
    local way=$1
    shift
    $MPIF77 "$@" -Iinclude -c -o "$dir/$way.o" "$here/examples/F77/first_file.f" &&
        linked "$way"
}
linked() {
    ./libtool --silent --tag=F77 --mode=link $MPIF77 -static -o "$dir/$1.program" \
        "$dir/$1.o" "$dir/$1"/*.o libpnetcdf.la
}
capitals() {
    $MPIF77 -fno-underscoring -Iinclude -c -o "$dir/small.o" \
        "$here/examples/F77/first_file.f" &&
        objcopy --redefine-syms=<(functions | awk '{print $1, toupper($1)}') \
            "$dir/small.o" "$dir/capitals.o" && linked capitals
}
runs() {
    launch 2 "$dir/$1.program" "$dir/$1.nc" && cmp "$dir/two.nc" "$dir/$1.nc"
}

upper() { tr a-z A-Z; }

check "two underscores: the binding compiles" binding two 'name ## __'
check "two underscores: every name is defined" named two sed 's/$/__/'
check "two underscores: a program links" program two -fsecond-underscore
check "two underscores: a program writes and reads" runs two
check "no underscore: the binding compiles" binding none name
check "no underscore: every name is defined" named none sed ''
check "no underscore: a program links" program none -fno-underscoring
check "no underscore: a program writes and reads" runs none
check "capitals: the binding compiles" binding capitals NAME
check "capitals: every name is defined" named capitals upper
check "capitals: a program links" capitals
check "capitals: a program writes and reads" runs capitals
finish
