# Functions for the tests of tools. They create a scratch directory ($work), and check exit statuses
# and output.
. "${srcdir:-.}/test/support/tap.sh"
export LC_ALL=C
here=$(cd "${srcdir:-.}" && pwd)
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

# status N COMMAND...: succeeds if the exit status is N. The output is left in $work/out and
# $work/err.
status() {
    local want=$1 got=0
    shift
    "$@" >"$work/out" 2>"$work/err" || got=$?
    cat "$work/out" "$work/err"
    [ $got = "$want" ] || { echo "status $got, not $want: $*"; return 1; }
}

# refused N PATTERN COMMAND...: succeeds if the exit status is N and standard error is a single line
# that matches.
refused() {
    local want=$1 pattern=$2
    shift 2
    status "$want" "$@" && [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "$pattern" "$work/err"
}

# says TEXT COMMAND...: succeeds if the command prints exactly this text, and nothing on standard
# error.
says() {
    local text=$1
    shift
    "$@" >"$work/out" 2>"$work/err" && ! [ -s "$work/err" ] || { cat "$work/err"; return 1; }
    printf '%s\n' "$text" | diff - "$work/out"
}

# matches PATTERN COMMAND...: succeeds if the command succeeds and a line of its output matches.
matches() {
    local pattern=$1
    shift
    "$@" >"$work/out" 2>"$work/err" && grep -qE -e "$pattern" "$work/out"
}

# usual TOOL WRONG-USAGE-STATUS: checks what all tools have in common: --help, --version, and the
# rejection of unknown options.
usual() {
    local tool=$1 wrong=$2 name
    name=$(basename "$tool")
    check "--help" matches "^Usage: $name " "$tool" --help
    check "--version" matches "^$name \(PnetCDF\) [0-9]" "$tool" --version
    check "an unknown option" status "$wrong" "$tool" --no-such-option
    check "no operand" status "$wrong" "$tool"
}
