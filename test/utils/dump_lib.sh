# For the tests of ncmpidump: the program, a folder to write in, and files.
. "${srcdir:-.}/test/support/tap.sh"
export LC_ALL=C
dump=$PWD/ncmpidump
random=$PWD/test/utils/random_classic
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Ends the script, with its tests skipped, unless all these programs are there.
need() {
    local program
    for program; do
        type "$program" >/dev/null 2>&1 || { echo "1..0 # SKIP $program was not found"; exit 0; }
    done
}

# refuses PATTERN ARGUMENT...: fails with status 1 and one line on standard error that
# matches the pattern.
refuses() {
    local pattern=$1 status=0
    shift
    "$dump" "$@" >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    [ $status = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "$pattern" "$work/err"
}

# prints TEXT ARGUMENT...: succeeds, silently but for this text.
prints() {
    local text=$1
    shift
    "$dump" "$@" >"$work/out" 2>"$work/err" && ! [ -s "$work/err" ] || return 1
    printf '%s\n' "$text" | diff - "$work/out"
}
