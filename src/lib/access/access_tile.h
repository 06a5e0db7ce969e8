/* A tile is a part of a transfer, of limited size: its external bytes in memory, and the
 * pieces of the file to which they belong. A stream cuts requests into tiles. */
#ifndef ACCESS_TILE_H
#define ACCESS_TILE_H

#include "access_runs.h"
#include "access_values.h"

/* A piece: `length` bytes at `offset` in the file and at `pos` in the tile's memory. */
struct access_piece {
    int64_t offset, length, pos, order;
};

/* Bytes that belong to more than one piece (see access_order.c). */
struct access_copy {
    int64_t from, to, length, order;
};

/* `nelems` elements of request number `request`, at `pos` in the tile's memory. */
struct access_segment {
    int64_t request, nelems, pos;
};

struct access_tile {
    unsigned char *bytes; /* external values: in staging or in the user's buffer */
    int64_t used;
    struct access_piece *pieces;
    int64_t npieces, pieces_capacity;
    struct access_segment *segments;
    int64_t nsegments, segments_capacity;
    struct access_copy *copies;
    int64_t ncopies, copies_capacity;
    bool ascending; /* the pieces ascend in the file and do not overlap */
};

/* A tile must be zero-initialized and cleared before use. */
void access_tile_clear(struct access_tile *t);
void access_tile_free(struct access_tile *t);

/* Appends a piece, or extends the last one if it is contiguous in the file and in memory.
 * NC_ENOMEM. */
int access_tile_add(struct access_tile *t, int64_t offset, int64_t length, int64_t pos);

/* Sorts the pieces by offset and removes overlaps. Where pieces overlap, a put writes the
 * values of the last piece, and a get reads the bytes once and copies them.
 * access_tile_copy_overlaps makes these copies, after packing or reading. NC_ENOMEM. */
int access_tile_sort(struct access_tile *t, bool put);
void access_tile_copy_overlaps(struct access_tile *t);

/* Memory for staged values, reused from one tile to the next. */
struct access_staging {
    unsigned char *bytes;
    size_t size;
    int64_t *most, *copied; /* counters: largest size so far, and number of bytes
                             * staged */
};

/* Grows the memory to at least `size` bytes. Its contents are lost. NC_ENOMEM. */
int access_staging_reserve(struct access_staging *s, size_t size);
void access_staging_free(struct access_staging *s);

/* Cuts requests into tiles. The file side may be ahead of the memory side. */
struct access_stream {
    const struct cdf_header *header;
    struct access_staging *staging;
    struct access_request *const *reqs;
    int64_t n;
    bool put;

    int64_t file_request; /* request whose pieces are planned next */
    bool opened;
    struct access_runs runs; /* runs of that request, if `opened` */

    struct access_values values; /* values of the request on the memory side */
};

void access_stream_free(struct access_stream *s);

/* Returns whether all requests have been planned. */
static inline bool access_stream_ended(const struct access_stream *s)
{
    return s->file_request == s->n;
}

/* Adds the next pieces to the tile until it has max_bytes (at least 8) or about
 * max_pieces. NC_ENOMEM, NC_EINTOVERFLOW. */
int access_stream_plan(struct access_stream *s, struct access_tile *t, int64_t max_bytes,
                       int64_t max_pieces);

/* Completes the plan of a tile: sorts its pieces and assigns memory. NC_ENOMEM. */
int access_stream_finish_plan(struct access_stream *s, struct access_tile *t);

/* Move the planned tile's values from the user's buffers to the tile, or back. Set each
 * request's status; return the first error. */
int access_stream_pack(struct access_stream *s, struct access_tile *t);
int access_stream_unpack(struct access_stream *s, struct access_tile *t);

#endif
