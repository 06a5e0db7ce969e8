# Sourced by the tests of examples that exist in both C and Fortran 90, and in some cases also in
# Fortran 77.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
dir=$(mktemp -d) || exit 99
trap 'launch_kill; rm -rf "$dir"' EXIT

compile() {
    $MPIF90 -fcheck=all -Iinclude -I"${srcdir:-.}/include" -o "$dir/fortran" "$1" .libs/libpnetcdf.so \
        -Wl,-rpath,"$PWD/.libs"
}

# in_both NAME COMMAND: runs `COMMAND PROGRAM PROCESSES` for several process counts, where PROGRAM
# is first the C version of the example NAME, and then its Fortran version.
in_both() {
    local n source
    for n in 1 2 4; do
        check "the C program runs on $n processes" "$2" "examples/$1" $n
    done
    if [ -z "${MPIF90:-}" ] || [ ! -e .libs/libpnetcdf.so ] || [ ! -e include/pnetcdf.mod ]; then
        skip "in Fortran" "no Fortran, or no shared library"
        return
    fi
    for source in "${srcdir:-.}/examples/$1".f90 "${srcdir:-.}/examples/$1".f; do
        [ -e "$source" ] || continue
        check "the Fortran program (.${source##*.}) compiles" compile "$source"
        for n in 1 4; do
            check "the Fortran program (.${source##*.}) runs on $n processes" "$2" "$dir/fortran" $n
        done
    done
}
