/* Traverses a region. A cursor is a stack with one frame for each node on the path down
 * the tree. Each frame counts the iterations of its node's loops like an odometer. The
 * innermost loop of a block is never counted: it becomes the strip. Seeking computes the
 * counters directly. */
#include "region_tree.h"

#include <string.h>

#include "base_mem.h"

struct frame {
    const struct region *r;
    int64_t base;   /* offset of the body's current instance */
    int64_t item;   /* index of the current block or child */
    int64_t *index; /* iteration of each loop; all are 0 before and after the traversal */
};

/* The rest of the current strip. The order of its members deliberately differs from that
 * of struct region_strip: if the compiler copied the members as vectors, loads of words
 * that were just stored would stall, which would cost more than everything else here. */
struct rest {
    int64_t length, stride;
    int64_t taken; /* number of bytes already returned from the first run */
    int64_t count; /* 0 if none */
    int64_t offset;
};

struct region_cursor {
    struct rest left;
    int top;               /* index of the current frame; -1 at the end */
    struct frame frames[]; /* the region's own frame first; the frames are followed by the
                            * counters of all loops */
};

/* Moves to the body's next instance without changing loops below `from`. Returns false at
 * the end. */
static bool advance_instance(struct frame *f, int from)
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

/* Pushes and returns a frame for the top frame's current item, which is a child
 * region. */
static struct frame *enter_child(struct region_cursor *c)
{
    struct frame *f = &c->frames[c->top++];
    const struct region *child = f->r->children[f->item];
    f[1] = (struct frame){
        .r = child, .base = f->base + child->offset, .index = f->index + f->r->nloops};
    return f + 1;
}

/* Descends from the top frame's current item to a block and loads its strip. */
static void descend(struct region_cursor *c)
{
    const struct frame *f = &c->frames[c->top];
    while (f->r->kind == REGION_LIST)
        f = enter_child(c);
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

/* Loads the next strip. Returns false at the end. */
static bool advance(struct region_cursor *c)
{
    for (; c->top >= 0; c->top--) {
        struct frame *f = &c->frames[c->top];
        bool block = f->r->kind == REGION_BLOCK;
        bool more = !block && ++f->item < f->r->n;
        if (!more) {
            f->item = 0;
            more = advance_instance(f, block ? 1 : 0);
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
    c->frames[0] = (struct frame){
        .r = r, .base = r->offset, .index = (int64_t *)(c->frames + r->depth)};
    c->top = r->bytes == 0 ? -1 : 0;
    if (c->top == 0) descend(c);
    return c;
}

void region_cursor_free(struct region_cursor *c)
{
    base_free(c);
}

/* Returns a part of the first run: the start of a run that is too long, or its rest. */
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
    /* Most strips fit, so this avoids the division. */
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
    f->item += span->n - 1; /* the last strip stays current but has been returned */
    left->count = 0;
    return true;
}

/* Returns the number of the current block's strips, from this one on, that are
 * consecutive in one loop and fit; 0 if this one does not fit or was partly returned. */
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

/* ---- seeking ---- */

/* Returns the number of bytes in one instance of the body. */
static int64_t body_bytes(const struct region *r)
{
    if (r->kind == REGION_BLOCK) return r->length;
    int64_t turns = 1;
    for (int k = 0; k < r->nloops; k++)
        turns *= r->loops[k].count;
    return turns == 1 ? r->bytes : r->bytes / turns;
}

/* Returns the number of bytes in the body before entry i of a list. */
static int64_t bytes_before(const struct region *r, int64_t i)
{
    int64_t bytes = 0, from = 0;
    if (r->marks != NULL) {
        bytes = r->marks[i / REGION_MARK_EVERY];
        from = i - i % REGION_MARK_EVERY;
    }
    for (; from < i; from++)
        bytes += region_entry_bytes(r, from);
    return bytes;
}

/* Returns the list entry that contains byte number *rank of the body, and sets *rank to
 * the byte's number in the entry. */
static int64_t entry_of(const struct region *r, int64_t *rank)
{
    int64_t i = 0;
    if (r->marks != NULL) {
        int64_t low = 0, high = (r->n - 1) / REGION_MARK_EVERY;
        while (low < high) {
            int64_t middle = high - (high - low) / 2;
            if (r->marks[middle] <= *rank)
                low = middle;
            else
                high = middle - 1;
        }
        i = low * REGION_MARK_EVERY;
        *rank -= r->marks[low];
    }
    for (int64_t bytes; *rank >= (bytes = region_entry_bytes(r, i)); i++)
        *rank -= bytes;
    return i;
}

/* Moves to the body's n-th instance without changing loops below `from`. */
static void seek_instance(struct frame *f, int from, int64_t n)
{
    const struct region *r = f->r;
    for (int k = from; n > 0; k++) {
        int64_t count = r->loops[k].count;
        f->index[k] = n < count ? n : n % count;
        f->base += f->index[k] * r->loops[k].stride;
        n = n < count ? 0 : n / count;
    }
}

/* Loads the strip of the top frame's current block, positioned at byte `taken` of run
 * number `run`. Runs are counted over all loops around the block. */
static void load_strip_at(struct region_cursor *c, int64_t run, int64_t taken)
{
    struct frame *f = &c->frames[c->top];
    if (run > 0) {
        int64_t strip = f->r->loops[0].count;
        seek_instance(f, 1, run / strip);
        run %= strip;
    }
    descend(c);
    c->left.count -= run;
    c->left.offset += run * c->left.stride;
    c->left.taken = taken;
}

/* Resets the cursor to the region's beginning (top 0) or end (top -1). */
static struct frame *restart(struct region_cursor *c, int top)
{
    struct frame *f = &c->frames[0];
    memset(f->index, 0, (size_t)f->r->levels * sizeof f->index[0]);
    f->base = f->r->offset;
    f->item = 0;
    c->left = (struct rest){.count = 0};
    c->top = top;
    return f;
}

bool region_skip_to(struct region_cursor *c, int64_t rank)
{
    const struct region *r = c->frames[0].r;
    if (rank < 0 || rank > r->bytes) return false;
    struct frame *f = restart(c, rank == r->bytes ? -1 : 0);
    if (rank == r->bytes) return true;
    for (;; f = enter_child(c)) {
        int64_t body = body_bytes(f->r), instance = rank / body;
        rank %= body;
        if (f->r->kind != REGION_BLOCK) {
            seek_instance(f, 0, instance);
            f->item = entry_of(f->r, &rank);
            instance = 0;
        }
        if (f->r->kind == REGION_LIST) continue;
        load_strip_at(c, instance, rank);
        return true;
    }
}

/* A part of an ascending region, and the distance of the sought offset from its first
 * byte. The distance is less than the part's extent. Distances are unsigned, because they
 * may exceed INT64_MAX. */
struct seek_target {
    const struct region *r;
    uint64_t distance;
};

/* Returns the instance of the body that contains the sought offset, and makes the
 * distance relative to it. If the offset is in a gap, returns the next instance with
 * distance 0.
 *
 * A loop's stride is at least the extent of one iteration (region_is_ascending), so
 * iterations do not interleave, and division finds the iteration that contains the
 * offset. If the offset is in a gap, there is a next iteration, because the offset is
 * before the end of the last iteration. */
static int64_t instance_at(struct seek_target *s)
{
    const struct region *r = s->r;
    uint64_t extent = (uint64_t)r->high - (uint64_t)r->low;
    int64_t instance = 0;
    for (int k = r->nloops - 1; k >= 0; k--) {
        uint64_t stride = (uint64_t)r->loops[k].stride;
        uint64_t turn = s->distance / stride;
        extent -= (uint64_t)(r->loops[k].count - 1) * stride;
        s->distance -= turn * stride;
        if (s->distance >= extent) {
            turn++;
            s->distance = 0;
        }
        instance = instance * r->loops[k].count + (int64_t)turn;
    }
    return instance;
}

/* Returns the first byte of entry i of a list. */
static uint64_t entry_begin(const struct region *r, int64_t i)
{
    return (uint64_t)(r->kind == REGION_BLOCKS ? r->blocks[i].offset
                                               : r->children[i]->low);
}

/* Same as instance_at, but for list entries; none begins before the previous one ends. */
static int64_t entry_at(struct seek_target *s)
{
    const struct region *r = s->r;
    uint64_t first = entry_begin(r, 0);
    int64_t low = 0, high = r->n - 1;
    while (low < high) {
        int64_t middle = high - (high - low) / 2;
        if (entry_begin(r, middle) - first <= s->distance)
            low = middle;
        else
            high = middle - 1;
    }
    s->distance -= entry_begin(r, low) - first;
    uint64_t end = (uint64_t)(r->kind == REGION_BLOCKS
                                  ? r->blocks[low].offset + r->blocks[low].length
                                  : r->children[low]->high);
    if (s->distance < end - entry_begin(r, low)) return low;
    s->distance = 0;
    return low + 1;
}

/* Seeks to an offset after the region's first byte and before its end. */
static int64_t seek_inside(struct region_cursor *c, uint64_t distance)
{
    struct frame *f = restart(c, 0);
    struct seek_target s = {.r = f->r, .distance = distance};
    int64_t rank = 0;
    for (;; f = enter_child(c), s.r = f->r) {
        int64_t instance = instance_at(&s);
        rank += instance * body_bytes(s.r);
        if (s.r->kind != REGION_BLOCK) {
            seek_instance(f, 0, instance);
            f->item = entry_at(&s);
            rank += bytes_before(s.r, f->item);
            instance = 0;
        }
        if (s.r->kind == REGION_LIST) continue;
        load_strip_at(c, instance, (int64_t)s.distance);
        return rank + (int64_t)s.distance;
    }
}

int64_t region_seek(struct region_cursor *c, int64_t offset)
{
    const struct region *r = c->frames[0].r;
    if (offset > r->low && offset < r->high)
        return seek_inside(c, (uint64_t)offset - (uint64_t)r->low);
    int64_t rank = offset <= r->low ? 0 : r->bytes;
    region_skip_to(c, rank);
    return rank;
}
