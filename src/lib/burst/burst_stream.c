/* Finds and reads the streams of a version 0 log; burst_stream.h describes them. */
#include "burst_stream.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_names.h"

enum { BLOCK = 8 << 20, MOST_STREAMS = 1 << 17 };

int64_t burst_stream_place(int64_t n, int64_t s, int64_t at, int64_t *run)
{
    *run = n == 1 ? INT64_MAX : BLOCK - at % BLOCK;
    return (at / BLOCK * n + s) * BLOCK + at % BLOCK;
}

bool burst_stream_copy(const unsigned char *meta, size_t size, int64_t n, int64_t s,
                       int64_t at, void *bytes, int64_t length)
{
    unsigned char *to = bytes;
    if (at < 0 || at > (int64_t)size)
        return false; /* no stream is longer than the file */
    for (int64_t part; length > 0; length -= part) {
        int64_t run, place = burst_stream_place(n, s, at, &run);
        part = length < run ? length : run;
        if (place > (int64_t)size || part > (int64_t)size - place) return false;
        memcpy(to, meta + place, (size_t)part);
        to += part;
        at += part;
    }
    return true;
}

/* Decodes the header at the start of block s. Returns false if there is no header of the
 * same opening, because in an unshared log the block may contain entries. */
static bool has_header(const unsigned char *meta, size_t size, int64_t s,
                       const struct burst_header *first, struct burst_header *h)
{
    static const char magic[] = "PnetCDF0CDF";
    int64_t at = s * BLOCK;
    size_t length = sizeof magic - 1;
    if (at > (int64_t)size - (int64_t)length || memcmp(meta + at, magic, length) != 0)
        return false;
    size_t most = size - (size_t)at < BLOCK ? size - (size_t)at : BLOCK;
    return burst_decode_header(h, meta + at, most) == NC_NOERR && h->as_written &&
           h->num_ranks == first->num_ranks && strcmp(h->path, first->path) == 0;
}

static int add_stream(struct burst_stream **all, int64_t *n, int64_t *capacity,
                      const struct burst_header *h)
{
    void *grown = base_grow(*all, capacity, *n + 1, sizeof **all);
    if (grown == NULL) return NC_ENOMEM;
    *all = grown;
    (*all)[(*n)++] = (struct burst_stream){h->rank_id, h->num_entries, h->entry_begin};
    return NC_NOERR;
}

int burst_find_streams(const unsigned char *meta, size_t size,
                       const struct burst_header *first, struct burst_stream **streams,
                       int64_t *n)
{
    struct burst_header *h = base_malloc(sizeof *h);
    int64_t capacity = 0, most = first->as_written ? first->num_ranks : 1;
    if (most > MOST_STREAMS) most = MOST_STREAMS;
    *n = 0;
    int err = h == NULL ? NC_ENOMEM : add_stream(streams, n, &capacity, first);
    for (int64_t s = 1; err == NC_NOERR && s < most && s * BLOCK < (int64_t)size; s++) {
        if (!has_header(meta, size, s, first, h)) continue;
        if (s > *n) /* the blocks in between are damaged */
            err = base_error_set(NC_EBADLOG,
                                 "the header of a process at byte %lld is corrupt or "
                                 "belongs to another log",
                                 (long long)(*n * BLOCK));
        else
            err = add_stream(streams, n, &capacity, h);
    }
    base_free(h);
    return err;
}

uint64_t burst_stream_token(const struct burst_header *h, const char *meta_path)
{
    const char *slash = strrchr(meta_path, '/');
    const char *name = slash == NULL ? meta_path : slash + 1;
    const char *rank = strrchr(name, '_');
    const char *dataset = h->path[0] != '\0' ? h->path : h->basename;
    size_t length = rank == NULL ? strlen(name) : (size_t)(rank - name);
    uint64_t token = base_hash(dataset, strlen(dataset), (uint64_t)h->num_ranks);
    token = base_hash(name, length, token) >> 1; /* below 2^63, as in version 1 */
    return token == 0 ? 1 : token;
}
