/* The list of pieces of a tile, and staging memory. */
#include "access_tile.h"

#include "base_error.h"
#include "base_mem.h"

void access_tile_clear(struct access_tile *t)
{
    t->used = t->npieces = t->nsegments = t->ncopies = 0;
    t->ascending = true;
}

void access_tile_free(struct access_tile *t)
{
    base_free(t->pieces);
    base_free(t->segments);
    base_free(t->copies);
    *t = (struct access_tile){0};
}

int access_tile_add(struct access_tile *t, int64_t offset, int64_t length, int64_t pos)
{
    if (t->npieces > 0) {
        struct access_piece *last = &t->pieces[t->npieces - 1];
        int64_t end = last->offset + last->length;
        if (end == offset && last->pos + last->length == pos) {
            last->length += length;
            return NC_NOERR;
        }
        if (offset < end) t->ascending = false;
    }
    void *grown =
        base_grow(t->pieces, &t->pieces_capacity, t->npieces + 1, sizeof *t->pieces);
    if (grown == NULL) return NC_ENOMEM;
    t->pieces = grown;
    t->pieces[t->npieces] = (struct access_piece){
        .offset = offset, .length = length, .pos = pos, .order = t->npieces};
    t->npieces++;
    return NC_NOERR;
}

/* ---- staging ---- */

int access_staging_reserve(struct access_staging *s, size_t size)
{
    if (size <= s->size) return NC_NOERR;
    access_staging_free(s);
    s->bytes = base_malloc(size);
    if (s->bytes == NULL) return NC_ENOMEM;
    s->size = size;
    if ((int64_t)size > *s->most) *s->most = (int64_t)size;
    return NC_NOERR;
}

void access_staging_free(struct access_staging *s)
{
    base_free(s->bytes);
    s->bytes = NULL;
    s->size = 0;
}
