#!/bin/bash
# Where a netCDF-4 file is not as a classic one would be, the library says so: in the report, how the
# file was opened and that nothing was staged; in the text of an error, what was left out of the file.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
dir=$(scratch nc4_words) || exit 99
trap 'launch_kill; rm -rf "$dir"' EXIT
if ! command -v ncgen >/dev/null ||
    test/nc4/nc4_twin /dev/null | grep -q "needs netCDF-C\|without-netcdf4"; then
    echo "1..0 # SKIP no netCDF-C, or no ncgen"
    exit
fi
ncgen -k nc4 -o "$dir/a.nc4" - <<'X' || exit 99
netcdf a { types: compound pair { int a; int b; };
dimensions: x = 2; e = UNLIMITED; r = UNLIMITED;
variables: int i(x); int n(x, e); string s(x); pair p(x); string i:words = "a", "b"; pair :both = {1, 2};
data: i = 1, 2; }
X
ncgen -k cdf5 -o "$dir/a.nc" - <<<'netcdf a { dimensions: x = 2; variables: int i(x); data: i = 1, 2; }' || exit 99

# words N FILE THING...: on N processes, with a report.
words() {
    local n=$1 file=$2
    shift 2
    rm -f "$dir/report"
    PNETCDF_REPORT=$dir/report launch "$n" test/nc4/nc4_words "$dir/$file" "$@"
}

own='each process opens this netCDF-4 file for itself, with '
staged='nothing is staged: where values lie in a netCDF-4 file only HDF5 knows'
# reports LINE COUNT: has the report this line so many times?
reports() { [ "$(grep -cF "$1" "$dir/report")" = "$2" ] || { cat "$dir/report"; false; }; }

opened() {
    words 3 a.nc4 && reports "$own" 1 && reports "$staged" 0 &&
        words 1 a.nc4 && reports "$own" 0 && words 3 a.nc && reports "$own" 0
}
check "the report says that each process opens the file for itself" opened

serial=libnetcdf.so.19
if NCMPI_NETCDF4=$serial test/nc4/nc4_twin /dev/null | grep -q 'which was not found'; then
    skip "and with which netCDF-C, a serial one" "$serial is not here"
else
    by_serial() { NCMPI_NETCDF4=$serial words 3 a.nc4 && reports "$own$serial" 1; }
    check "and with which netCDF-C, a serial one" by_serial
fi

staging() {
    local PNETCDF_HINTS=nc_stage=enable
    export PNETCDF_HINTS
    words 3 a.nc4 && reports "$staged" 1 && words 1 a.nc4 && reports "$staged" 1 &&
        words 3 a.nc && reports "$staged" 0
}
check "and that nothing is staged, where that was wanted" staging

# says THING LINE: the error for it has this line of what was left out at its end.
says() {
    local text
    text=$(words 3 a.nc4 "${@:1:2}") || return 1
    echo "$text"
    [[ $text == *"it was left out of this netCDF-4 file: $3)" ]]
}
while IFS='|' read -r kind name why; do
    check "the error for $kind $name says why it is not there" says "$kind" "$name" "$kind $name ($why)"
done <<'X'
dimension|e|of length 0
variable|n|a dimension of length 0
variable|s|string
variable|p|user-defined type
attribute|i:words|string
attribute|:both|user-defined type
X
says_nothing() {
    local text
    text=$(words 3 "$@") || return 1
    echo "$text"
    [ -n "$text" ] && [[ $text != *"left out"* ]]
}
nothing_more() { says_nothing a.nc4 variable none && says_nothing a.nc variable s; }
check "the error for what never was there says no such thing" nothing_more
finish
