#!/bin/bash
# Checks that all processes reach every collective call, and that the names of functions show which
# of them are collective (see src/lib/dataset/dataset.h). collective.py analyses the sources;
# collective_sample.c tests the analysis itself.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
here=$top/test/house

python=$(python_with 'clang.cindex')

flags=(-std=gnu11 -DHAVE_CONFIG_H -I. -Iinclude -Isrc -Isrc/lib/cdl -I"$top/include"
    -I"$top/src")
for d in "$top"/src/lib/*/; do
    flags+=("-I${d%/}")
done
compiler=${MPICC:-mpicc}
read -ra mpi < <($compiler -show -c x.c 2>/dev/null | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
builtin=$(clang -print-resource-dir 2>/dev/null)
flags+=("${mpi[@]}" ${builtin:+-I"$builtin/include"})

look() { # DIRECTORY FILE...
    local dir=$1
    shift
    "$python" -B "$here/collective.py" "$dir" "${flags[@]}" -- "$@"
}
sample_is_seen() {
    diff <(grep -n '/\* found \*/' "$here/collective_sample.c" | cut -d: -f1) \
        <(look "$here" "$here/collective_sample.c" |
            sed -n 's/^collective_sample.c:\([0-9]*\):.*/\1/p' | sort -nu)
}
library_is_clean() {
    look "$top/src/lib" "$top"/src/lib/{api,dataset,trace,access,node,file,twophase,driver,mpio,burst,stage}/*.c \
        "$top"/src/lib/blob/blob_{close,decompose,define,find,move,open,remove,sub,transfer}.c \
        "$top/src/lib/journal/journal_rounds.c"
}

# If an error is pending, a later call must neither replace nor clear it.
owed_once() {
    ! grep -nE '\bds(->|\.)failed = ' "$top"/src/lib/*/*.[ch] |
        grep -vE 'failed = NC_NOERR|if \(ds->failed == NC_NOERR\)'
}

check "a pending error is neither replaced nor cleared" owed_once
if [ -n "$python" ]; then
    check "code that can leave processes waiting is detected" sample_is_seen
    check "all processes reach every collective call" library_is_clean
else
    skip "code that can leave processes waiting is detected" "no python3-clang"
    skip "all processes reach every collective call" "no python3-clang"
fi
finish
