#!/bin/bash
# Checks that objects compiled first in a fresh tree include this library's headers, even if the
# compiler's search path contains headers of an installed PnetCDF with the same names.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
# The tree is next to the build directory, so relative paths to the sources remain valid.
fresh=$(mktemp -d ../headers.XXXXXX) || exit 99
trap 'rm -rf "$fresh"' EXIT
mkdir "$fresh/others" && for name in pnetcdf.h netcdf.h; do
    echo '#error "a header of another library"' >"$fresh/others/$name"
done
for name in pnetcdf.inc netcdf.inc; do
    echo '      this is no fortran' >"$fresh/others/$name"
done

configured() { cp config.status "$fresh" && (cd "$fresh" && ./config.status); }
# finds OBJECT: succeeds if the object compiles, which it does only with this library's headers.
finds() { CPATH=$(cd "$fresh/others" && pwd) make -C "$fresh" V=0 "$1"; }

check "the source tree is configured" configured
for object in src/lib/api/api_inq.lo src/lib/api/api_typed_get.lo \
    src/binding/serial/libpnetcdf_serial_la-serial_more.lo; do
    check "$object includes this tree's headers" finds "$object"
done
finish
