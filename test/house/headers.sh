#!/bin/bash
# In a fresh tree the first object that is compiled finds the headers of this library, though
# others of the same names lie where the compiler looks anyway: those of an installed PnetCDF.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
# Beside the build directory: the way to the sources is the same from there.
fresh=$(mktemp -d ../headers.XXXXXX) || exit 99
trap 'rm -rf "$fresh"' EXIT
mkdir "$fresh/others" && for name in pnetcdf.h netcdf.h; do
    echo '#error "a header of another library"' >"$fresh/others/$name"
done
for name in pnetcdf.inc netcdf.inc; do
    echo '      this is no fortran' >"$fresh/others/$name"
done

configured() { cp config.status "$fresh" && (cd "$fresh" && ./config.status); }
# finds OBJECT: it is compiled first.
finds() { CPATH=$(cd "$fresh/others" && pwd) make -C "$fresh" V=0 "$1"; }

check "it is configured" configured
for object in src/lib/api/api_inq.lo src/lib/api/api_typed_get.lo \
    src/binding/serial/libpnetcdf_serial_la-serial_more.lo; do
    check "$object has our headers" finds "$object"
done
finish
