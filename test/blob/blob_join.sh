#!/bin/bash
# What ncmpijoin makes of a dataset in subfiles is what the same program writes without:
# the examples; real datasets, put by parts and read by another number of processes; the
# benchmarks' models, of which threads make one file behind the close, too.
# BLOB_JOIN=all takes the large ones, too, and NCAR's, and all of the models (make
# check-blob-join), by the decompositions in the folder BLOB_JOIN_MAPS, if there is one.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
examples=${srcdir:-.}/examples/C
dir=$(mktemp -d) || exit 99
trap 'launch_kill; rm -rf "$dir"' EXIT
size=700k folders=(/usr/share/ferret-vis/data) counts='3'
models='block-3d columns flash-iput e3sm-g-iput' model=(benchmarks/bench -b 0.1 -n 2)
if [ "${BLOB_JOIN-}" = all ]; then
    size=9999999k folders+=(/usr/share/ncarg) counts='2 3 4'
    models+=' history-iput wrf-iput unstructured-10k e3sm-f-h0-iput e3sm-f-h1-iput'
    model=(benchmarks/bench -b 2 ${BLOB_JOIN_MAPS:+-m "$BLOB_JOIN_MAPS"})
fi
mapfile -t files < <(find "${folders[@]}" -type f -size -$size \
    \( -name '*.nc' -o -name '*.cdf' \) 2>/dev/null | sort)
blobs='nc_blob=enable;nc_num_subfiles=2'

# joined N: one file, checked; a is what it must be.
joined() {
    ./ncmpijoin -c "$dir/b.nc" "$dir/o.nc" && cmp "$dir/a.nc" "$dir/o.nc"
}
example() {
    rm -f "$dir"/*
    launch "$2" "examples/C/$1" "$dir/a.nc" >"$dir/said" || { cat "$dir/said"; return 1; }
    PNETCDF_HINTS=$blobs launch "$2" "examples/C/$1" "$dir/b.nc" >"$dir/said" &&
        [ -e "$dir/b.nc.0000" ] && joined
}
dataset() {
    rm -f "$dir"/*
    launch "$2" test/blob/blob_copy "$1" "$dir/a.nc" &&
        PNETCDF_HINTS=$blobs launch "$2" test/blob/blob_copy "$1" "$dir/b.nc" && joined &&
        launch $((5 - $2)) test/blob/blob_copy "$dir/b.nc" "$dir/c.nc" && cmp "$dir/a.nc" "$dir/c.nc"
}
model() {
    rm -f "$dir"/*
    launch "$2" "${model[@]}" -o "$dir/a.nc" "$1" &&
        PNETCDF_HINTS=$blobs launch "$2" "${model[@]}" -o "$dir/b.nc" "$1" &&
        [ -s "$dir/b.nc.0000" ] && joined &&
        PNETCDF_HINTS="$blobs;nc_blob_join=behind" launch "$2" "${model[@]}" -o "$dir/c.nc" "$1" &&
        cmp "$dir/a.nc" "$dir/c.nc"
}
for n in $counts; do
    for source in "$examples"/*.c; do
        name=${source##*/} name=${name%.c}
        check "$name, $n processes" example "$name" "$n"
    done
    for file in "${files[@]}"; do
        ./ncmpidump -k "$file" >/dev/null 2>&1 || continue
        check "${file##*/}, $n processes" dataset "$file" "$n"
    done
    for name in $models; do
        check "$name, $n processes" model "$name" "$n"
    done
done
finish
