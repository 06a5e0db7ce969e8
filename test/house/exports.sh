#!/bin/bash
# What the shared library shows: the published functions, and nothing else.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
export LC_ALL=C
library=.libs/libpnetcdf.so

exported() { nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//'; }

# A sanitizer's own marks begin with underscores.
only_published_names() {
    ! exported | grep -vE '^(ncmpix?_|nfmpix?_|cdl_hdr_|_)'
}
# What is C++ is of PnetCDF's namespace; templates of its standard library are everybody's (weak).
only_published_classes() {
    ! nm -D --defined-only "$library" | awk '$2 ~ /^[TDBR]$/ { print $3 }' | grep '^_Z' | grep -v 7PnetCDF
}
soname() { readelf -d "$library" | grep -F 'Library soname: [libpnetcdf.so.8]'; }

if [ -e "$library" ]; then
    check "only published names are exported" only_published_names
    check "only published classes are exported" only_published_classes
    check "the SONAME is that of the published interface" soname
else
    skip "only published names are exported" "no shared library is built"
    skip "the SONAME is that of the published interface" "no shared library is built"
fi
finish
