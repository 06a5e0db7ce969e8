/* A thread's writes to the file: values from the log into staging memory, as they are in
 * the file; then few large writes. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base_error.h"
#include "base_io.h"
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
    int64_t ahead_from, ahead_to; /* bytes of the log that were read last */
};

static int by_part_offset(const void *a, const void *b)
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

static int add_staged_part(struct stage *s, int64_t offset, int64_t length)
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
    void *grown = base_grow(s->parts, &s->capacity, s->n + 1, sizeof *s->parts);
    if (grown == NULL) return NC_ENOMEM;
    s->parts = grown;
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
    for (; nanoseconds > 0 && !p->paused && !p->worker.stop; nanoseconds -= step.tv_nsec)
        nanosleep(&step, NULL);
}

/* Parts i and so on that follow each other in the file: with one call. */
static int write_part_chain(const struct stage *s, int64_t i, int64_t *next)
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
    return base_write_pieces(s->t->pool->b->file.fd, at, pieces, n,
                             s->t->pool->b->base.ds->path);
}

/* Writes what is staged: in the order of the file, or as it came where parts overlap. */
static int flush_stage(struct stage *s)
{
    int err = NC_NOERR;
    if (s->n == 0) return NC_NOERR;
    qsort(s->parts, (size_t)s->n, sizeof *s->parts, by_part_offset);
    for (int64_t i = 1; i < s->n; i++)
        if (s->parts[i].offset < s->parts[i - 1].offset + s->parts[i - 1].length) {
            qsort(s->parts, (size_t)s->n, sizeof *s->parts, by_pos);
            break;
        }
    for (int64_t i = 0; i < s->n && err == NC_NOERR;)
        err = write_part_chain(s, i, &i);
    slow_down(s->t->pool, s->used);
    s->n = s->used = 0;
    return err;
}

/* How far the values of the i-th write, and of those behind it, go on in the log. */
static int64_t end_of_stretch(const struct burst_work *t, int i, int64_t enough)
{
    int64_t end = t->writes[i]->data_off + burst_bytes(t->writes[i]);
    while (++i < t->n && end < enough) {
        int64_t bytes = burst_bytes(t->writes[i]);
        if (bytes > 0 && t->writes[i]->data_off != end) break;
        end += bytes;
    }
    return end < enough ? end : enough;
}

/* n bytes of the i-th write's values in the log, at most BURST_AHEAD. What follows them
 * there is read with them: many small writes take one system call. */
static int read_values(struct stage *s, int i, int64_t at, int64_t n,
                       const unsigned char **bytes)
{
    struct burst_work *t = s->t;
    if (at < s->ahead_from || at + n > s->ahead_to) {
        int64_t to = end_of_stretch(t, i, at + BURST_AHEAD);
        s->ahead_from = s->ahead_to = 0;
        int err = burst_log_read(&t->pool->b->log, at, t->ahead, to - at);
        if (err != NC_NOERR) return err;
        s->ahead_from = at;
        s->ahead_to = to;
    }
    *bytes = t->ahead + (at - s->ahead_from);
    return NC_NOERR;
}

/* Elements [from, from + n) of the i-th write, as they are in the file. */
static int stage_values(struct stage *s, int i, int64_t from, int64_t n,
                        unsigned char *to)
{
    const struct burst_write *w = s->t->writes[i];
    const unsigned char *values;
    int type = s->t->pool->header.vars[w->varid].type;
    int64_t size = cdf_type_size(type), own = conv_size((enum conv_type)w->type);
    if (w->flags & BURST_FILL) {
        conv_fill(to, w->fill, (int)size, (size_t)n);
        return NC_NOERR;
    }
    for (int64_t at = 0, m; at < n; at += m) {
        m = n - at < BURST_AHEAD / own ? n - at : BURST_AHEAD / own;
        int err = read_values(s, i, w->data_off + (from + at) * own, m * own, &values);
        if (err != NC_NOERR) return err;
        conv_put(to + at * size, type, values, (enum conv_type)w->type, (size_t)m,
                 w->fill); /* all fit: they are of the variable's own type */
    }
    return NC_NOERR;
}

/* All of the i-th write, run after run. */
static int stage_write(struct stage *s, int i)
{
    const struct cdf_header *h = &s->t->pool->header;
    const struct burst_write *w = s->t->writes[i];
    int64_t size = cdf_type_size(h->vars[w->varid].type), done = 0;
    struct region *region = burst_region(h, w);
    struct region_cursor *c = region == NULL ? NULL : region_cursor_new(region);
    int err = c == NULL ? NC_ENOMEM : NC_NOERR;
    while (done < w->nelems && err == NC_NOERR) {
        int64_t room = (s->t->pool->room - s->used) / size * size, from = s->used;
        struct region_strip strip = {0};
        if (room < 4096 || s->n > 1 << 16) {
            err = flush_stage(s);
            continue;
        }
        if (!region_next(c, room, 1 << 16, &strip)) break;
        for (int64_t k = 0; k < strip.count && err == NC_NOERR; k++)
            err = add_staged_part(s, strip.offset + k * strip.stride, strip.length);
        int64_t n = strip.length * strip.count / size;
        if (err == NC_NOERR) err = stage_values(s, i, done, n, s->t->staging + from);
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
    if (t->staging == NULL) t->staging = base_malloc((size_t)t->pool->room + BURST_AHEAD);
    if (t->staging == NULL) return NC_ENOMEM;
    t->ahead = t->staging + t->pool->room;
    for (int i = 0; i < t->n && err == NC_NOERR; i++)
        err = stage_write(&s, i);
    if (err == NC_NOERR) err = flush_stage(&s);
    base_free(s.parts);
    return err;
}
