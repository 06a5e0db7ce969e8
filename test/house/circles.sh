#!/bin/bash
# Checks that calls between the library's object files are acyclic: no file calls a file that calls
# it directly or indirectly. A reader can therefore start at the top and never needs to go back, and
# a file can be tested with only the files below it. The check uses compiled objects: an object that
# uses a symbol calls the object that defines it.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
export LC_ALL=C

# This object is ignored, because it refers to all drivers, and each driver opens the layers below
# it through this object. Such cycles are intended.
left_out='driver/driver_registry'

# Prints "OBJECT defines SYMBOL" and "OBJECT uses SYMBOL" lines. Objects are named MODULE/FILE, no
# matter which library they were compiled for.
symbols() {
    find src/lib -name '*.o' -print0 | xargs -0 nm -A |
        sed -nE 's|^src/lib/([^:]*)\.o:[0-9a-f ]* ([A-Za-z]) ([^@]*).*|\1 \2 \3|p' | sed 's|\.libs/||' | sort -u |
        awk -v out="^($left_out)\$" '
            { sub(/[^\/]*_la-/, "", $1) }
            $1 ~ out { next }
            $2 == "U" { print $1, "uses", $3 }
            $2 ~ /^[TDBRVWCGS]$/ { print $1, "defines", $3 }'
}

# Prints a line "circle FILE..." for each cycle, followed by "call FROM TO SYMBOL..." for the
# calls in it (Tarjan's algorithm).
circles() {
    awk '
    $2 == "defines" { if (!($3 in owner)) owner[$3] = $1; file[$1] = 1 }
    $2 == "uses" { use[++nuses] = $1 " " $3; file[$1] = 1 }
    function visit(v,  list, n, i, w, members) {
        number[v] = low[v] = ++count
        stack[++depth] = v
        waits[v] = 1
        n = split(calls[v], list, " ")
        for (i = 1; i <= n; i++) {
            w = list[i]
            if (!(w in number)) visit(w)
            if ((w in waits) && low[w] < low[v]) low[v] = low[w]
        }
        if (low[v] != number[v]) return
        do {
            w = stack[depth--]
            delete waits[w]
            members = members " " w
            circle[w] = v
        } while (w != v)
        if (members != " " v) big[v] = members
    }
    END {
        for (i = 1; i <= nuses; i++) {
            split(use[i], part, " ")
            to = owner[part[2]]
            if (to == "" || to == part[1]) continue
            if (!((part[1], to) in by)) calls[part[1]] = calls[part[1]] " " to
            by[part[1], to] = by[part[1], to] " " part[2]
        }
        for (v in file) if (!(v in number)) visit(v)
        for (v in big) {
            print "circle" big[v]
            for (pair in by) {
                split(pair, end, SUBSEP)
                if (circle[end[1]] == v && circle[end[2]] == v) print "call", end[1], end[2] by[pair]
            }
        }
    }'
}

found=$(symbols | circles)

no_circles() {
    [ "$(find src/lib -name '*.o' | wc -l)" -gt 100 ] || { echo "no object files"; return 1; }
    awk '
        $1 == "circle" { bad = 1; print NF - 1 " files call each other:" substr($0, 7) }
        $1 == "call" { line = $2 " calls " $3 ":"; for (i = 4; i <= NF; i++) line = line " " $i; print "    " line }
        END { exit bad }' <<<"$found"
}

# Tests the check itself with three files in a cycle, and a fourth that calls one of them.
circle_is_seen() {
    local pair
    pair=('a defines f' 'a uses g' 'b defines g' 'b uses h' 'c defines h' 'c uses f' 'd defines k' 'd uses f')
    [ "$(printf '%s\n' "${pair[@]}" | circles | sed -n 's/^circle //p' | tr ' ' '\n' | sort | xargs)" = 'a b c' ]
}

check "a cycle of calls is detected" circle_is_seen
check "no files call each other in a cycle" no_circles
finish
