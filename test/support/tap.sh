# TAP for test scripts: source it, call `check NAME COMMAND...` and end with `finish`.
# A command that fails has its output shown.
tap_number=0 tap_failed=0

# check NAME COMMAND ARG...: one test; it holds if the command succeeds.
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

# scratch NAME: makes a folder for a test's files, in memory if there is such a place, and says which.
scratch() {
    local shm=/tmp
    if [ -w /dev/shm ]; then shm=/dev/shm; fi
    mktemp -d "${TMPDIR:-$shm}/ncmpi-$1.XXXXXX"
}

# skip NAME REASON: one test that cannot be tried here.
skip() {
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1 # SKIP $2"
}

finish() {
    echo "1..$tap_number"
    [ $tap_failed = 0 ]
    exit
}
