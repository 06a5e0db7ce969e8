#!/bin/bash
# Tests that ncmpijoin turns a dataset in subfiles into the same file that the program writes
# without subfiles. The datasets are those of the examples; real datasets, which are read back by a
# different number of processes; and those written by the benchmark models, which are also joined by
# background threads after the close. BLOB_JOIN=all (make check-blob-join) adds large datasets,
# NCAR's datasets and all models, and uses the decompositions in the directory BLOB_JOIN_MAPS, if
# set. blob_packed.sh runs the same tests with codecs, and with examples in other languages.
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

# in_blobs HINTS N COMMAND...: runs the command on N processes with subfiles and these hints, and
# writes the reports to $dir.report.
in_blobs() {
    PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2;nc_compress=$codec;nc_report=$dir.report;$1" \
        launch "${@:2}"
}
# joined: joins the dataset, checks the file, and compares it with a.nc.
joined() {
    ./ncmpijoin -c "$dir/b.nc" "$dir/o.nc" && cmp "$dir/a.nc" "$dir/o.nc"
}
# compiled LANGUAGE NAME SOURCE: sets $program, and compiles it if make does not build the example
# (Fortran 90, C++).
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
# example NAME PROCESSES: tests the example, whose executable is $program.
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
# frames_made N: checks that at least N of the datasets were compressed, or none if there is no
# codec.
frames_made() {
    local made
    made=$(grep -c 'bytes of compressed frames written' "$dir.report")
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
    check "$codec: frames are written" frames_made 10
done
finish
