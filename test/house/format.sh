#!/bin/bash
# Checks that clang-format would not change any file. Since versions format differently, only one
# version is used.
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
        # skip files that an in-tree build generated, and files that a scanner or grammar produced
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
