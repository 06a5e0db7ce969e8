#!/bin/bash
# Tests the messages about netCDF-4 files. The report must state how the file was opened, and that
# nothing was staged. If an object is not found, the message must state whether the file contains it
# but the library omitted it. A failed get must not make close fail too.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
dir=$(scratch nc4_words) || exit 99
trap 'launch_kill; rm -rf "$dir"' EXIT
if ! command -v ncgen >/dev/null ||
    test/nc4/nc4_twin /dev/null | grep -q "need netCDF-C\|without-netcdf4"; then
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

# words N FILE THING...: runs nc4_words on N processes, with a report.
words() {
    local n=$1 file=$2
    shift 2
    rm -f "$dir/report"
    PNETCDF_REPORT=$dir/report launch "$n" test/nc4/nc4_words "$dir/$file" "$@"
}

own='each process opens this netCDF-4 file independently, with '
staged='nothing is staged, because only HDF5 knows the offsets of values in a netCDF-4 file'
# reports LINE COUNT: succeeds if the report has this line COUNT times.
reports() { [ "$(grep -cF "$1" "$dir/report")" = "$2" ] || { cat "$dir/report"; false; }; }

opened() {
    words 3 a.nc4 && reports "$own" 1 && reports "$staged" 0 &&
        words 1 a.nc4 && reports "$own" 0 && words 3 a.nc && reports "$own" 0
}
check "the report says that each process opens the file independently" opened

serial=libnetcdf.so.19
if NCMPI_NETCDF4=$serial test/nc4/nc4_twin /dev/null | grep -q 'which was not found'; then
    skip "the report names a serial netCDF-C" "$serial is not here"
else
    by_serial() { NCMPI_NETCDF4=$serial words 3 a.nc4 && reports "$own$serial" 1; }
    check "the report names a serial netCDF-C" by_serial
fi

staging() {
    local PNETCDF_HINTS=nc_stage=enable
    export PNETCDF_HINTS
    words 3 a.nc4 && reports "$staged" 1 && words 1 a.nc4 && reports "$staged" 1 &&
        words 3 a.nc && reports "$staged" 0
}
check "the report says that nothing is staged" staging

# says KIND NAME LINE: succeeds if the error message for the object contains this line.
says() {
    local text
    text=$(words 3 a.nc4 "${@:1:2}") || return 1
    echo "$text"
    [[ $text == *"omitted from this netCDF-4 file: $3: "* ]]
}
while IFS='|' read -r kind name why; do
    check "the error for $kind $name gives the reason for its omission" says "$kind" "$name" "$kind $name ($why)"
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
    [ -n "$text" ] && [[ $text != *"omitted"* ]]
}
nothing_more() { says_nothing a.nc4 variable none && says_nothing a.nc variable s; }
check "the error for an object not in the file gives no reason" nothing_more

# HDF5 detects the changed value by its checksum.
ncgen -k nc4 -o "$dir/b.nc4" - <<'X' || exit 99
netcdf b { dimensions: x = 6; variables: char t(x); t:_Fletcher32 = "true"; t:_ChunkSizes = 6; data: t = "needle"; }
X
LC_ALL=C sed -i s/needle/noodle/ "$dir/b.nc4"
closes() {
    local text
    text=$(words 1 b.nc4 get t) && [[ $text == *"reading t, netCDF-C"* ]] && words 3 b.nc4 get t
}
check "after a failed get, a file opened for reading is closed without an error" closes
finish
