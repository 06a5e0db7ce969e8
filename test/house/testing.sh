#!/bin/bash
# doc/testing.md says how many there are of what is tested with.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
doc=$top/doc/testing.md

# What a row of its table is counted by.
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

# "| what | number | by |". Assertions change every day: the number is of hundreds.
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

# A source that changed may leave the place of a defect nowhere; dev/simulate --planted takes too long
# to be run each time.
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

check "the counts of doc/testing.md are true" counts_are_true
if command -v patch >/dev/null; then
    check "defects can be planted" defects_can_be_planted
else
    skip "defects can be planted" "no patch"
fi
finish
