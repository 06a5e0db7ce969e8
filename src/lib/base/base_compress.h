/* Compression by zstd and LZ4, each compiled in where configure found it. No MPI. */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers that files have. */
enum base_codec { BASE_CODEC_NONE, BASE_CODEC_ZSTD, BASE_CODEC_LZ4, BASE_CODECS };

/* Is it there? The first always is. */
bool base_has_codec(int codec);

/* What compresses in one way, and expands in any: memory of the libraries', made when it
 * is first needed. One thread at a time. */
struct base_coder {
    int codec, level;
    void *compressing, *expanding;
};
void base_coder_end(struct base_coder *c);

/* n bytes, in `planes` parts of one length and a rest that are compressed each for
 * itself, as they are unlike. How many there are then; 0: more than `most`, or no memory.
 */
int64_t base_compress(struct base_coder *c, const void *from, int64_t n, int planes,
                      void *to, int64_t most);

/* From so many bytes exactly n again. False: they are something else, or there is no such
 * codec, or no memory. */
bool base_expand(struct base_coder *c, int codec, const void *from, int64_t bytes,
                 void *to, int64_t n);

#endif
