#!/bin/bash
# doc/behaviour.md names tests that there are.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
doc=$top/doc/behaviour.md

# Every `test/ROOM/FILE` or `test/ROOM/FILE: NAME` in backquotes. A name is spelled with
# underscores where the test is a function.
names() {
    grep -oE '`test/[^`]+`' "$doc" | tr -d '`'
}

files_exist() {
    local file found=0 missing=0
    while IFS= read -r file; do
        found=$((found + 1))
        [ -f "$top/$file" ] && continue
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

# A promise is an item of the list; each of them but the limits ends with its tests.
promises_have_tests() {
    awk '/^## / { promised = !/^## Limits/ }
        /^- / { if (open) { print open; bad = 1 } open = promised ? $0 : "" }
        /`test\// { open = "" }
        END { if (open) { print open; bad = 1 } exit bad }' "$doc"
}

check "the files it names are there" files_exist
check "the tests it names are there" tests_exist
check "every promise names a test" promises_have_tests
finish
