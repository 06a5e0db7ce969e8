#!/bin/bash
# Do all processes come to every collective call, and do the names say which these are?
# See src/lib/dataset/dataset.h. collective.py looks at the sources; the sample tells
# whether it sees what it should.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
here=$top/test/house

python=
for p in python3 /usr/bin/python3; do
    "$p" -c 'import clang.cindex' 2>/dev/null && python=$p && break
done

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
        "$top"/src/lib/blob/blob_{close,define,foreign_open,open,place,read,settle,sub,transfer}.c \
        "$top/src/lib/journal/journal_rounds.c"
}

# An error that nobody has been told of yet is not replaced by that of a later call, or by none.
owed_once() {
    ! grep -nE '\bds(->|\.)failed = ' "$top"/src/lib/*/*.[ch] |
        grep -vE 'failed = NC_NOERR|if \(ds->failed == NC_NOERR\)'
}

check "what is owed to all is kept" owed_once
if [ -n "$python" ]; then
    check "what can leave processes waiting is seen" sample_is_seen
    check "all processes come to every collective call" library_is_clean
else
    skip "what can leave processes waiting is seen" "no python3-clang"
    skip "all processes come to every collective call" "no python3-clang"
fi
finish
