/* A tile: a bounded part of a transfer, its external bytes in memory and the pieces of
 * the file they belong to. A stream cuts requests into tiles, in order. */
#ifndef ACCESS_TILE_H
#define ACCESS_TILE_H

#include "access_runs.h"
#include "access_values.h"

/* length bytes at `offset` in the file, at `pos` in the tile's memory. */
struct access_piece {
    int64_t offset, length, pos, order;
};

/* Bytes of the tile that more than one piece asks for: see access_order.c. */
struct access_copy {
    int64_t from, to, length, order;
};

/* nelems elements of request `request`, at `pos` in the tile's memory. */
struct access_segment {
    int64_t request, nelems, pos;
};

struct access_tile {
    unsigned char *bytes; /* external values: staging, or the user's own buffer */
    int64_t used;
    struct access_piece *pieces;
    int64_t npieces, pieces_capacity;
    struct access_segment *segments;
    int64_t nsegments, segments_capacity;
    struct access_copy *copies;
    int64_t ncopies, copies_capacity;
    bool ascending; /* pieces are in the order of the file and do not overlap */
};

/* Zero-initialised and cleared is ready. */
void access_tile_clear(struct access_tile *t);
void access_tile_free(struct access_tile *t);

/* Adds a piece behind the tile's last one, joined to it if it continues it in the file
 * and in memory. NC_ENOMEM. */
int access_tile_add(struct access_tile *t, int64_t offset, int64_t length, int64_t pos);

/* Puts the pieces in the order of the file, each byte of it named once. Where pieces
 * overlap, a put writes what the last of them says; a get reads once and copies.
 * access_tile_share makes the copies: after packing, or after reading. NC_ENOMEM. */
int access_tile_sort(struct access_tile *t, bool put);
void access_tile_share(struct access_tile *t);

/* Memory for values on their way, kept from one tile to the next. */
struct access_staging {
    unsigned char *bytes;
    size_t size;
    int64_t *most, *copied; /* counters: the largest it was, the bytes that came here */
};

/* At least `size` bytes; what was there is lost. NC_ENOMEM. */
int access_staging_make(struct access_staging *s, size_t size);
void access_staging_free(struct access_staging *s);

/* Requests on their way to or from tiles. The file side runs ahead of the memory side. */
struct access_stream {
    const struct cdf_header *header;
    struct access_staging *staging;
    struct access_request *const *reqs;
    int64_t n;
    bool put;

    int64_t file_request; /* whose pieces come next */
    bool opened;
    struct access_runs runs; /* its, once it has been opened */

    struct access_values values; /* of the request whose values come next */
};

void access_stream_free(struct access_stream *s);

/* Is everything planned? */
static inline bool access_stream_ended(const struct access_stream *s)
{
    return s->file_request == s->n;
}

/* Plans on: adds to the tile what comes next, until it has max_bytes (8 at least) or
 * about max_pieces. NC_ENOMEM, NC_EINTOVERFLOW. */
int access_stream_plan(struct access_stream *s, struct access_tile *t, int64_t max_bytes,
                       int64_t max_pieces);

/* Ends the planning of a tile: sorts its pieces and gives it memory. NC_ENOMEM. */
int access_stream_settle(struct access_stream *s, struct access_tile *t);

/* Moves the planned tile's values from the users' buffers into it, or to them.
 * Each request's status takes its own result; returns the first bad one. */
int access_stream_pack(struct access_stream *s, struct access_tile *t);
int access_stream_unpack(struct access_stream *s, struct access_tile *t);

#endif
