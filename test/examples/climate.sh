#!/bin/bash
# Tests examples/climate on a small file whose climatology is known. The file has packed and missing
# values, and a dimension between time and latitude. The test is repeated for each format, and the
# result is checked with ncdump and other programs, if available.
support=${srcdir:-.}/test/support
. "$support/tap.sh"
. "$support/launch.sh"
for tool in ncgen ncdump; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP no $tool"; exit; }
done
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

cat >"$dir/in.cdl" <<'END'
netcdf in {
dimensions: time = UNLIMITED; z = 2; lat = 3; lon = 2;
variables:
    double lat(lat);
        lat:units = "degrees_north";
    short t(time, z, lat, lon);
        t:_FillValue = -1s; t:scale_factor = 0.5; t:add_offset = 10.; t:units = "K";
data:
    lat = -30, 0, 30;
    t = 0, 2, 4, 6, 8, -1,   9, 9, 9, 9, 9, 9,
        4, 2, 8, 6, -1, -1,  9, 9, 9, 9, 9, 9;
}
END

# climate N FORMAT [VARIABLE]: computes the climatology of the file in FORMAT on N processes.
climate() {
    ncgen -k "$2" -o "$dir/in.nc" "$dir/in.cdl" &&
        launch "$1" examples/climate/climate "$dir/in.nc" "${3:-t}" "$dir/out$1.nc"
}
holds() {
    ncdump -v "$2" "$dir/out$1.nc" | sed '1,/^data:/d' | tr -d ' \n}' | grep -Fx "$3;"
}
has_header() {
    ncdump -h "$dir/out$1.nc" | grep -F "$2"
}
# drawn STEP VALUES: checks that plotfield makes gnuplot draw these values for a step.
drawn() {
    local f_begin f_stride begin
    launch 1 examples/climate/plotfield f "$dir/out4.nc" t_anomaly >"$dir/fields" || return
    eval "$(sed -n 's/^\(f_begin\|f_stride\) = /\1=/p' "$dir/fields")"
    begin=$((f_begin + $1 * f_stride))
    od -A n -j $begin -N 20 -t f4 --endian=big "$dir/out4.nc" | xargs | grep -Fx -e "$2"
}
complains() {
    local said
    said=$(climate 2 cdf5 "$1" 2>&1) && return 1
    echo "$said"
    [ "$(grep -c "^climate: .*$2" <<<"$said")" = 1 ]
}

for case in 1:classic 2:nc6 4:cdf5; do
    n=${case%:*} format=${case#*:}
    check "$n processes compute the climatology from $format" climate $n $format
    check "$n processes compute the mean" holds $n t_mean 't_mean=11,11,13,13,14,_'
    check "$n processes compute anomalies" holds $n t_anomaly 't_anomaly=-1,0,-1,0,0,_,1,0,1,0,_,_'
    check "$n processes count steps" holds $n t_counted 't_counted=2,2,2,2,1,0'
    check "$n processes copy coordinates" holds $n lat 'lat=-30,0,30'
done
check "the result is CDF-5" grep -qc $'^CDF\005' "$dir/out4.nc"
check "attributes are copied" has_header 4 't_mean:units = "K"'
# reads NAME PROGRAM COMMAND...: checks the result with an independent program, if it is installed.
reads() {
    local name=$1 program=$2
    shift 2
    if command -v "$program" >/dev/null; then
        check "$name reads it" "$@"
    else
        skip "$name reads it" "no $program"
    fi
}
with_python='
import netCDF4, sys
found = netCDF4.Dataset(sys.argv[1])["t_mean"][:]
print(found)
sys.exit(found.tolist() != [[11, 11], [13, 13], [14, None]])'
sees() {
    local want=$1
    shift
    "$@" "$dir/out4.nc" | tr -s ' \n' ' ' | tee /dev/stderr | grep -qF -- "$want"
}
reads NCO ncks sees '11, 11, 13, 13, 14, _' ncks -H -C -v t_mean
reads CDO cdo sees '2 2 2 2 1 0' cdo -s output -selname,t_counted
if /usr/bin/python3 -c 'import netCDF4' 2>/dev/null; then
    check "Python reads the result" /usr/bin/python3 -c "$with_python" "$dir/out4.nc"
else
    skip "Python reads the result" "no netCDF4 for it"
fi
check "the picture shows the first step" drawn 0 '-1 0 -1 0 0'
check "the picture shows the second step" drawn 1 '1 0 1 0 9.96921e+36'
check "a missing variable is reported once" complains salt 'salt: .*'
check "a variable with too few dimensions is reported once" complains lat 'lat: .*'
finish
