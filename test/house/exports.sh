#!/bin/bash
# Checks that the shared libraries export the published functions and classes, with the versions
# given in src/lib/pnetcdf.map, and no other symbols.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
export LC_ALL=C
library=.libs/libpnetcdf.so
cxx=.libs/libpnetcdf_cxx.so
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# exported LIBRARY: prints each symbol as NAME@VERSION, or as NAME if it has no version.
exported() { nm -D --defined-only "$@" | awk 'NF > 1 { sub(/@@/, "@", $NF); print $NF }'; }
classes() { if [ -e "$cxx" ]; then exported "$cxx"; else exported "$library" | grep '^_Z'; fi; }

# Ignores sanitizer symbols, which begin with an underscore, and version names, which are symbols,
# too.
only_published_names() {
    ! exported "$library" | sed 's/@.*//' | grep -vE '^(ncmpix?_|nfmpix?_|cdl_hdr_|_|(PNETCDF|NCMPI)_[0-9A-Z.]*$)' | grep -vxF api_access_later
}
only_published_classes() {
    ! classes | sed 's/@.*//' | grep -vE '^_Z(N|NK|T.N)7PnetCDF|^(PNETCDF|NCMPI)_[0-9A-Z.]*$'
}
soname() { readelf -d "$library" | grep -F 'Library soname: [libpnetcdf.so.8]'; }

# has_version VERSION: succeeds if all names on standard input are exported with this version.
has_version() {
    sort -u >"$scratch/names" && [ -s "$scratch/names" ] || return 1
    exported "$library" | sed -n "s/@$1\$//p" | tr A-Z a-z | sed 's/_*$//' | sort >"$scratch/versioned"
    ! comm -23 "$scratch/names" "$scratch/versioned" | grep .
}
functions_of_c() {
    awk -f "$top/test/api/functions.awk" "$top/test/api/functions.txt" | sed 's/(.*//; s/.* //'
}
# Every function exported with PnetCDF's symbol version must belong to PnetCDF's interface. The
# patterns of the version script might also match others.
of_pnetcdf() {
    { functions_of_c; sed 's/^/nfmpi_/' "$top/test/f77/f77_names.txt" |
        if grep -q '^#define F77_NAME' config.h; then cat; else sed d; fi; } | has_version PNETCDF_1.15 &&
        ! exported "$library" | grep -E '^(ncmpi|cdl_hdr)_.*@' | sed -n 's/@PNETCDF_1.15$//p' |
        grep -vxF "$(functions_of_c)"
}
our_own() {
    { sed -n 's/.*\b\(ncmpix_[a-z_]*\)(.*;$/\1/p; s/.*\b\(ncmpix_[a-z_]*\)($/\1/p' include/pnetcdf_ext.h
      exported "$library" | sed -n 's/@.*//; /^nc*f*mpix_/p' | sed 's/_*$//'; } | has_version NCMPI_1.0
}
# Methods that PnetCDF's C++ interface does not have must be exported with this library's version.
methods_of_our_own() {
    [ "$(classes | grep -c '@NCMPI_1.0$')" -gt 15 ] &&
        ! classes | c++filt | grep -E 'bputVarn|uantize|indep_data|NcmpiFile::close' | grep -v '@NCMPI_1.0$' &&
        ! classes | c++filt | grep -E 'putAtt|getVar|addDim|NcmpiInt::' | grep -v '@PNETCDF_1.15$'
}
nothing_is_bare() { ! { exported "$library"; classes; } | grep -vE '@(PNETCDF_1\.15|NCMPI_1\.0)$|^api_access_later@NCMPI_PRIVATE$|^(PNETCDF|NCMPI)_[0-9A-Z.]*$'; }
# The library that C programs link with must not require the C++ runtime.
no_cxx_library() { ! readelf -d "$library" | grep -E 'NEEDED.*(stdc\+\+|libc\+\+)'; }

if [ -e "$library" ]; then
    check "only published names are exported" only_published_names
    if grep -q '^#define PNETCDF_ENABLE_CXX 1' include/pnetcdf.h; then
        check "only published classes are exported" only_published_classes
    fi
    check "the SONAME is that of the published interface" soname
    if grep -q '^SYMBOL_VERSIONS = -Wl' Makefile; then
        check "functions of PnetCDF 1.15, and no others, have its version" of_pnetcdf
        check "functions of this library have its own version" our_own
        check "every symbol has a version" nothing_is_bare
        if [ -e "$cxx" ]; then check "no method has PnetCDF's version" methods_of_our_own; fi
    else
        skip "symbols have versions" "the linker gives none"
    fi
    if [ -e "$cxx" ]; then
        check "the C library does not load the C++ library" no_cxx_library
    fi
else
    skip "only published names are exported" "no shared library is built"
    skip "the SONAME is that of the published interface" "no shared library is built"
fi
finish
