/* Frames are pieces of a blob's values, shuffled and compressed. A chain lists the frames
 * of one record of a blob. doc/formats.md defines their bytes. No MPI. */
#ifndef SUBFILE_FRAME_H
#define SUBFILE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_compress.h"

enum {
    SUBFILE_FRAME = 1 << 18, /* bytes of values in a frame; the last one may have fewer */
    SUBFILE_CHAIN_HEAD = 48, /* bytes of a chain before its entries */
    SUBFILE_CHAIN_FRAME = 24, /* bytes of each entry */
    SUBFILE_CHAIN_SUM = 8     /* bytes of the checksum after the entries */
};

struct subfile_frame {
    int64_t at, bytes; /* offset and size in the log; the frame is uncompressed if its
                        * size equals that of its values */
    uint64_t sum;      /* checksum of the frame's bytes */
};

/* Describes the values of one record of a variable in a blob; they are in external form
 * and in the blob's order. */
struct subfile_chain {
    int64_t varid, record, blob; /* variable id in the master; record, 0 if there are
                                  * none; number of the blob in the subfile */
    int64_t nelems;
    int size, codec; /* size of an element in bytes; enum base_codec */
    struct subfile_frame *frames;
};

/* Return the number of frames needed for `bytes` bytes of values, and the size in bytes
 * of a chain with n frames. */
static inline int64_t subfile_chain_frames(int64_t bytes)
{
    return (bytes + SUBFILE_FRAME - 1) / SUBFILE_FRAME;
}

static inline int64_t subfile_chain_size(int64_t nframes)
{
    return SUBFILE_CHAIN_HEAD + nframes * SUBFILE_CHAIN_FRAME + SUBFILE_CHAIN_SUM;
}

/* Returns the number of bytes of values in frame i. */
static inline int64_t subfile_frame_values(const struct subfile_chain *c, int64_t i)
{
    int64_t left = c->nelems * c->size - i * SUBFILE_FRAME;
    return left < SUBFILE_FRAME ? left : SUBFILE_FRAME;
}

/* Encodes a chain. The seed makes its checksum valid only in this dataset. */
void subfile_chain_encode(const struct subfile_chain *c, uint64_t seed,
                          unsigned char *to);

/* Decodes a chain. On input, c has the expected identity, and space for the frames. Sets
 * the frames and the codec. Returns NULL, or a message that describes what is wrong. */
const char *subfile_chain_decode(struct subfile_chain *c, uint64_t seed,
                                 const unsigned char *from, int64_t bytes);

/* Packs n bytes of values of `size` bytes each into a frame of at most n bytes. Returns
 * the frame's size; n means that the values are stored unchanged. `to` and `scratch` must
 * have n bytes. */
int64_t subfile_frame_pack(struct base_coder *coder, const unsigned char *values,
                           int64_t n, int size, unsigned char *scratch,
                           unsigned char *to);

/* Unpacks frame i from its bytes. `to` and `scratch` must have space for its values.
 * Returns NULL, or a message that describes what is wrong. */
const char *subfile_frame_unpack(struct base_coder *coder, const struct subfile_chain *c,
                                 int64_t i, uint64_t seed, const unsigned char *from,
                                 unsigned char *scratch, unsigned char *to);

#endif
