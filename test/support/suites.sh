# Sourced by scripts that run the conformance matrix, the random programs and the data
# tests once more with other hints, from the build folder.
#
#   SUITES_TESTS   only the tests whose name matches this
#   SUITES_HINTS   only the hints that contain this
#   suites_rooms   of these rooms (a pattern)
#   suites_but     not those that match this one
suites_rooms='api|random' suites_but='^$'

# Those that hold counts or faults against the default way alone are left out, and those that
# choose the ways themselves. What make was told of tests is not about these.
suites_tests() {
    env -u MAKEFLAGS make -s print-tests | tr ' ' '\n' |
        grep -E "^test/($suites_rooms)/.*\.mpi$" |
        grep -vE 'io_errors|fault_matrix|each_fault|one_bad|hostile|elsewhere|soak|memory_short|large|/hints' |
        grep -vE "$suites_but" | grep -E "${SUITES_TESTS-.}"
}

# suites HINTS...: all of them with each of HINTS; fails if one does, and says which.
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
