#!/bin/bash
# blob_join.sh with compressed blobs, and with the examples in Fortran, too. By zstd;
# BLOB_JOIN=all: by LZ4, too, as far as this build has them.
codecs=''
for codec in zstd ${BLOB_JOIN:+lz4}; do
    ! grep -q "define HAVE_${codec^^} 1" config.h || codecs+=" $codec"
done
if [ -z "$codecs" ] || ! grep -q 'define HAVE_XXHASH 1' config.h; then
    echo "1..0 # SKIP nothing is compressed in this build"
    exit
fi
# shellcheck disable=SC2034  # read by blob_join.sh
languages='C F77'
. "${srcdir:-.}/test/blob/blob_join.sh"
