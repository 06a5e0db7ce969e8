#!/bin/bash
# Tests the tools on real files. ncmpidump must print what ncdump prints; ncmpigen and ncgen must
# restore the file from that text; a copy to any format and back must be identical to the original;
# and all files must be valid. REALDATA=all (make check-tools-realdata) adds large files and NCAR's
# files.
. "${srcdir:-.}/test/utils/tool_lib.sh"
bin=$PWD
need ncdump ncgen
size=600k folders=(/usr/share/ferret-vis/data)
if [ "${REALDATA-}" = all ]; then size=9999999k folders+=(/usr/share/ncarg); fi
mapfile -t files < <(find ${REALDATA_DIR:-"${folders[@]}"} -type f -size -$size \
    \( -name '*.nc' -o -name '*.cdf' \) 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || { echo "1..0 # SKIP no real data (Debian: ferret-datasets)"; exit 0; }
cd "$work" || exit 99

# Removes the intended differences from ncdump's output (see dump_random.sh). Scalars are recognised
# by name.
scalars() {
    "$bin/ncmpidump" -h "$1" | sed -nE 's/^\t[a-z0-9]+ ([A-Za-z0-9_]+) ;$/\1/p' | paste -sd '|'
}
mend() {
    sed -E "s,(// ($(scalars "$1")))\([0-9]+\)\$,\1," | sed -z 's/\\n",\n    "/\\n/g'
}
dumps_alike() {
    local options
    for options in '' '-c' '-b c -f f' '-p 9,17'; do
        cmp <("$bin/ncmpidump" $options "$1") <(ncdump $options "$1" | mend "$1") || return
    done
}
# Restores the file from the text, in which NULs at the ends of text attributes are lost. If ncgen
# rejects the text, it must also reject ncdump's text, as it does if a floating-point variable has
# an integer value above 2^32.
by_ncgen() {
    rm -f n.nc
    ncgen -k "$2" -o n.nc g.cdl && status 0 "$bin/cdfdiff" n.nc g.nc && return
    ncdump -p 9,17 "$1" >n.cdl && ! ncgen -k "$2" -o n.nc n.cdl && echo "nor does ncgen read what ncdump wrote"
}
through_text() {
    "$bin/ncmpidump" -p 9,17 -n g "$1" >g.cdl && status 0 "$bin/ncmpigen" -k "$2" -o g.nc g.cdl &&
        "$bin/ncmpidump" -p 9,17 -n g g.nc | cmp - g.cdl && by_ncgen "$1" "$2"
}
through_copies() {
    local format
    for format in 1 2 5; do
        rm -f c.nc d.nc
        status 0 "$bin/ncmpicopy" -k $format "$1" c.nc && status 0 "$bin/ncmpicopy" -k 1 c.nc d.nc &&
            status 0 "$bin/cdfdiff" "$1" d.nc && status 0 "$bin/ncvalidator" --no-notes c.nc || return
    done
    status 0 "$bin/ncmpidiff" "$1" d.nc
}
for file in "${files[@]}"; do
    kind=$("$bin/ncmpidump" -k "$file" 2>/dev/null) || continue
    name=$(basename "$file")
    check "$name: is valid" status 0 "$bin/ncvalidator" --no-notes "$file"
    check "$name: ncmpidump and ncdump agree" dumps_alike "$file"
    check "$name: survives a round trip through CDL" through_text "$file" "$kind"
    check "$name: survives copies" through_copies "$file"
done
finish
