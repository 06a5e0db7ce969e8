/* Decodes the header and single values of a file in one of the classic formats. Follows
 * the format specification and does not use the library. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

struct reader {
    const struct sim_bytes *file;
    int64_t at;
    int version;
    const char *wrong; /* first error found in the file; NULL if none */
};

static uint64_t number(struct reader *r, int bytes)
{
    uint64_t x = 0;
    if (r->at + bytes > r->file->size) {
        r->wrong = "the header is cut off";
        return 0;
    }
    for (int i = 0; i < bytes; i++)
        x = x << 8 | r->file->at[r->at++];
    return x;
}

/* Reads a length or a count, which has 8 bytes in CDF-5 and 4 bytes otherwise. */
static int64_t count(struct reader *r)
{
    int64_t n = (int64_t)number(r, r->version == 5 ? 8 : 4);
    if (n < 0 || n > (1 << 30)) r->wrong = "a count is too large";
    return r->wrong != NULL ? 0 : n;
}

static void skip(struct reader *r, int64_t n)
{
    r->at += (n + 3) / 4 * 4;
    if (r->at > r->file->size) r->wrong = "the header is cut off";
}

static void name(struct reader *r, char *to, size_t room)
{
    int64_t n = count(r), from = r->at;
    skip(r, n);
    if (r->wrong != NULL) return;
    snprintf(to, room, "%.*s", (int)n, (const char *)r->file->at + from);
}

/* Reads the tag and length of a list. The tag must be `wanted`, or the list must be
 * absent. Returns the length. */
static int64_t list(struct reader *r, uint64_t wanted)
{
    uint64_t tag = number(r, 4);
    int64_t n = count(r);
    if (tag != wanted && (tag != 0 || n != 0)) r->wrong = "a tag is wrong";
    return r->wrong != NULL ? 0 : n;
}

static void attributes(struct reader *r)
{
    static const int sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    char text[64];
    for (int64_t n = list(r, 12); n > 0 && r->wrong == NULL; n--) {
        name(r, text, sizeof text);
        uint64_t type = number(r, 4);
        if (type < 1 || type > 11) r->wrong = "a type is unknown";
        int64_t values = count(r);
        if (r->wrong == NULL) skip(r, values * sizes[type]);
    }
}

enum { DIMS = 2 * SIM_VARS + SIM_OPS + 1 };

static void variable(struct reader *r, struct sim_decoded *d, const int64_t *dims,
                     int64_t ndims)
{
    char text[64];
    int64_t product = 1, rows = 1;
    bool record = false;
    name(r, text, sizeof text);
    int64_t n = count(r);
    for (int64_t i = 0; i < n && r->wrong == NULL; i++) {
        int64_t dim = count(r);
        if (dim >= ndims) r->wrong = "a dimension is unknown";
        if (r->wrong != NULL) return;
        if (i == 0) {
            record = dims[dim] == 0;
            rows = dims[dim];
        } else {
            product *= dims[dim];
        }
    }
    attributes(r);
    int type = (int)number(r, 4);
    (void)count(r); /* skips vsize, which readers must not rely on */
    int64_t begin = (int64_t)number(r, r->version == 1 ? 4 : 8);
    if (d->nvars >= SIM_DECODED || r->wrong != NULL) return;
    int v = d->nvars++;
    snprintf(d->vars[v].name, sizeof d->vars[v].name, "%.15s", text);
    d->vars[v].type = type;
    d->vars[v].record = record;
    d->vars[v].row = product;
    d->vars[v].rows = record ? d->records : rows;
    d->vars[v].begin = begin;
    d->vars[v].step = product * sim_type_size(type);
}

/* Computes the size of a record. Each variable's part is padded to a multiple of four
 * bytes, unless there is only one record variable. */
static void steps(struct sim_decoded *d)
{
    int64_t all = 0, only = 0;
    int n = 0;
    for (int v = 0; v < d->nvars; v++) {
        if (!d->vars[v].record) continue;
        only = d->vars[v].step;
        all += (only + 3) / 4 * 4;
        n++;
    }
    for (int v = 0; v < d->nvars; v++)
        if (d->vars[v].record) d->vars[v].step = n == 1 ? only : all;
}

void sim_decode(struct sim_decoded *d, const struct sim_bytes *file)
{
    struct reader r = {.file = file};
    int64_t dims[DIMS];
    char text[64];
    memset(d, 0, sizeof *d);
    if (file->size < 4 || memcmp(file->at, "CDF", 3) != 0) {
        snprintf(d->wrong, sizeof d->wrong, "it does not begin with CDF");
        return;
    }
    d->there = true;
    r.version = file->at[3];
    r.at = 4;
    if (r.version != 1 && r.version != 2 && r.version != 5) r.wrong = "unknown version";
    d->records = count(&r);
    int64_t ndims = list(&r, 10);
    if (ndims > DIMS) r.wrong = "too many dimensions";
    for (int64_t i = 0; i < ndims && r.wrong == NULL; i++) {
        name(&r, text, sizeof text);
        dims[i] = count(&r);
    }
    if (r.wrong == NULL) attributes(&r);
    for (int64_t n = r.wrong == NULL ? list(&r, 11) : 0; n > 0 && r.wrong == NULL; n--)
        variable(&r, d, dims, ndims);
    steps(d);
    if (r.wrong != NULL) snprintf(d->wrong, sizeof d->wrong, "%s", r.wrong);
}

uint64_t sim_decoded_value(const struct sim_decoded *d, const struct sim_bytes *file,
                           int var, int64_t row, int64_t i)
{
    const int size = sim_type_size(d->vars[var].type);
    const int64_t at = d->vars[var].begin + row * d->vars[var].step + i * size;
    uint64_t value = 0;
    for (int k = 0; k < size; k++) /* bytes beyond the end of the file read as zeros */
        value = value << 8 | (at + k < file->size ? file->at[at + k] : 0u);
    return value;
}
