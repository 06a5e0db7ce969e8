#!/bin/bash
# Checks that every program in examples/C has a counterpart in examples/F90 that writes the same
# file, byte for byte, with any number of processes. The program that was ported by following
# doc/porting.md must write the same file as the serial program, and each of these two programs must
# be able to continue a file written by the other one.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
examples=${srcdir:-.}/examples
top=$PWD
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

compile() {
    local source=$1 name
    name=${source##*/}
    $MPIF90 -fcheck=all -I"$top/include" -o "$dir/${name%.f90}" "$source" \
        "$top/.libs/libpnetcdf.so" -Wl,-rpath,"$top/.libs"
}
same_dump() {
    ncdump "$dir/$1.nc" | sed 's/ *$//' | diff "$examples/C/$1.cdl" -
}

same_as_in_c() {
    launch 1 "examples/C/$1" "$dir/$1.c.nc" && cmp "$dir/$1.c.nc" "$dir/$1.nc"
}
each_has_a_twin() {
    local source name
    for source in "$examples"/C/*.c; do
        name=${source##*/} name=${name%.c}
        [ -e "$examples/F90/$name.f90" ] || { echo "$name.f90"; return 1; }
    done
}

# Runs serial and parallel programs alternately, and compares the files that they wrote.
serially() { "$dir/heat_serial" "$dir/$1.nc" "$2"; }
parallel() { launch "$3" "$dir/heat_parallel" "$dir/$1.nc" "$2"; }
same_heat() {
    ncdump "$dir/serial.nc" | sed 1d >"$dir/serial.cdl"
    ncdump "$dir/$1.nc" | sed 1d | diff "$dir/serial.cdl" -
}
ported() {
    serially serial 40 && serially serial 20 &&
        for n in 1 2 3 4; do
            parallel "p$n" 40 "$n" && parallel "p$n" 20 "$n" && same_heat "p$n" || return 1
        done
}
mixed() {
    parallel mixed 20 3 && serially mixed 20 && parallel mixed 20 2 && same_heat mixed
}
same_bytes() {
    PNETCDF_HINTS='nc_var_align_size=4' parallel bytes 60 2 && serially whole 60 &&
        cmp "$dir/bytes.nc" "$dir/whole.nc"
}

if [ ! -e .libs/libpnetcdf.so ]; then
    skip "the examples" "no shared library is built"
    finish
fi
check "every C program has a counterpart in Fortran 90" each_has_a_twin
for source in "$examples"/F90/*.f90; do
    name=${source##*/} name=${name%.f90}
    check "$name compiles" compile "$source"
    for n in 1 4; do
        rm -f "$dir/$name.nc"
        check "$name runs on $n processes" launch $n "$dir/$name" "$dir/$name.nc"
        if command -v ncdump >/dev/null; then
            check "$name on $n processes writes the expected file" same_dump "$name"
        else
            skip "$name on $n processes writes the expected file" "no ncdump"
        fi
    done
    check "$name writes the bytes of the C program" same_as_in_c "$name"
done
check "the ported program compiles" compile "$examples/porting/heat_parallel.f90"
if [ "$HAVE_NETCDFF" = yes ] && command -v ncdump >/dev/null; then
    check "the serial program compiles" $MPIF90 -I"$NETCDFF_DIR" -o "$dir/heat_serial" \
        "$examples/porting/heat_serial.f90" -lnetcdff -lnetcdf
    check "the ported program writes the serial program's file" ported
    check "each program continues the other's file" mixed
    check "without space after the header, the bytes are equal" same_bytes
else
    skip "the ported program writes the serial program's file" "no netCDF-Fortran, or no ncdump"
fi
finish
