#!/bin/bash
# What ncmpijoin makes of a dataset in subfiles is what the same program writes without:
# the examples; real datasets, put by parts and read by another number of processes; the
# benchmarks' models, of which threads make one file behind the close, too.
# BLOB_JOIN=all takes the large ones, too, and NCAR's, and all of the models (make
# check-blob-join), by the decompositions in the folder BLOB_JOIN_MAPS, if there is one.
# blob_packed.sh does the same by codecs, and with examples in other languages.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
examples=${srcdir:-.}/examples
dir=$(mktemp -d) && built=$(mktemp -d) || exit 99
trap 'launch_kill; rm -rf "$dir" "$dir.report" "$built"' EXIT
libraries=("$PWD"/.libs/libpnetcdf{_cxx,}.so)
[ -e "${libraries[0]}" ] || libraries=("${libraries[1]}")
size=700k folders=(/usr/share/ferret-vis/data) counts='3'
models='block-3d columns flash-iput e3sm-g-iput' model=(benchmarks/bench -b 0.1 -n 2)
if [ "${BLOB_JOIN-}" = all ]; then
    size=9999999k folders+=(/usr/share/ncarg) counts='2 3 4'
    models+=' history-iput wrf-iput unstructured-10k e3sm-f-h0-iput e3sm-f-h1-iput'
    model=(benchmarks/bench -b 2 ${BLOB_JOIN_MAPS:+-m "$BLOB_JOIN_MAPS"})
fi
mapfile -t files < <(find "${folders[@]}" -type f -size -$size \
    \( -name '*.nc' -o -name '*.cdf' \) 2>/dev/null | sort)

# in_blobs HINTS N COMMAND...: with what is told of frames in a report.
in_blobs() {
    PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2;nc_compress=$codec;nc_report=$dir.report;$1" \
        launch "${@:2}"
}
# joined: one file, checked; a is what it must be.
joined() {
    ./ncmpijoin -c "$dir/b.nc" "$dir/o.nc" && cmp "$dir/a.nc" "$dir/o.nc"
}
# compiled LANGUAGE NAME SOURCE: make does not build the examples in Fortran 90 and C++.
compiled() {
    local compiler=$MPIF90
    program=examples/$2
    case $1 in
    cxx) compiler=$MPICXX ;;
    F90) ;;
    *) return ;;
    esac
    program=$built/${2##*/}.$1
    [ -x "$program" ] || $compiler -Iinclude -o "$program" "$3" "${libraries[@]}" -Wl,-rpath,"$PWD/.libs"
}
# example NAME PROCESSES: $program, by that name.
example() {
    rm -f "$dir"/*
    launch "$2" "$program" "$dir/a.nc" >"$dir/said" || { cat "$dir/said"; return 1; }
    in_blobs '' "$2" "$program" "$dir/b.nc" >"$dir/said" && [ -e "$dir/b.nc.0000" ] && joined
}
dataset() {
    rm -f "$dir"/*
    launch "$2" test/blob/blob_copy "$1" "$dir/a.nc" &&
        in_blobs '' "$2" test/blob/blob_copy "$1" "$dir/b.nc" && joined &&
        launch $((5 - $2)) test/blob/blob_copy "$dir/b.nc" "$dir/c.nc" && cmp "$dir/a.nc" "$dir/c.nc"
}
model() {
    rm -f "$dir"/*
    launch "$2" "${model[@]}" -o "$dir/a.nc" "$1" &&
        in_blobs '' "$2" "${model[@]}" -o "$dir/b.nc" "$1" && [ -s "$dir/b.nc.0000" ] && joined &&
        in_blobs nc_blob_join=behind "$2" "${model[@]}" -o "$dir/c.nc" "$1" &&
        cmp "$dir/a.nc" "$dir/c.nc"
}
# Something was compressed each time, but for the values of some examples and datasets; without
# a codec nothing.
frames_made() {
    local made
    made=$(grep -c 'bytes of frames written' "$dir.report")
    if [ "$codec" = none ]; then [ "$made" = 0 ]; else [ "$made" -ge "$1" ]; fi || { echo "$made"; return 1; }
}

for codec in ${codecs-none}; do
    : >"$dir.report"
    for n in $counts; do
        for language in ${languages-C}; do
            for source in "$examples/$language"/*.{c,f,f90,cpp}; do
                [ -e "$source" ] || continue
                name=$language/${source##*/} name=${name%.*}
                compiled "$language" "$name" "$source"
                check "$name, $n processes, $codec" example "$name" "$n"
            done
        done
        for file in "${files[@]}"; do
            ./ncmpidump -k "$file" >/dev/null 2>&1 || continue
            check "${file##*/}, $n processes, $codec" dataset "$file" "$n"
        done
        for name in $models; do
            check "$name, $n processes, $codec" model "$name" "$n"
        done
    done
    check "$codec: frames are made" frames_made 10
done
finish
