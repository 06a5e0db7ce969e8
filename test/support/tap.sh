# Prints TAP for test scripts. Source this file, call `check NAME COMMAND...` for each test, and end
# with `finish`. If a command fails, its output is shown.
tap_number=0 tap_failed=0

# Prefers the system's Python, because it has the modules that dev/setup installs. It also starts
# faster than a version manager's wrapper, which may come first in PATH.
if [ -x /usr/bin/python3 ]; then
    python3() { /usr/bin/python3 "$@"; }
fi

# python_with MODULES: prints the path of a Python interpreter that can import these modules.
python_with() {
    local p
    for p in /usr/bin/python3 "$(type -P python3)"; do
        "$p" -c "import $1" 2>/dev/null && echo "$p" && return
    done
}

# check NAME COMMAND ARG...: runs one test, which passes if the command succeeds.
check() {
    local name=$1 tap_out
    shift
    tap_number=$((tap_number + 1))
    if tap_out=$("$@" 2>&1 </dev/null); then
        echo "ok $tap_number - $name"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_number - $name"
        printf '%s\n' "$tap_out" | sed 's/^/#   /'
    fi
}

# scratch NAME: creates a directory for a test's files, in memory if possible, and prints the
# directory's path.
scratch() {
    local shm=/tmp
    if [ -w /dev/shm ]; then shm=/dev/shm; fi
    mktemp -d "${TMPDIR:-$shm}/ncmpi-$1.XXXXXX"
}

# skip NAME REASON: reports a test that cannot run here.
skip() {
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1 # SKIP $2"
}

finish() {
    echo "1..$tap_number"
    [ $tap_failed = 0 ]
    exit
}
