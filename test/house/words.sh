#!/bin/bash
# Checks the language of sources and documents. Rejects synonyms of the terms in doc/glossary.md,
# function names that consist of a bare verb, and marker words of translated English in comments,
# messages and documents.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
cd "$top" || exit 99

# Lists the files to check: all except generated files and texts by other authors.
texts() { find src include doc benchmarks examples ./*.md -type f \( -name '*.[chly]' -o -name '*.md' -o -name '*.m4' -o -name '*.in' -o -name '*.cpp' -o -name '*.def' -o -name '*.1' -o -name '*.3' \); }

# none PATTERN IN INSTEAD: succeeds if no line matches PATTERN in the files whose paths match IN.
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

# A bare verb does not name its object. Members of operation tables may be bare verbs.
bare='add|take|find|settle|note|tell|put|enter|join|meet|keep|blame|collect'
bare_names() {
    local found
    found=$(grep -nE "^static ([a-z_]+ )*[a-z_]+ \**($bare)\(" $(find src -name '*.[chly]' | sort)) || return 0
    echo "$found"
    echo "say what it adds, finds or keeps"
    return 1
}
check "no function's name consists of a verb only" bare_names

# Every term in the glossary must be used in the sources or documents.
used() {
    local word
    grep -oE '^\*\*[^*]*\*\*' doc/glossary.md | tr -d '*' | sed 's/, /\n/g' | while read -r word; do
        texts | grep -v glossary | xargs grep -qi -- "${word%s}" || { echo "$word"; exit 1; }
    done
}
check "every word of the glossary is used" used
ordered() {
    awk '/^## / { last = "" } /^\*\*/ { word = tolower($0); gsub(/\*\*.*|^\*\*/, "", word); sub(/^\*\*/, "", word)
        split(tolower($0), part, "\\*\\*"); word = part[2]; if (word < last) { print last " > " word; exit 1 } last = word }' doc/glossary.md
}
check "the glossary is sorted" ordered

# ---- markers ----
# Words that a native speaker would not use here, and words that must not begin a comment. None are
# allowed, except that words.budget tolerates a given number in some directories. Such a number may
# only decrease: a change that rewrites comments must lower it or remove the line.
markers='^[^ ]+:[0-9]+: .*\b(told|tells?|so many|any more|is no more|the own|goes on|mended|likewise|thereby|whereof|behind (it|that|the|a|this|them)|lies? (in|at|behind|there)|stands? (in|at|there))\b'
begins='^[^ ]+:[0-9]+: (Who|Of|What|So|May|Has|Is|Does|With|By|Where) '
marked() { # KIND FILE...: prints the texts that contain markers
    local kind=$1 pattern=$markers
    shift
    [ "$kind" != comments ] || pattern="$markers|$begins"
    python3 test/house/prose.py "$kind" "$@" | grep -P -- "$pattern"
}
prose_of() { # KIND DIRECTORY DEPTH: lists the files that contain texts of this kind
    case $1 in
    comments) find "$2" -maxdepth "$3" -type f -regex '.*\.\([chly]\|cpp\|hpp\|m4\|sh\|awk\)' ;;
    messages) find "$2" -maxdepth "$3" -type f -regex '.*\.\([chly]\|def\)' ;;
    sentences) find "$2" -maxdepth "$3" -type f -name '*.md' ;;
    esac | sort
}
within_budget() { # KIND DIRECTORY DEPTH
    local files found allowed
    mapfile -t files < <(prose_of "$@")
    [ ${#files[@]} -gt 0 ] || return 0
    found=$(marked "$1" "${files[@]}")
    allowed=$(awk -v kind="$1" -v dir="$2" '$1 == kind && $2 == dir {print $3}' test/house/words.budget)
    local n=0
    [ -z "$found" ] || n=$(wc -l <<<"$found")
    [ "$n" -eq "${allowed:-0}" ] && return 0
    [ "$n" -gt "${allowed:-0}" ] && cut -c1-150 <<<"$found" | head -n 30
    echo "$2: $n $1 with marker words, words.budget has ${allowed:-0}"
    return 1
}
for dir in src/lib/*/ src/utils/*/ src/binding/*/ test/*/; do
    check "comments of ${dir%/} are plain English" within_budget comments "${dir%/}" 9
done
for dir in include benchmarks examples; do
    check "comments of $dir are plain English" within_budget comments "$dir" 9
done
for dir in src/lib/*/ src/utils/*/; do
    check "messages of ${dir%/} are plain English" within_budget messages "${dir%/}" 9
done
check "sentences of documents are plain English" within_budget sentences . 1
for dir in doc benchmarks examples; do
    check "sentences of $dir are plain English" within_budget sentences "$dir" 9
done
finish
