#!/bin/bash
# configure.ac says which version this is and which of PnetCDF's it stands for, and when it was
# released; the change log, the recipes of packages and the header say the same.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

substituted() { sed -n "s/^AC_SUBST(\[$1\], \[\"*\([^]\"]*\)\"*\])/\1/p" "$top/configure.ac"; }
own=$(sed -n 's/^AC_INIT(\[ncmpi\], \[\(.*\)\])/\1/p' "$top/configure.ac")
pnetcdf=$(substituted PNETCDF_VERSION_MAJOR).$(substituted PNETCDF_VERSION_MINOR).$(substituted PNETCDF_VERSION_SUB)
released=$(LC_ALL=C date -u -d "$(substituted RELEASE_DATE)" +%F)

parts() { [ "$own" = "$(substituted NCMPI_VERSION_MAJOR).$(substituted NCMPI_VERSION_MINOR).$(substituted NCMPI_VERSION_SUB)" ]; }
# What is not released yet may stand above.
in_change_log() { [ "$(grep -m 1 -E '^## [0-9]' "$top/CHANGELOG.md")" = "## $own - $released" ]; }
in_debian() {
    local first
    first=$(head -n 1 "$top/debian/changelog")
    [[ $first = "ncmpi ($pnetcdf+ncmpi$own-"* ]] &&
        [ "$(LC_ALL=C date -u -d "$(sed -n '/^ -- /{s/.*>  //p;q}' "$top/debian/changelog")" +%F)" = "$released" ]
}
in_header() { grep -F "\"$pnetcdf (ncmpi $own) of $(substituted RELEASE_DATE)\"" "$top/include/pnetcdf_file.m4"; }
is_python() { python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$1"; }
# The recipe is a list of assignments.
in_easybuild() {
    local recipe
    recipe=$(echo "$top"/packaging/easybuild/ncmpi-*.eb)
    [[ $recipe = */ncmpi-$own-* ]] && is_python "$recipe" &&
        python3 -c 'import sys; v = {"SHLIB_EXT": "so"}; exec(open(sys.argv[1]).read(), v)
name = "%s-%s-%s-%s.eb" % (v["name"], v["version"], v["toolchain"]["name"], v["toolchain"]["version"])
sys.exit(not sys.argv[1].endswith("/" + name))' "$recipe"
}
in_spack() {
    local recipe=$top/packaging/spack/packages/ncmpi/package.py
    is_python "$recipe" && grep -F "    version(\"$own\")" "$recipe"
}
# Each option of a recipe is one of configure's.
spack_options() {
    local option
    while read -r option; do
        "$top/configure" --help | grep -E -- "--(with|without|enable|disable)-$option\b" || return 1
    done < <(grep -oE '(enable_or_disable|with_or_without)\("[a-z0-9-]+"' \
        "$top/packaging/spack/packages/ncmpi/package.py" | sed 's/.*("//; s/"//')
}
# Packages that the image is built from are those of dev/setup.
in_container() {
    local package
    for package in $(sed -n '/AS build/,/^COPY/s/^ \{8\}\([a-z][^\\&]*\).*/\1/p' "$top/packaging/Containerfile"); do
        cut -d ' ' -f 1 "$top/dev/setup" | grep -qxF "$package" || { echo "$package"; return 1; }
    done
}

check "the numbers are those of the version" parts
check "CHANGELOG.md has it, with the date" in_change_log
check "so has debian/changelog" in_debian
check "the header's example of ncmpi_inq_libvers does" in_header
if command -v python3 >/dev/null; then
    check "EasyBuild's recipe is Python, and for this version" in_easybuild
    check "so is Spack's" in_spack
else
    skip "recipes are Python" "no python3"
fi
check "Spack's options are configure's" spack_options
check "the image's packages are those of dev/setup" in_container
finish
