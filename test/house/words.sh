#!/bin/bash
# Words of our own where the field has one (doc/glossary.md), and names of functions that do
# not say what they add, find or keep, stay out.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
cd "$top" || exit 99

# What it looks through; generated files and other people's words are not among it.
texts() { find src include doc benchmarks examples ./*.md -type f \( -name '*.[chly]' -o -name '*.md' -o -name '*.m4' -o -name '*.in' -o -name '*.cpp' -o -name '*.def' -o -name '*.1' -o -name '*.3' \); }

# none PATTERN IN INSTEAD: no line of these files, named by a pattern, has it.
none() {
    local found
    found=$(texts | grep -E -- "$2" | xargs grep -nPi -- "$1" /dev/null |
        grep -v '^doc/behaviour.md:[0-9]*: *`test/') || return 0
    echo "$found"
    echo "say instead: $3"
    return 1
}
while IFS='@' read -r pattern where instead; do
    [ -n "$pattern" ] || continue
    check "no '$pattern' in ${where:-all}" none "$pattern" "$where" "$instead"
done <<'END'
\bwhoever\b@@who; the process that; any process
\bspeakers?\b@@exchanging process
\bspeaks? (for|with)\b@@exchanges messages with
\bletters?\b@src/lib/(mpio|burst|blob|driver|dataset|trace|access|node|file|twophase|journal)/@message
\bthe node way\b@@two-phase exchange
\b(is|are|was|were|be) told (by (?!suffixes)|once|at (the|once)|with its|in the same call)@@reported
\bmeets? (at|in) (a|one|the) (server|stripe)@@share
\bmeet\(@src/@overlap
END

# Bare verbs: of what? A table of operations may have them as its fields.
bare='add|take|find|settle|note|tell|put|enter|join|meet|keep|blame|collect'
bare_names() {
    local found
    found=$(grep -nE "^static ([a-z_]+ )*[a-z_]+ \**($bare)\(" $(find src -name '*.[chly]' | sort)) || return 0
    echo "$found"
    echo "say what it adds, finds or keeps"
    return 1
}
check "no function is a verb alone" bare_names

# Each word of the glossary is one that the sources or documents use.
used() {
    local word
    grep -oE '^\*\*[^*]*\*\*' doc/glossary.md | tr -d '*' | sed 's/, /\n/g' | while read -r word; do
        texts | grep -v glossary | xargs grep -qi -- "${word%s}" || { echo "$word"; exit 1; }
    done
}
check "the glossary has no word that nobody uses" used
ordered() {
    awk '/^## / { last = "" } /^\*\*/ { word = tolower($0); gsub(/\*\*.*|^\*\*/, "", word); sub(/^\*\*/, "", word)
        split(tolower($0), part, "\\*\\*"); word = part[2]; if (word < last) { print last " > " word; exit 1 } last = word }' doc/glossary.md
}
check "the glossary is in order" ordered
finish
