#!/bin/bash
# Tests the tools on random CDL text with definitions and values of all types. ncmpigen and ncgen
# must create equal files, and ncmpidump and ncdump must print the same text. Converting a text to a
# file and back, or copying a file to another format and back, must not change it. CDL_SEED is the
# first seed, and CDL_SEEDS the number of seeds.
. "${srcdir:-.}/test/utils/tool_lib.sh"
bin=$PWD
seed=${CDL_SEED:-1} seeds=${CDL_SEEDS:-8}
echo "# seeds from $seed on"
cd "$work" || exit 99

# Removes the intended differences from ncdump's output: see dump_random.sh.
mend() {
    sed -E 's,(// (\\9)?scalar.*)\([0-9]+\)$,\1,' | sed -z 's/\\n",\n    "/\\n/g'
}
make_text() {
    awk -v seed="$1" -v ncgen="$2" -f "$here/test/utils/random_cdl.awk" >"$3"
}
through_text() {
    rm -f r.nc && make_text "$1" 0 r.cdl && status 0 "$bin/ncmpigen" -k 5 -o r.nc r.cdl &&
        status 0 "$bin/ncvalidator" --no-notes r.nc && "$bin/ncmpidump" -p 9,17 -n r r.nc >a.cdl &&
        status 0 "$bin/ncmpigen" -k 5 -o a.nc a.cdl && "$bin/ncmpidump" -p 9,17 -n r a.nc | diff -a a.cdl - &&
        status 0 "$bin/cdfdiff" r.nc a.nc
}
through_copies() {
    local format smallest=5
    # CDF-1 and CDF-2 lack the types of CDF-5
    "$bin/ncmpidump" -h r.nc | grep -qaiE '^	(ubyte|u?short|u?int|u?int64) |[0-9](ub|us|u|ll|ull)\b' || smallest=1
    for format in 1 2 5; do
        [ $format -ge $smallest ] || continue
        rm -f c.nc d.nc
        status 0 "$bin/ncmpicopy" -k $format r.nc c.nc && status 0 "$bin/ncmpicopy" -k 5 c.nc d.nc &&
            status 0 "$bin/ncmpidiff" r.nc d.nc && status 0 "$bin/ncvalidator" --no-notes c.nc || return
    done
}
as_ncdump() {
    ncdump r.nc | mend | diff -a - <("$bin/ncmpidump" r.nc)
}
as_ncgen() {
    make_text "$1" 1 n.cdl && status 0 "$bin/ncmpigen" -k 5 -o g.nc n.cdl && status 0 ncgen -k cdf5 -o n.nc n.cdl &&
        status 0 "$bin/cdfdiff" n.nc g.nc
}
for ((i = seed; i < seed + seeds; i++)); do
    check "seed $i: survives a round trip through CDL" through_text $i
    check "seed $i: survives copies" through_copies $i
    if type ncdump ncgen >/dev/null 2>&1; then
        check "seed $i: ncmpidump and ncdump agree" as_ncdump $i
        check "seed $i: ncmpigen and ncgen agree" as_ncgen $i
    fi
done
finish
