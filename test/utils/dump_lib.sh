# Functions for the tests of ncmpidump. They find the program, create a scratch directory, and check
# the output.
. "${srcdir:-.}/test/support/tap.sh"
export LC_ALL=C
dump=$PWD/ncmpidump
random=$PWD/test/utils/random_classic
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# need PROGRAM...: skips the whole script unless all programs are installed.
need() {
    local program
    for program; do
        type "$program" >/dev/null 2>&1 || { echo "1..0 # SKIP $program was not found"; exit 0; }
    done
}

# refuses PATTERN ARGUMENT...: succeeds if ncmpidump exits with status 1 and prints one line on
# standard error that matches the pattern.
refuses() {
    local pattern=$1 status=0
    shift
    "$dump" "$@" >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    [ $status = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "$pattern" "$work/err"
}

# prints TEXT ARGUMENT...: succeeds if ncmpidump prints exactly this text, and nothing on standard
# error.
prints() {
    local text=$1
    shift
    "$dump" "$@" >"$work/out" 2>"$work/err" && ! [ -s "$work/err" ] || return 1
    printf '%s\n' "$text" | diff - "$work/out"
}
