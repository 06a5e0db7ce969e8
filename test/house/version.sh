#!/bin/bash
# Checks that the change log, the package recipes and the header have the same version, PnetCDF
# version and release date as configure.ac.
top=${srcdir:-.}
. "$top/test/support/tap.sh"

substituted() { sed -n "s/^AC_SUBST(\[$1\], \[\"*\([^]\"]*\)\"*\])/\1/p" "$top/configure.ac"; }
own=$(sed -n 's/^AC_INIT(\[ncmpi\], \[\(.*\)\])/\1/p' "$top/configure.ac")
pnetcdf=$(substituted PNETCDF_VERSION_MAJOR).$(substituted PNETCDF_VERSION_MINOR).$(substituted PNETCDF_VERSION_SUB)
released=$(LC_ALL=C date -u -d "$(substituted RELEASE_DATE)" +%F)

parts() { [ "$own" = "$(substituted NCMPI_VERSION_MAJOR).$(substituted NCMPI_VERSION_MINOR).$(substituted NCMPI_VERSION_SUB)" ]; }
# The section of this version may be preceded by one for unreleased changes.
in_change_log() { [ "$(grep -m 1 -E '^## [0-9]' "$top/CHANGELOG.md")" = "## $own - $released" ]; }
in_debian() {
    local first
    first=$(head -n 1 "$top/debian/changelog")
    [[ $first = "ncmpi ($pnetcdf+ncmpi$own-"* ]] &&
        [ "$(LC_ALL=C date -u -d "$(sed -n '/^ -- /{s/.*>  //p;q}' "$top/debian/changelog")" +%F)" = "$released" ]
}
in_header() { grep -F "\"$pnetcdf (ncmpi $own) of $(substituted RELEASE_DATE)\"" "$top/include/pnetcdf_file.m4"; }
is_python() { python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$1"; }
# EasyBuild's recipe consists of assignments.
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
# Every option that Spack's recipe uses must be an option of configure.
spack_options() {
    local option
    while read -r option; do
        "$top/configure" --help | grep -E -- "--(with|without|enable|disable)-$option\b" || return 1
    done < <(grep -oE '(enable_or_disable|with_or_without)\("[a-z0-9-]+"' \
        "$top/packaging/spack/packages/ncmpi/package.py" | sed 's/.*("//; s/"//')
}
# dev/setup must list all packages from which the container image is built.
in_container() {
    local package
    for package in $(sed -n '/AS build/,/^COPY/s/^ \{8\}\([a-z][^\\&]*\).*/\1/p' "$top/packaging/Containerfile"); do
        cut -d ' ' -f 1 "$top/dev/setup" | grep -qxF "$package" || { echo "$package"; return 1; }
    done
}

check "the version's parts agree with the version" parts
check "CHANGELOG.md has the version, with a date" in_change_log
check "debian/changelog has the version" in_debian
check "the header's example of ncmpi_inq_libvers has the version" in_header
if command -v python3 >/dev/null; then
    check "EasyBuild's recipe is valid Python for this version" in_easybuild
    check "Spack's recipe is valid Python for this version" in_spack
else
    skip "recipes are Python" "no python3"
fi
check "Spack's options exist in configure" spack_options
check "the container's packages are those of dev/setup" in_container
finish
