/* Encodes chains and packs frames (see subfile_frame.h). */
#include "subfile_frame.h"

#include <string.h>

#include "base_bytes.h"
#include "base_sum.h"

static const char mark[] = {'N', 'C', 'C', 'H', 'A', 'I', 'N', '\n'};

/* ---- chains ---- */

static unsigned char *put_fields(const struct subfile_chain *c, unsigned char *to)
{
    const int64_t fields[] = {c->varid, c->record, c->blob, c->nelems,
                              (int64_t)c->size << 32 | c->codec};
    memcpy(to, mark, sizeof mark);
    to += sizeof mark;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        to = base_put_word(to, (uint64_t)fields[i]);
    return to;
}

void subfile_chain_encode(const struct subfile_chain *c, uint64_t seed, unsigned char *to)
{
    unsigned char *at = put_fields(c, to);
    int64_t n = subfile_chain_frames(c->nelems * c->size);
    for (int64_t i = 0; i < n; i++) {
        at = base_put_word(at, (uint64_t)c->frames[i].at);
        at = base_put_word(at, (uint64_t)c->frames[i].bytes);
        at = base_put_word(at, c->frames[i].sum);
    }
    (void)base_put_word(at, base_sum(to, (size_t)(at - to), seed));
}

const char *subfile_chain_decode(struct subfile_chain *c, uint64_t seed,
                                 const unsigned char *from, int64_t bytes)
{
    int64_t n = subfile_chain_frames(c->nelems * c->size);
    unsigned char head[SUBFILE_CHAIN_HEAD];
    if (bytes != subfile_chain_size(n)) return "the chain of frames has the wrong length";
    const unsigned char *at = from + bytes - SUBFILE_CHAIN_SUM;
    uint64_t sum = base_sum(from, (size_t)(bytes - SUBFILE_CHAIN_SUM), seed);
    if (base_can_sum() && base_get_word(&at) != sum)
        return "the chain of frames is damaged, or belongs to another run";
    c->codec = from[SUBFILE_CHAIN_HEAD - 1];
    (void)put_fields(c, head);
    if (memcmp(head, from, sizeof head) != 0)
        return "the chain of frames belongs to other values";
    at = from + SUBFILE_CHAIN_HEAD;
    for (int64_t i = 0; i < n; i++) {
        struct subfile_frame *f = &c->frames[i];
        f->at = (int64_t)base_get_word(&at);
        f->bytes = (int64_t)base_get_word(&at);
        f->sum = base_get_word(&at);
        if (f->at <= 0 || f->bytes <= 0 || f->bytes > subfile_frame_values(c, i) ||
            f->at > INT64_MAX - f->bytes)
            return "the chain of frames lists invalid frames";
    }
    return NULL;
}

/* ---- frames ---- */

/* For each k, stores byte k of all elements together, because these bytes are similar and
 * compress well. One-byte elements remain in place. */
static inline void shuffle(const unsigned char *from, int64_t n, int size,
                           unsigned char *to)
{
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < size; k++)
            to[k * n + i] = from[i * size + k];
}

static inline void unshuffle(const unsigned char *from, int64_t n, int size,
                             unsigned char *to)
{
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < size; k++)
            to[i * size + k] = from[k * n + i];
}

/* Shuffles or unshuffles. Constant sizes make the compiler unroll the inner loops. */
static void turn(bool back, const unsigned char *from, int64_t n, int size,
                 unsigned char *to)
{
    switch (size) {
    case 2:
        back ? unshuffle(from, n, 2, to) : shuffle(from, n, 2, to);
        return;
    case 4:
        back ? unshuffle(from, n, 4, to) : shuffle(from, n, 4, to);
        return;
    case 8:
        back ? unshuffle(from, n, 8, to) : shuffle(from, n, 8, to);
        return;
    default:
        back ? unshuffle(from, n, size, to) : shuffle(from, n, size, to);
    }
}

int64_t subfile_frame_pack(struct base_coder *coder, const unsigned char *values,
                           int64_t n, int size, unsigned char *scratch, unsigned char *to)
{
    if (coder->codec != BASE_CODEC_NONE) {
        turn(false, values, n / size, size, scratch);
        int64_t bytes = base_compress(coder, scratch, n, size, to, n - 1);
        if (bytes > 0) return bytes;
    }
    memcpy(to, values, (size_t)n);
    return n;
}

const char *subfile_frame_unpack(struct base_coder *coder, const struct subfile_chain *c,
                                 int64_t i, uint64_t seed, const unsigned char *from,
                                 unsigned char *scratch, unsigned char *to)
{
    const struct subfile_frame *f = &c->frames[i];
    int64_t n = subfile_frame_values(c, i);
    if (base_can_sum() && base_sum(from, (size_t)f->bytes, seed) != f->sum)
        return "the checksum of a frame is wrong";
    if (f->bytes == n) {
        memcpy(to, from, (size_t)n);
        return NULL;
    }
    if (!base_expand(coder, c->codec, from, f->bytes, scratch, n))
        return base_has_codec(c->codec)
                   ? "a frame cannot be decompressed to the expected number of bytes"
                   : "this library was built without the compression method of a frame";
    turn(true, scratch, n / c->size, c->size, to);
    return NULL;
}
