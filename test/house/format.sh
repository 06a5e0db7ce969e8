#!/bin/bash
# clang-format finds nothing to change. Versions differ in what they find, so one counts.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
version=14

formatter=
for name in "clang-format-$version" clang-format; do
    if "$name" --version 2>/dev/null | grep -q "version $version\."; then
        formatter=$name
        break
    fi
done

formatted() {
    find "$top"/{src,include,test,benchmarks,examples} -name '*.[ch]' -o -name '*.[ch]pp' | while read -r file; do
        # generated into the tree by a build in place, or from a scanner or grammar
        head -n 3 "$file" | grep -qi 'generated from' || [ -e "${file%.[ch]}.l" ] ||
            [ -e "${file%.[ch]}.y" ] || printf '%s\0' "$file"
    done | xargs -0 "$formatter" --dry-run -Werror
}

if [ -n "$formatter" ]; then
    check "sources are formatted" formatted
else
    skip "sources are formatted" "no clang-format of version $version"
fi
finish
