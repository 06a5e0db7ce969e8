#!/bin/bash
# Runs blob_join.sh with compressed blobs, and with the examples in every language of this build.
# Uses zstd; BLOB_JOIN=all adds LZ4, if this build has it.
codecs=''
for codec in zstd ${BLOB_JOIN:+lz4}; do
    ! grep -q "define HAVE_${codec^^} 1" config.h || codecs+=" $codec"
done
if [ -z "$codecs" ] || ! grep -q 'define HAVE_XXHASH 1' config.h; then
    echo "1..0 # SKIP nothing is compressed in this build"
    exit
fi
languages=C
offers() { grep -q "^#define PNETCDF_ENABLE_$1 1" include/pnetcdf.h; }
! offers FORTRAN || languages+=' F77'
if [ -e .libs/libpnetcdf.so ]; then # these languages are tested only with the shared library
    ! offers FORTRAN || languages+=' F90'
    ! offers CXX || languages+=' cxx'
fi
. "${srcdir:-.}/test/blob/blob_join.sh"
