/* Compression with zstd and LZ4, if configure found them. Does not use MPI. */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Codec numbers, as stored in files. */
enum base_codec { BASE_CODEC_NONE, BASE_CODEC_ZSTD, BASE_CODEC_LZ4, BASE_CODECS };

/* Returns whether a codec is available. BASE_CODEC_NONE is always available. */
bool base_has_codec(int codec);

/* A coder compresses with one codec, and decompresses with any. The codec library's
 * contexts are created on first use. Only one thread at a time may use a coder. */
struct base_coder {
    int codec, level;
    void *compressing, *expanding;
};
void base_coder_end(struct base_coder *c);

/* Compresses n bytes, which consist of `planes` parts of equal length, each with
 * different statistics, and a remainder. Returns the compressed size, or 0 if it would
 * exceed `most` or if out of memory. */
int64_t base_compress(struct base_coder *c, const void *from, int64_t n, int planes,
                      void *to, int64_t most);

/* Decompresses `bytes` bytes to exactly n bytes. Returns false if the data are invalid or
 * have another size, if the codec is unavailable, or if out of memory. */
bool base_expand(struct base_coder *c, int codec, const void *from, int64_t bytes,
                 void *to, int64_t n);

#endif
