/* A thread's writes to the file: values from the log into staging memory, as they are in
 * the file; then few large writes. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base_error.h"
#include "base_mem.h"
#include "burst_pool.h"

/* length bytes at `offset` of the file, at `pos` of the staging memory. */
struct part {
    int64_t offset, length, pos;
};

struct stage {
    struct burst_work *t;
    struct part *parts;
    int64_t n, capacity, used;
};

static int by_offset(const void *a, const void *b)
{
    const struct part *p = a, *q = b;
    if (p->offset != q->offset) return p->offset < q->offset ? -1 : 1;
    return p->pos < q->pos ? -1 : p->pos > q->pos;
}

static int by_pos(const void *a, const void *b)
{
    const struct part *p = a, *q = b;
    return p->pos < q->pos ? -1 : p->pos > q->pos;
}

static int add_part(struct stage *s, int64_t offset, int64_t length)
{
    if (s->n > 0) {
        struct part *last = &s->parts[s->n - 1];
        if (last->offset + last->length == offset &&
            last->pos + last->length == s->used) {
            last->length += length;
            s->used += length;
            return NC_NOERR;
        }
    }
    if (s->n == s->capacity) {
        int64_t capacity = s->capacity * 2 + 256;
        void *grown = base_realloc(s->parts, (size_t)capacity * sizeof *s->parts);
        if (grown == NULL) return NC_ENOMEM;
        s->parts = grown;
        s->capacity = capacity;
    }
    s->parts[s->n++] = (struct part){offset, length, s->used};
    s->used += length;
    return NC_NOERR;
}

/* Not faster than the hint allows, unless somebody waits. */
static void slow_down(const struct burst_pool *p, int64_t bytes)
{
    int64_t most = p->b->base.ds->hints.burst_bandwidth;
    if (most <= 0) return;
    int64_t nanoseconds = (int64_t)((double)bytes / (double)most * 1e9);
    const struct timespec step = {0, 10000000};
    for (; nanoseconds > 0 && !p->paused && !p->stop; nanoseconds -= step.tv_nsec)
        nanosleep(&step, NULL);
}

/* Parts i and so on that follow each other in the file: with one call. */
static int write_chain(const struct stage *s, int64_t i, int64_t *next)
{
    enum { MOST = 1024 };
    struct iovec pieces[MOST];
    int n = 0;
    int64_t at = s->parts[i].offset, end = at;
    while (i < s->n && n < MOST && s->parts[i].offset == end) {
        pieces[n++] =
            (struct iovec){s->t->staging + s->parts[i].pos, (size_t)s->parts[i].length};
        end += s->parts[i++].length;
    }
    *next = i;
    return burst_write_file(s->t->pool->fd, at, pieces, n, s->t->pool->b->base.ds->path);
}

/* Writes what is staged: in the order of the file, or as it came where parts overlap. */
static int flush(struct stage *s)
{
    int err = NC_NOERR;
    if (s->n == 0) return NC_NOERR;
    qsort(s->parts, (size_t)s->n, sizeof *s->parts, by_offset);
    for (int64_t i = 1; i < s->n; i++)
        if (s->parts[i].offset < s->parts[i - 1].offset + s->parts[i - 1].length) {
            qsort(s->parts, (size_t)s->n, sizeof *s->parts, by_pos);
            break;
        }
    for (int64_t i = 0; i < s->n && err == NC_NOERR;)
        err = write_chain(s, i, &i);
    slow_down(s->t->pool, s->used);
    s->n = s->used = 0;
    return err;
}

/* Elements [from, from + n) of a write, as they are in the file. */
static int stage_values(const struct burst *b, const struct burst_write *w, int64_t from,
                        int64_t n, unsigned char *to)
{
    enum { STEP = 4096 };
    unsigned char native[STEP * 8], fill[8];
    const struct cdf_header *h = &b->base.ds->header;
    int type = h->vars[w->varid].type;
    int64_t size = cdf_type_size(type);
    if (w->flags & BURST_FILL) {
        cdf_fill_value(h, w->varid, fill);
        conv_fill(to, fill, (int)size, (size_t)n);
        return NC_NOERR;
    }
    for (int64_t at = 0; at < n; at += STEP) {
        int64_t m = n - at < STEP ? n - at : STEP;
        int err = burst_read_values(b, w, from + at, m, native);
        if (err != NC_NOERR) return err;
        conv_put(to + at * size, type, native, (enum conv_type)w->type, (size_t)m,
                 native);
    }
    return NC_NOERR;
}

/* All of a write, run after run. */
static int stage_write(struct stage *s, const struct burst_write *w)
{
    const struct burst *b = s->t->pool->b;
    int64_t size = cdf_type_size(b->base.ds->header.vars[w->varid].type), done = 0;
    struct region *region = burst_region(&b->base.ds->header, w);
    struct region_cursor *c = region == NULL ? NULL : region_cursor_new(region);
    int err = c == NULL ? NC_ENOMEM : NC_NOERR;
    while (done < w->nelems && err == NC_NOERR) {
        int64_t room = (BURST_STAGING - s->used) / size * size, from = s->used;
        struct region_strip strip = {0};
        if (room < 4096 || s->n > 1 << 16) {
            err = flush(s);
            continue;
        }
        if (!region_next(c, room, 1 << 16, &strip)) break;
        for (int64_t i = 0; i < strip.count && err == NC_NOERR; i++)
            err = add_part(s, strip.offset + i * strip.stride, strip.length);
        int64_t n = strip.length * strip.count / size;
        if (err == NC_NOERR) err = stage_values(b, w, done, n, s->t->staging + from);
        done += n;
    }
    region_cursor_free(c);
    region_free(region);
    return err;
}

int burst_work_write(struct burst_work *t)
{
    struct stage s = {.t = t};
    int err = NC_NOERR;
    for (int i = 0; i < t->n && err == NC_NOERR; i++)
        err = stage_write(&s, t->writes[i]);
    if (err == NC_NOERR) err = flush(&s);
    base_free(s.parts);
    return err;
}
