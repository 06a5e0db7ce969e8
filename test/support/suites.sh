# Sourced by scripts that repeat the conformance matrix, the random programs and the data tests with
# other hints. The tests run in the build directory.
#
#   SUITES_TESTS   runs only tests whose name matches this pattern
#   SUITES_HINTS   uses only hints that contain this text
#   suites_rooms   test directories (a pattern)
#   suites_but     excludes tests that match this pattern
suites_rooms='api|random' suites_but='^$'

# Lists the tests to run. Omits tests that check counts or inject faults and so need the default
# hints, and tests that choose hints themselves. Clears MAKEFLAGS, so that variables given to the
# outer make do not affect the selection.
suites_tests() {
    env -u MAKEFLAGS make -s print-tests | tr ' ' '\n' |
        grep -E "^test/($suites_rooms)/.*\.mpi$" |
        grep -vE 'io_errors|fault_matrix|each_fault|one_bad|hostile|elsewhere|soak|memory_short|large|/hints' |
        grep -vE "$suites_but" | grep -E "${SUITES_TESTS-.}"
}

# suites HINTS...: runs all tests once with each of the HINTS. If a test fails, prints its name and
# returns an error.
suites() {
    local top=${srcdir:-.} failed=0 passed=0 hints test log tests
    tests=$(suites_tests)
    log=$(mktemp) || return 99
    for hints; do
        case $hints in *"${SUITES_HINTS-}"*) ;; *) continue ;; esac
        for test in $tests; do
            if PNETCDF_HINTS=$hints "$BASH" "$top/test/support/run-mpi" "$test" >"$log" 2>&1
            then
                passed=$((passed + 1))
                continue
            fi
            failed=$((failed + 1))
            echo "FAILED with $hints: $test"
            grep -vE '^ok' "$log" | head -n 20
        done
        echo "done with $hints: $passed passed, $failed failed so far"
    done
    rm -f "$log"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
