#!/bin/bash
# Checks the numbers in doc/testing.md, and checks that the patches that plant defects still apply.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
doc=$top/doc/testing.md

# count ROW: prints the current number for this row of the table.
count() { # ROW
    case $1 in
    'test programs and scripts') grep -vcE '^(#|$)' "$top/test/tests.list" ;;
    'assertions in C') find "$top/test" -name '*.[ch]' -exec cat {} + | grep -oE '\bCHECK(_[A-Z]+)?\(' | wc -l ;;
    'fuzzers') find "$top/test/fuzz" -name '*_fuzz.c' | wc -l ;;
    'files that fuzzing has kept') find "$top"/test/fuzz/*corpus -type f | wc -l ;;
    'planted defects') find "$top/test/simulate/planted" -name '*.diff' | wc -l ;;
    'seeds that found something') grep -c '^[0-9]' "$top/test/simulate/corpus" ;;
    *) echo "nobody counts '$1'" ;;
    esac
}

# Checks the rows "| what | number | by |". The number of assertions, which changes daily, is
# rounded down to hundreds.
counts_are_true() {
    local what said is bad=0 rows=0
    while IFS='|' read -r _ what said _; do
        what=$(xargs <<<"$what") said=$(tr -d ' ,' <<<"$said")
        is=$(count "$what")
        [ "$what" = 'assertions in C' ] && is=$((is / 100 * 100))
        rows=$((rows + 1))
        [ "$said" = "$is" ] || { echo "$what: $said, and there are $is"; bad=1; }
    done < <(grep -E '^\| [^|]+ \| [0-9,]+ \|' "$doc")
    [ $rows -ge 6 ] && [ $bad = 0 ]
}

# A change to a source file may prevent the patch of a planted defect from applying. Whether the
# tests detect the defects is checked by dev/simulate --planted, which takes too long for every test
# run.
defects_can_be_planted() {
    local diff source bad=0
    while read -r diff; do
        source=$(sed -n 's|^+++ b/||p' "$diff")
        patch -s -o /dev/null "$top/$source" "$diff" >/dev/null && continue
        echo "$diff does not fit $source any more"
        bad=1
    done < <(find "$top/test/simulate/planted" -name '*.diff')
    [ $bad = 0 ]
}

check "the counts in doc/testing.md are correct" counts_are_true
if command -v patch >/dev/null; then
    check "every planted defect fits its source" defects_can_be_planted
else
    skip "every planted defect fits its source" "no patch"
fi
finish
