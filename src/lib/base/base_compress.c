/* Compresses and decompresses with zstd and LZ4. */
#include "base_compress.h"

#include <stddef.h>

#include "config.h"
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif

bool base_has_codec(int codec)
{
#ifdef HAVE_ZSTD
    if (codec == BASE_CODEC_ZSTD) return true;
#endif
#ifdef HAVE_LZ4
    if (codec == BASE_CODEC_LZ4) return true;
#endif
    return codec == BASE_CODEC_NONE;
}

#ifdef HAVE_ZSTD

/* Writes one zstd frame with a block boundary after each plane, so that each plane has
 * its own code table and planes of noise are stored uncompressed. */
static int64_t compress_zstd(struct base_coder *c, const void *from, int64_t n,
                             int planes, void *to, int64_t most)
{
    if (c->compressing == NULL) c->compressing = ZSTD_createCCtx();
    if (c->compressing == NULL) return 0;
    (void)ZSTD_CCtx_reset(c->compressing, ZSTD_reset_session_only);
    (void)ZSTD_CCtx_setParameter(c->compressing, ZSTD_c_compressionLevel, c->level);
    (void)ZSTD_CCtx_setPledgedSrcSize(c->compressing, (unsigned long long)n);
    ZSTD_outBuffer out = {to, (size_t)most, 0};
    ZSTD_inBuffer in = {from, 0, 0};
    for (int i = 1; i <= planes; i++) {
        bool last = i == planes;
        in.size = last ? (size_t)n : (size_t)(n / planes * i);
        size_t left = ZSTD_compressStream2(c->compressing, &out, &in,
                                           last ? ZSTD_e_end : ZSTD_e_flush);
        if (left != 0) return 0; /* an error, or the output does not fit */
    }
    return (int64_t)out.pos;
}

static bool expand_zstd(struct base_coder *c, const void *from, int64_t bytes, void *to,
                        int64_t n)
{
    if (c->expanding == NULL) c->expanding = ZSTD_createDCtx();
    if (c->expanding == NULL) return false;
    return ZSTD_decompressDCtx(c->expanding, to, (size_t)n, from, (size_t)bytes) ==
           (size_t)n;
}

#endif

void base_coder_end(struct base_coder *c)
{
#ifdef HAVE_ZSTD
    (void)ZSTD_freeCCtx(c->compressing);
    (void)ZSTD_freeDCtx(c->expanding);
#endif
    c->compressing = c->expanding = NULL;
}

int64_t base_compress(struct base_coder *c, const void *from, int64_t n, int planes,
                      void *to, int64_t most)
{
    (void)planes, (void)from, (void)n, (void)to, (void)most;
    switch (c->codec) {
#ifdef HAVE_ZSTD
    case BASE_CODEC_ZSTD:
        return compress_zstd(c, from, n, planes, to, most);
#endif
#ifdef HAVE_LZ4
    case BASE_CODEC_LZ4:
        return LZ4_compress_default(from, to, (int)n, (int)most);
#endif
    default:
        return 0;
    }
}

bool base_expand(struct base_coder *c, int codec, const void *from, int64_t bytes,
                 void *to, int64_t n)
{
    (void)c, (void)from, (void)bytes, (void)to, (void)n;
    switch (codec) {
#ifdef HAVE_ZSTD
    case BASE_CODEC_ZSTD:
        return expand_zstd(c, from, bytes, to, n);
#endif
#ifdef HAVE_LZ4
    case BASE_CODEC_LZ4:
        return LZ4_decompress_safe(from, to, (int)bytes, (int)n) == n;
#endif
    default:
        return false;
    }
}
