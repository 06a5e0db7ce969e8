#!/bin/bash
# Random definitions and values of all types in CDL: ncmpigen and ncgen make the same of
# them, ncmpidump and ncdump show the same, text and copies come back as they were.
# CDL_SEED is the first seed, CDL_SEEDS how many there are.
. "${srcdir:-.}/test/utils/tool_lib.sh"
bin=$PWD
seed=${CDL_SEED:-1} seeds=${CDL_SEEDS:-8}
echo "# seeds from $seed on"
cd "$work" || exit 99

# A scalar of text, and rows that are broken at newlines: see dump_random.sh.
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
    # the types of CDF-1 and CDF-2
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
    check "seed $i: through text" through_text $i
    check "seed $i: through copies" through_copies $i
    if type ncdump ncgen >/dev/null 2>&1; then
        check "seed $i: shown as ncdump does" as_ncdump $i
        check "seed $i: made as ncgen does" as_ncgen $i
    fi
done
finish
