#!/bin/bash
# Checks that the tests named in doc/behaviour.md and doc/testing.md exist, that every promise in
# doc/behaviour.md names a test, and that every report in doc/testing.md names one.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
doc=$top/doc/behaviour.md testing=$top/doc/testing.md

# Prints every `test/MODULE/FILE` or `test/MODULE/FILE: NAME` that is in backquotes. If a test is a
# C function, its name has underscores instead of NAME's spaces.
names() {
    grep -ohE '`test/[^`]+`' "$doc" "$testing" | tr -d '`'
}

files_exist() {
    local file found=0 missing=0
    while IFS= read -r file; do
        found=$((found + 1))
        compgen -G "$top/$file" >/dev/null && continue # may be a directory or a pattern
        echo "$file is named and not there"
        missing=1
    done < <(names | sed 's/: .*//' | sort -u)
    [ $found -gt 20 ] && [ $missing = 0 ]
}

tests_exist() {
    local line file name found=0 missing=0
    while IFS= read -r line; do
        file=${line%%: *} name=${line#*: }
        found=$((found + 1))
        grep -qF -e "\"$name\"" -e "${name// /_}(" "$top/$file" && continue
        echo "$file has no test '$name'"
        missing=1
    done < <(names | grep ': ' | sort -u)
    [ $found -gt 80 ] && [ $missing = 0 ]
}

# Each promise is a list item that must end with its tests. Limits need no tests.
promises_have_tests() {
    awk '/^## / { promised = !/^## Limits/ }
        /^- / { if (open) { print open; bad = 1 } open = promised ? $0 : "" }
        /`test\// { open = "" }
        END { if (open) { print open; bad = 1 } exit bad }' "$doc"
}

# Each row of the table of reports begins with a link and ends with tests.
reports_have_tests() {
    awk '/^\| \[/ { rows++ }
        /^\| \[/ && !/`test\/[^`]*: [^`]*` \|$/ { print; bad = 1 }
        END { exit bad || rows < 25 }' "$testing"
}

check "every file named in doc/behaviour.md and doc/testing.md exists" files_exist
check "every test named in doc/behaviour.md and doc/testing.md exists" tests_exist
check "every promise names a test" promises_have_tests
check "every report of another project names a test" reports_have_tests
finish
