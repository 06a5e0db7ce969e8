/* Sorts the pieces of a tile by file offset and resolves overlaps, so that each byte of
 * the file is transferred once. Overlapping pieces are copied in memory instead. */
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_segments.h"
#include "access_tile.h"

static int by_order(const void *a, const void *b)
{
    const struct access_copy *p = a, *q = b;
    if (p->order != q->order) return p->order < q->order ? -1 : 1;
    return p->to < q->to ? -1 : p->to > q->to;
}

static int add_copy(struct access_tile *t, struct access_copy c)
{
    void *grown =
        base_grow(t->copies, &t->copies_capacity, t->ncopies + 1, sizeof *t->copies);
    if (grown == NULL) return NC_ENOMEM;
    t->copies = grown;
    t->copies[t->ncopies++] = c;
    return NC_NOERR;
}

/* Handles a piece p that starts before `covered`, the end of the disjoint, ascending
 * owners. Each byte of the overlap remains with its owner. A put copies p's bytes to the
 * owner if p is the later piece; a get copies the owner's bytes to p. */
static int assign_overlap(struct access_tile *t, int64_t nowners,
                          const struct access_piece *p, int64_t covered, bool put)
{
    int64_t end = p->offset + p->length < covered ? p->offset + p->length : covered;
    for (int64_t i = nowners - 1; i >= 0; i--) {
        const struct access_piece *o = &t->pieces[i];
        int64_t low = o->offset > p->offset ? o->offset : p->offset;
        int64_t high = o->offset + o->length < end ? o->offset + o->length : end;
        if (o->offset + o->length <= p->offset) break;
        if (low >= high || (put && o->order > p->order)) continue;
        int64_t owned = o->pos + (low - o->offset), own = p->pos + (low - p->offset);
        int err = add_copy(t, (struct access_copy){.from = put ? own : owned,
                                                   .to = put ? owned : own,
                                                   .length = high - low,
                                                   .order = p->order});
        if (err != NC_NOERR) return err;
    }
    return NC_NOERR;
}

int access_tile_sort(struct access_tile *t, bool put)
{
    /* The sort is stable, so pieces at the same offset remain in the order of requests.
     */
    if (base_segments_sort(t->pieces, t->npieces, sizeof *t->pieces) != NC_NOERR)
        return NC_ENOMEM;
    int64_t kept = 0, covered = t->npieces > 0 ? t->pieces[0].offset : 0;
    for (int64_t i = 0; i < t->npieces; i++) {
        struct access_piece p = t->pieces[i];
        if (p.offset < covered) {
            int err = assign_overlap(t, kept, &p, covered, put);
            if (err != NC_NOERR) return err;
            int64_t cut = covered - p.offset < p.length ? covered - p.offset : p.length;
            p.offset += cut;
            p.pos += cut;
            p.length -= cut;
        }
        if (p.length == 0) continue;
        covered = p.offset + p.length;
        t->pieces[kept++] = p;
    }
    t->npieces = kept;
    if (t->ncopies > 1) qsort(t->copies, (size_t)t->ncopies, sizeof *t->copies, by_order);
    return NC_NOERR;
}

void access_tile_copy_overlaps(struct access_tile *t)
{
    for (int64_t i = 0; i < t->ncopies; i++) {
        const struct access_copy *c = &t->copies[i];
        memcpy(t->bytes + c->to, t->bytes + c->from, (size_t)c->length);
    }
}
