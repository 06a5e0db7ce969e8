/* Frames: values of blobs, shuffled and compressed, and the chains that tell where they
 * are. doc/formats.md describes them to the byte. No MPI. */
#ifndef BLOB_FRAME_H
#define BLOB_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_compress.h"

enum {
    BLOB_FRAME = 1 << 18,  /* bytes of values in a frame; the last one has the rest */
    BLOB_CHAIN_HEAD = 48,  /* bytes of a chain before its frames, */
    BLOB_CHAIN_FRAME = 24, /* for each of them, */
    BLOB_CHAIN_SUM = 8     /* and behind */
};

struct blob_frame {
    int64_t at, bytes; /* in the log; as many as of values: these themselves */
    uint64_t sum;      /* of them */
};

/* What a blob has of one record of a variable: external values, in the order of the blob.
 */
struct blob_chain {
    int64_t varid, record, blob; /* the master's number; 0 of no record; in the subfile */
    int64_t nelems;
    int size, codec; /* bytes of an element; enum base_codec */
    struct blob_frame *frames;
};

/* How many frames so many bytes of values are, and the bytes of their chain. */
static inline int64_t blob_chain_frames(int64_t bytes)
{
    return (bytes + BLOB_FRAME - 1) / BLOB_FRAME;
}

static inline int64_t blob_chain_bytes(int64_t nframes)
{
    return BLOB_CHAIN_HEAD + nframes * BLOB_CHAIN_FRAME + BLOB_CHAIN_SUM;
}

/* Bytes of values in frame i. */
static inline int64_t blob_frame_values(const struct blob_chain *c, int64_t i)
{
    int64_t left = c->nelems * c->size - i * BLOB_FRAME;
    return left < BLOB_FRAME ? left : BLOB_FRAME;
}

/* The chain as bytes; seed: the dataset's, of which no other has sums that are right. */
void blob_chain_encode(const struct blob_chain *c, uint64_t seed, unsigned char *to);

/* c says which chain it should be, with room for its frames, which it then has, and the
 * codec. NULL, or what is wrong. */
const char *blob_chain_decode(struct blob_chain *c, uint64_t seed,
                              const unsigned char *from, int64_t bytes);

/* n bytes of values of `size` bytes each become a frame of at most n bytes, whose number
 * is returned: n if they are as they were. to and the scratch have n bytes. */
int64_t blob_frame_pack(struct base_coder *coder, const unsigned char *values, int64_t n,
                        int size, unsigned char *scratch, unsigned char *to);

/* The values of frame i again, from its bytes. to and the scratch have room for them.
 * NULL, or what is wrong. */
const char *blob_frame_unpack(struct base_coder *coder, const struct blob_chain *c,
                              int64_t i, uint64_t seed, const unsigned char *from,
                              unsigned char *scratch, unsigned char *to);

#endif
