#!/bin/bash
# Checks that the shared library exports every public function under its own symbol, so that
# profilers can wrap it.
here=${srcdir:-.}/test/api
. "${srcdir:-.}/test/support/tap.sh"
export LC_ALL=C
library=.libs/libpnetcdf.so

functions() {
    awk -f "$here/functions.awk" "$here/functions.txt" | sed 's/(.*//; s/.* //' | sort
}
exported() { nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | sort; }
missing() { comm -23 <(functions | grep "^$1") <(exported); }
none_missing() { missing "$1"; [ "$(functions | grep -c "^$1")" = "$2" ] && [ -z "$(missing "$1")" ]; }

if [ -e "$library" ]; then
    check "every ncmpi_ function is exported" none_missing ncmpi_ 915
    check "every cdl_hdr_ function is exported" none_missing cdl_hdr_ 9
else
    skip "every ncmpi_ function is exported" "no shared library is built"
    skip "every cdl_hdr_ function is exported" "no shared library is built"
fi
finish
