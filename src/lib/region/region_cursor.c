/* Walking a region: a stack with one frame a node on the way down, an odometer in
 * each. The innermost loop of a block is never turned: it is the strip. */
#include "region_tree.h"

#include "base_mem.h"

struct frame {
    const struct region *r;
    int64_t base;   /* where the body's current instance is */
    int64_t item;   /* the current block or child */
    int64_t *index; /* of each of the node's loops; all 0 before and after its walk */
};

/* What is left of the current strip. Not in the order of struct region_strip: copied as
 * vectors, what was just stored as words could not be loaded before it reached the
 * cache, which costs more than all else here. */
struct rest {
    int64_t length, stride;
    int64_t taken; /* bytes of the first run already handed out */
    int64_t count; /* 0: none */
    int64_t offset;
};

struct region_cursor {
    struct rest left;
    int top;               /* the current frame; -1: at the end */
    struct frame frames[]; /* then the counters of all loops on the way */
};

/* Steps to the body's next instance; loops below `from` are not the odometer's. */
static bool turn(struct frame *f, int from)
{
    const struct region *r = f->r;
    for (int k = from; k < r->nloops; k++) {
        const struct region_loop *loop = &r->loops[k];
        if (++f->index[k] < loop->count) {
            f->base += loop->stride;
            return true;
        }
        f->index[k] = 0;
        f->base -= (loop->count - 1) * loop->stride;
    }
    return false;
}

/* Goes down from the top frame's current item to a block, and takes up its strip. */
static void descend(struct region_cursor *c)
{
    struct frame *f = &c->frames[c->top];
    while (f->r->kind == REGION_LIST) {
        const struct region *child = f->r->children[f->item];
        f[1] = (struct frame){.r = child,
                              .base = f->base + child->offset,
                              .index = f->index + f->r->nloops};
        c->top++;
        f++;
    }
    const struct region *r = f->r;
    struct rest *s = &c->left;
    s->count = 1;
    if (r->kind == REGION_BLOCKS) {
        s->offset = f->base + r->blocks[f->item].offset;
        s->stride = s->length = r->blocks[f->item].length;
        return;
    }
    s->offset = f->base;
    s->stride = s->length = r->length;
    if (r->nloops > 0) {
        s->stride = r->loops[0].stride;
        s->count = r->loops[0].count;
    }
}

/* Takes up the next strip; false at the end. */
static bool advance(struct region_cursor *c)
{
    for (; c->top >= 0; c->top--) {
        struct frame *f = &c->frames[c->top];
        bool block = f->r->kind == REGION_BLOCK;
        bool more = !block && ++f->item < f->r->n;
        if (!more) {
            f->item = 0;
            more = turn(f, block ? 1 : 0);
        }
        if (more) {
            descend(c);
            return true;
        }
    }
    return false;
}

struct region_cursor *region_cursor_new(const struct region *r)
{
    size_t frames = (size_t)r->depth * sizeof(struct frame);
    size_t counters = (size_t)r->levels * sizeof(int64_t);
    struct region_cursor *c = base_calloc(1, sizeof *c + frames + counters);
    if (c == NULL) return NULL;
    c->top = -1;
    if (r->bytes == 0) return c;
    c->frames[0] = (struct frame){
        .r = r, .base = r->offset, .index = (int64_t *)(c->frames + r->depth)};
    c->top = 0;
    descend(c);
    return c;
}

void region_cursor_free(struct region_cursor *c)
{
    base_free(c);
}

/* A part of the first run: at its start because it is too long, or its rest. */
static void cut_run(struct region_cursor *c, int64_t max_bytes,
                    struct region_strip *strip)
{
    struct rest *left = &c->left;
    int64_t more = left->length - left->taken;
    int64_t n = more < max_bytes ? more : max_bytes;
    *strip = (struct region_strip){
        .offset = left->offset + left->taken, .length = n, .stride = n, .count = 1};
    left->taken += n;
    if (n < more) return;
    left->taken = 0;
    if (--left->count > 0) left->offset += left->stride;
}

bool region_next(struct region_cursor *c, int64_t max_bytes, int64_t max_runs,
                 struct region_strip *strip)
{
    struct rest *left = &c->left;
    if (left->count == 0 && !advance(c)) return false;
    int64_t length = left->length, count = left->count;
    if (left->taken > 0 || length > max_bytes) {
        cut_run(c, max_bytes, strip);
        return true;
    }
    if (count > max_runs) count = max_runs;
    /* Divides only where it must: most strips fit. */
    if (count * length > max_bytes) count = max_bytes / length;
    strip->offset = left->offset;
    strip->length = length;
    strip->stride = left->stride;
    strip->count = count;
    left->count -= count;
    if (left->count > 0) left->offset += count * left->stride;
    return true;
}

bool region_peek(struct region_cursor *c, int64_t *offset)
{
    if (c->left.count == 0 && !advance(c)) return false;
    *offset = c->left.offset + c->left.taken;
    return true;
}

bool region_next_below(struct region_cursor *c, int64_t limit, int64_t unit,
                       struct region_strip *strip)
{
    struct rest *left = &c->left;
    int64_t at;
    if (!region_peek(c, &at) || at >= limit) return false;
    int64_t room = limit - at, length = left->length;
    if (left->taken > 0 || length > room) {
        cut_run(c, (room + unit - 1) & -unit, strip);
        return true;
    }
    int64_t count = left->count;
    if (count > 1 && (count - 1) * left->stride > room - length)
        count = (room - length) / left->stride + 1;
    *strip = (struct region_strip){
        .offset = at, .length = length, .stride = left->stride, .count = count};
    left->count -= count;
    if (left->count > 0) left->offset += count * left->stride;
    return true;
}

bool region_next_blocks(struct region_cursor *c, int64_t limit, int64_t longest,
                        int64_t max_bytes, struct region_span *span)
{
    struct rest *left = &c->left;
    if (left->count == 0 && !advance(c)) return false;
    struct frame *f = &c->frames[c->top];
    const struct region *r = f->r;
    if (r->kind != REGION_BLOCKS || left->taken > 0) return false;
    const struct region_extent *first = r->blocks + f->item, *b = first,
                               *end = r->blocks + r->n;
    int64_t room = max_bytes;
    limit -= f->base;
    for (; b < end && b->length <= longest && b->length <= room; b++) {
        if (b->offset + b->length > limit) break;
        room -= b->length;
    }
    if (b == first) return false;
    *span = (struct region_span){
        .blocks = first, .n = b - first, .base = f->base, .bytes = max_bytes - room};
    f->item += span->n - 1; /* the last one is current, and done */
    left->count = 0;
    return true;
}

/* How many strips of the current block, this one included, follow each other in one loop
 * and fit: 0 if this one does not, or was begun. */
static int64_t whole_strips(const struct region_cursor *c, int64_t max_bytes)
{
    const struct frame *f = &c->frames[c->top];
    const struct region *r = f->r;
    if (r->kind != REGION_BLOCK || r->nloops < 2) return 0;
    if (c->left.taken > 0 || c->left.count < r->loops[0].count) return 0;
    int64_t more = r->loops[1].count - f->index[1];
    int64_t fit = max_bytes / (c->left.count * c->left.length);
    return more < fit ? more : fit;
}

bool region_next_plane(struct region_cursor *c, int64_t max_bytes,
                       struct region_plane *plane)
{
    if (c->left.count == 0 && !advance(c)) return false;
    int64_t rows = whole_strips(c, max_bytes);
    plane->rows = 1;
    plane->pitch = 0;
    if (!region_next(c, max_bytes, INT64_MAX, &plane->strip)) return false;
    if (rows > 1) {
        struct frame *f = &c->frames[c->top];
        plane->rows = rows;
        plane->pitch = f->r->loops[1].stride;
        f->index[1] += rows - 1;
        f->base += (rows - 1) * plane->pitch;
    }
    return true;
}
