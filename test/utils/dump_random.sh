#!/bin/bash
# Compares the output of ncmpidump with that of ncdump, byte for byte, for random files in each
# format and with options that both tools have. DUMP_SEED is the first seed, and DUMP_SEEDS the
# number of seeds.
. "${srcdir:-.}/test/utils/dump_lib.sh"
need ncdump
seed=${DUMP_SEED:-1} seeds=${DUMP_SEEDS:-4}
echo "# seeds from $seed on"

# Removes two intended differences from ncdump's output: with full comments, ncdump prints an
# uninitialised index for a scalar, and it breaks rows of text at newlines.
mend() {
    sed -E 's,(// (\\9)?scalar.*)\([0-9]+\)$,\1,' | sed -z 's/\\n",\n    "/\\n/g'
}

# same FORMAT OPTION...: compares the outputs of both tools for every seed.
same() {
    local format=$1 i
    shift
    for ((i = seed; i < seed + seeds; i++)); do
        echo "seed $i"
        "$random" "$format" "$i" "$work/r.nc" || return
        "$dump" "$@" "$work/r.nc" >"$work/ours" || return
        ncdump "$@" "$work/r.nc" | mend >"$work/theirs"
        diff -a "$work/theirs" "$work/ours" || return
    done
}

for format in 1 2 5; do
    for options in '' -h -c '-b c' '-b f' '-f c' '-f f' '-b c -f f' '-p 9,17' '-p 3' \
        '-l 10' '-l 53' '-n a.b -l 1000'; do
        check "random files of CDF-$format are printed correctly, options '$options'" same $format $options
    done
done
finish
