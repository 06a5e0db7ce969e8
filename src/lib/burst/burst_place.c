/* Which of the logged writes touch a part of the file. They are kept in the order of
 * their places, and each knows how far those up to it reach, so that a get looks at few
 * of them; the newest, until they are worth another sorting, are looked at one by one. */
#include <stdlib.h>

#include "base_error.h"
#include "base_mem.h"
#include "burst.h"

struct burst_place {
    int64_t low, high;
    int64_t most; /* the highest `high` up to here */
    int64_t at;   /* among all writes */
};

static int by_low(const void *a, const void *b)
{
    const struct burst_place *p = a, *q = b;
    return p->low < q->low ? -1 : p->low > q->low;
}

static int by_write_number(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

void burst_forget_places(struct burst *b)
{
    base_free(b->places);
    base_free(b->touching);
    b->places = NULL;
    b->touching = NULL;
    b->nplaces = b->touching_capacity = 0;
}

/* Without the memory for it, all are looked at. */
static void sort_places(struct burst *b)
{
    enum { FEW = 64 };
    if (b->nwrites - b->nplaces <= FEW + b->nplaces / 2) return;
    struct burst_place *p = base_realloc(b->places, (size_t)b->nwrites * sizeof *p);
    if (p == NULL) return;
    b->places = p;
    for (int64_t i = 0; i < b->nwrites; i++)
        p[i] = (struct burst_place){b->writes[i]->low, b->writes[i]->high, 0, i};
    qsort(p, (size_t)b->nwrites, sizeof *p, by_low);
    for (int64_t i = 0; i < b->nwrites; i++)
        p[i].most = i == 0 || p[i].high > p[i - 1].most ? p[i].high : p[i - 1].most;
    b->nplaces = b->nwrites;
}

/* How many places begin before `high`. */
static int64_t places_before(const struct burst *b, int64_t high)
{
    int64_t from = 0, to = b->nplaces;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (b->places[middle].low < high)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static int add_touching(struct burst *b, int64_t at, int64_t *n)
{
    void *grown =
        base_grow(b->touching, &b->touching_capacity, *n + 1, sizeof *b->touching);
    if (grown == NULL) return NC_ENOMEM;
    b->touching = grown;
    b->touching[(*n)++] = at;
    return NC_NOERR;
}

int burst_touching(struct burst *b, int64_t low, int64_t high, int64_t most, int64_t *n)
{
    int err = NC_NOERR;
    *n = 0;
    sort_places(b);
    for (int64_t i = places_before(b, high) - 1;
         i >= 0 && b->places[i].most > low && *n < most && err == NC_NOERR; i--)
        if (b->places[i].high > low) err = add_touching(b, b->places[i].at, n);
    for (int64_t i = b->nplaces; i < b->nwrites && *n < most && err == NC_NOERR; i++)
        if (b->writes[i]->low < high && b->writes[i]->high > low)
            err = add_touching(b, i, n);
    if (*n > 1) qsort(b->touching, (size_t)*n, sizeof *b->touching, by_write_number);
    return err;
}
