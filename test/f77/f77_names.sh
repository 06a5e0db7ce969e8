#!/bin/bash
# Fortran compilers spell names differently. In each way but that of this build's compiler,
# the binding has all its functions under those names, and a program in Fortran finds them:
# by flags of gfortran's, or, in capitals, with its calls renamed.
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

# binding WAY MACRO: the functions, compiled with names as MACRO makes them.
binding() {
    mkdir -p "$dir/$1" &&
        sed "s/^#define F77_NAME(name,NAME) .*/#define F77_NAME(name,NAME) $2/" config.h \
            >"$dir/$1/config.h" &&
        (top=$PWD && source=$(cd "$here" && pwd) && cd "$dir/$1" &&
            $MPICC -O0 -w -I. -I"$top/include" -I"$source/include" -I"$source/src/lib/base" \
                -I"$source/src/binding/f77" -c "$source"/src/binding/f77/*.c \
                "$top"/src/binding/f77/*.c)
}
# Four of them stand behind published ones: see f77_symbols.sh.
functions() {
    { cat "$here/test/f77/f77_names.txt" && printf '%s\n' xinq_libvers xstrerror xstrerrno inq_version; } |
        sed 's/^/nfmpi_/' | sort
}
# named WAY SPELLED...: each function stands under the name that a command makes of it.
named() {
    local way=$1
    shift
    nm -g --defined-only "$dir/$way"/*.o | awk '/ T nfmpi_| T NFMPI_/ {print $NF}' |
        sort >"$dir/there"
    functions | "$@" | sort >"$dir/wanted"
    [ "$(wc -l <"$dir/wanted")" -gt 400 ] && diff "$dir/wanted" "$dir/there"
}
# program WAY FLAG...: an example, compiled so and linked to the binding.
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

check "two underscores: the binding" binding two 'name ## __'
check "two underscores: every name" named two sed 's/$/__/'
check "two underscores: a program is linked" program two -fsecond-underscore
check "two underscores: it writes and reads" runs two
check "no underscore: the binding" binding none name
check "no underscore: every name" named none sed ''
check "no underscore: a program is linked" program none -fno-underscoring
check "no underscore: it writes and reads" runs none
check "capitals: the binding" binding capitals NAME
check "capitals: every name" named capitals upper
check "capitals: a program is linked" capitals
check "capitals: it writes and reads" runs capitals
finish
