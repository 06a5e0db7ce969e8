# Sourced by tests of examples that there are in C and in Fortran 90, some in Fortran 77, too.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
dir=$(mktemp -d) || exit 99
trap 'launch_kill; rm -rf "$dir"' EXIT

compile() {
    $MPIF90 -fcheck=all -Iinclude -I"${srcdir:-.}/include" -o "$dir/fortran" "$1" .libs/libpnetcdf.so \
        -Wl,-rpath,"$PWD/.libs"
}

# in_both NAME COMMAND: COMMAND PROGRAM PROCESSES holds for the program examples/NAME in C, and
# in Fortran.
in_both() {
    local n source
    for n in 1 2 4; do
        check "in C, $n processes" "$2" "examples/$1" $n
    done
    if [ -z "${MPIF90:-}" ] || [ ! -e .libs/libpnetcdf.so ] || [ ! -e include/pnetcdf.mod ]; then
        skip "in Fortran" "no Fortran, or no shared library"
        return
    fi
    for source in "${srcdir:-.}/examples/$1".f90 "${srcdir:-.}/examples/$1".f; do
        [ -e "$source" ] || continue
        check "in Fortran (.${source##*.}): compiled" compile "$source"
        for n in 1 4; do
            check "in Fortran (.${source##*.}), $n processes" "$2" "$dir/fortran" $n
        done
    done
}
