#!/bin/bash
# doc/slow.md: each of its commands, and the advice that it comes to; once it is followed
# there is no such advice.
. "${srcdir:-.}/test/utils/tool_lib.sh"
. "$here/test/support/launch.sh"
build=$PWD
if ! grep -q 'define HAVE_JANSSON 1' config.h; then
    echo "1..0 # SKIP no jansson"
    exit 0
fi
need python3 gnuplot
cp "$here/doc/slow/slow_cases.c" "$work"
cd "$work" || exit 99

# The page's commands, by the tree's own means.
mpicc() {
    [ "$*" = '-o slow_cases slow_cases.c installed' ] && ln -s "$build/doc/slow/slow_cases" slow_cases
}
pnetcdf-config() { echo installed; }
mpiexec() { shift; launch "$@"; }
ncmpitrace() { "$build/ncmpitrace" "$@"; }

mapfile -t commands < <(sed -nE 's/^    \$ //p' "$here/doc/slow.md")
# run PATTERN: the commands that match, in their order.
run() {
    local command n=0
    for command in "${commands[@]}"; do
        [[ $command == *$1* ]] || continue
        n=$((n + 1))
        eval "$command" >"$work/out" 2>&1 || { echo "$command"; cat "$work/out"; return 1; }
    done
    [ $n -gt 0 ]
}
# rules TRACE: those that the advice goes by.
rules() {
    "$build/ncmpitrace" -j "$1" | python3 -c '
import json, sys
print(*[a["rule"] for a in json.load(sys.stdin)["advice"]])'
}
# A busy machine may make any process late: once of three times will do.
advised() {
    local try got
    for try in 1 2 3; do
        rm -f "$1.json"
        run "$1.json" && [ -s "$1.nc" ] || return 1
        got=$(rules "$1.json")
        [[ " $got " == *" $2 "* ]] && return 0
    done
    echo "only: $got"
    return 1
}
not_advised() {
    local try got
    for try in 1 2 3; do
        rm -f "$1.json"
        run "$1.json" && [ -s "$1.nc" ] || return 1
        got=$(rules "$1.json")
        [[ " $got " == *" $2 "* ]] || return 0
    done
    echo "still: $got"
    return 1
}
drawn() { [ "$(head -c 5 "$1.svg")" = '<?xml' ] && [ -e "$here/doc/slow/$1.svg" ]; }

check "there are commands" [ ${#commands[@]} = 13 ]
check "the program is built" run mpicc
check "many small collective calls" advised records small-collective
check "... posted" not_advised posted small-collective
check "one process is late" advised late one-late
check "... as much as the others" not_advised even one-late
check "a header that grows" advised notes header-moves
check "... with room" not_advised room header-moves
for case in records late notes; do check "the picture of $case" drawn $case; done
finish
