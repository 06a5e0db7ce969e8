/* A tile: a bounded part of a transfer, its external bytes in memory and the pieces of
 * the file they belong to. A stream cuts requests into tiles, in order. */
#ifndef MPIO_TILE_H
#define MPIO_TILE_H

#include "mpio.h"
#include "mpio_values.h"

/* length bytes at `offset` in the file, at `pos` in the tile's memory. */
struct mpio_piece {
    int64_t offset, length, pos, order;
};

/* Bytes of the tile that more than one piece asks for: see mpio_order.c. */
struct mpio_copy {
    int64_t from, to, length, order;
};

/* nelems elements of request `request`, at `pos` in the tile's memory. */
struct mpio_segment {
    int64_t request, nelems, pos;
};

struct mpio_tile {
    unsigned char *bytes; /* external values: staging, or the user's own buffer */
    int64_t used;
    struct mpio_piece *pieces;
    int64_t npieces, pieces_capacity;
    struct mpio_segment *segments;
    int64_t nsegments, segments_capacity;
    struct mpio_copy *copies;
    int64_t ncopies, copies_capacity;
    bool ascending; /* pieces are in the order of the file and do not overlap */
};

/* Zero-initialised and cleared is ready. */
void mpio_tile_clear(struct mpio_tile *t);
void mpio_tile_free(struct mpio_tile *t);

/* Adds a piece behind the tile's last one, joined to it if it continues it in the file
 * and in memory. NC_ENOMEM. */
int mpio_tile_add(struct mpio_tile *t, int64_t offset, int64_t length, int64_t pos);

/* Puts the pieces in the order of the file, each byte of it named once. Where pieces
 * overlap, a put writes what the last of them says; a get reads once and copies.
 * mpio_tile_share makes the copies: after packing, or after reading. NC_ENOMEM. */
int mpio_tile_sort(struct mpio_tile *t, bool put);
void mpio_tile_share(struct mpio_tile *t);

/* Transfers the (sorted) tile between its memory and the file: each process its own
 * pieces, one by one, or all processes together through a file view. Local result. */
int mpio_tile_write(struct mpio *m, const struct mpio_tile *t);
int mpio_tile_read(struct mpio *m, const struct mpio_tile *t);
int mpio_tile_view_all(struct mpio *m, const struct mpio_tile *t, bool put);

/* Requests on their way to or from tiles. The file side runs ahead of the memory side. */
struct mpio_stream {
    struct mpio *m;
    struct access_request *const *reqs;
    int64_t n;
    bool put;

    int64_t file_request;  /* whose pieces come next */
    struct region *region; /* made for it; NULL if the request brought its own */
    int64_t shift;         /* of the region's offsets */
    struct region_cursor *file_cursor;

    struct mpio_values values; /* of the request whose values come next */
};

void mpio_stream_free(struct mpio_stream *s);

/* Is everything planned? */
bool mpio_stream_ended(const struct mpio_stream *s);

/* Plans on: adds to the tile what comes next, until it has max_bytes (8 at least) or
 * about max_pieces. NC_ENOMEM, NC_EINTOVERFLOW. */
int mpio_stream_plan(struct mpio_stream *s, struct mpio_tile *t, int64_t max_bytes,
                     int64_t max_pieces);

/* Ends the planning of a tile: sorts its pieces and gives it memory. NC_ENOMEM. */
int mpio_stream_settle(struct mpio_stream *s, struct mpio_tile *t);

/* Moves the planned tile's values from the users' buffers into it, or to them.
 * Each request's status takes its own result; returns the first bad one. */
int mpio_stream_pack(struct mpio_stream *s, struct mpio_tile *t);
int mpio_stream_unpack(struct mpio_stream *s, struct mpio_tile *t);

#endif
