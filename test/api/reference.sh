#!/bin/bash
# Checks the reference that `make doc` generates from the header's comments. It must contain every
# function, and doxygen must not print any warnings.
here=${srcdir:-.}/test/api
. "${srcdir:-.}/test/support/tap.sh"
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

made() {
    { cat doc/Doxyfile; echo "OUTPUT_DIRECTORY = $scratch"; } | "${DOXYGEN:-doxygen}" -
}
# Every function must have a row in a table on some page.
complete() {
    awk -f "$here/functions.awk" "$here/functions.txt" | sed 's/(.*//; s/.* //' |
        LC_ALL=C sort >"$scratch/want"
    cat "$scratch"/html/group__*.html | grep 'memItemRight' |
        grep -oE '(ncmpi|cdl_hdr)_[a-z0-9_]+' | LC_ALL=C sort -u >"$scratch/got"
    diff "$scratch/want" "$scratch/got"
}

# doxygen may be installed after the library was configured.
found_later() {
    printf '#!/bin/sh\necho "$@"\n' >"$scratch/doxygen" && chmod +x "$scratch/doxygen" &&
        PATH=$scratch:$PATH make -s doc DOXYGEN= | grep -x doc/Doxyfile
}

check "make doc finds doxygen without configure" found_later
if ! command -v "${DOXYGEN:-doxygen}" >/dev/null; then
    skip "the reference is made without a warning" "no doxygen"
    skip "the reference has every function" "no doxygen"
else
    check "the reference is made without a warning" made
    check "the reference has every function" complete
fi
finish
