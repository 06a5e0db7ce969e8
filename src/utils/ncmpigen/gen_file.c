/* Two sinks: one writes the data to a file as they arrive, the other only checks the
 * text. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base_mem.h"
#include "conv.h"
#include "gen.h"
#include "util_message.h"

enum { FILLED = 1 << 16 }; /* number of elements written at a time */

static int write_at(struct gen *g, const void *bytes, size_t length, int64_t offset)
{
    size_t done = 0;
    while (done < length) {
        ssize_t n = pwrite(g->fd, (const char *)bytes + done, length - done,
                           (off_t)(offset + (int64_t)done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            util_message(GEN_TOOL, g->dataset, -1, "%s", strerror(errno));
            return -1;
        }
        done += (size_t)n;
    }
    return 0;
}

/* Writes consecutive elements of a variable, record by record. */
static int write_elements(struct gen *g, int varid, int64_t first, int64_t n,
                          const char *values)
{
    const struct cdf_header *h = &g->header;
    const struct cdf_var *v = &h->vars[varid];
    const int64_t size = cdf_type_size(v->type);
    while (n > 0) {
        int64_t record = first / v->nelems, within = first % v->nelems;
        int64_t part = v->nelems - within < n ? v->nelems - within : n;
        int64_t at = cdf_record_offset(h, v, record) + within * size;
        if (write_at(g, values, (size_t)(part * size), at) != 0) return -1;
        values += part * size;
        first += part;
        n -= part;
    }
    return 0;
}

static int begin(struct gen *g)
{
    (void)g;
    return 0;
}

static int piece(struct gen *g, int varid, const struct util_piece *p, const void *values)
{
    return write_elements(g, varid, p->first, p->n, values);
}

static int fill(struct gen *g, int varid, int64_t first, int64_t end)
{
    static char values[FILLED * 8];
    unsigned char one[8];
    cdf_fill_value(&g->header, varid, one);
    int64_t most = end - first < FILLED ? end - first : FILLED;
    conv_fill(values, one, cdf_type_size(g->header.vars[varid].type), (size_t)most);
    for (int64_t at = first; at < end; at += most) {
        if (end - at < most) most = end - at;
        if (write_elements(g, varid, at, most, values) != 0) return -1;
    }
    return 0;
}

/* Sets the length of the file, including the padding of the last variable, and then
 * writes the header. Until the header exists, no program can mistake the file for a
 * dataset and append to it. */
static int end(struct gen *g)
{
    const struct cdf_header *h = &g->header;
    int64_t size = cdf_file_size(h);
    if (ftruncate(g->fd, (off_t)(size > h->size ? size : h->size)) != 0) {
        util_message(GEN_TOOL, g->dataset, -1, "%s", strerror(errno));
        return -1;
    }
    unsigned char *bytes = base_malloc((size_t)h->size);
    if (bytes == NULL) return gen_complain(NC_ENOMEM);
    cdf_encode(h, bytes);
    int status = write_at(g, bytes, (size_t)h->size, 0);
    base_free(bytes);
    return status;
}

const struct gen_sink gen_file = {
    .makes = GEN_FILE,
    .most = INT64_MAX,
    .begin = begin,
    .piece = piece,
    .fill = fill,
    .end = end,
};

/* ---- only checking the text ---- */

static int no_piece(struct gen *g, int varid, const struct util_piece *p,
                    const void *values)
{
    (void)g, (void)varid, (void)p, (void)values;
    return 0;
}

static int no_fill(struct gen *g, int varid, int64_t first, int64_t last)
{
    (void)g, (void)varid, (void)first, (void)last;
    return 0;
}

const struct gen_sink gen_check = {
    .makes = GEN_NOTHING,
    .most = INT64_MAX,
    .begin = begin,
    .piece = no_piece,
    .fill = no_fill,
    .end = begin,
};
