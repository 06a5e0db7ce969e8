#!/bin/bash
# Runs every command in doc/slow.md. Each slow case must lead to the advice that the page quotes,
# and no improved case may lead to it.
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

# Replaces installed commands in the page with those from the build tree.
mpicc() {
    [ "$*" = '-o slow_cases slow_cases.c installed -Wl,-rpath,installed' ] && ln -s "$build/doc/slow/slow_cases" slow_cases
}
pnetcdf-config() { echo installed; }
mpiexec() { shift; launch "$@"; }
ncmpitrace() { "$build/ncmpitrace" "$@"; }

mapfile -t commands < <(sed -nE 's/^    \$ //p' "$here/doc/slow.md")
# run PATTERN: runs the page's commands that match, in order.
run() {
    local command n=0
    for command in "${commands[@]}"; do
        [[ $command == *$1* ]] || continue
        n=$((n + 1))
        eval "$command" >"$work/out" 2>&1 || { echo "$command"; cat "$work/out"; return 1; }
    done
    [ $n -gt 0 ]
}
# rules TRACE: prints the names of the rules that led to advice on this trace.
rules() {
    "$build/ncmpitrace" -j "$1" | python3 -c '
import json, sys
print(*[a["rule"] for a in json.load(sys.stdin)["advice"]])'
}
# On a busy machine, any process may be delayed, so one success in three attempts is sufficient.
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

check "the page has 13 commands" [ ${#commands[@]} = 13 ]
check "the example program compiles" run mpicc
check "small collective calls are advised against" advised records small-collective
check "posted small requests cause no advice" not_advised posted small-collective
check "a late process is named" advised late one-late
check "processes that are equally late cause no advice" not_advised even one-late
check "a growing header is advised against" advised notes header-moves
check "a header with space causes no advice" not_advised room header-moves
for case in records late notes; do check "a picture of $case is drawn" drawn $case; done
finish
