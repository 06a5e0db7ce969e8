/* Prints a file's contents without using any library: the header, except for the
 * variables' offsets, and the bytes of all known elements. */
#include <stdlib.h>
#include <string.h>

#include "differ.h"

struct reader {
    const unsigned char *bytes;
    size_t size, at;
    int wide; /* size of a count in bytes (4 or 8) */
    bool bad;
};

static uint64_t number(struct reader *r, int width)
{
    uint64_t value = 0;
    if (r->at + (size_t)width > r->size) {
        r->bad = true;
        return 0;
    }
    for (int i = 0; i < width; i++)
        value = value << 8 | r->bytes[r->at++];
    return value;
}

static uint64_t count(struct reader *r)
{
    uint64_t value = number(r, r->wide);
    if (value > 1 << 20) r->bad = true;
    return r->bad ? 0 : value;
}

/* Prints n bytes and their padding. */
static void bytes(struct reader *r, uint64_t n)
{
    n = (n + 3) / 4 * 4;
    if (n > r->size - r->at) r->bad = true;
    for (uint64_t i = 0; i < n && !r->bad; i++)
        put_out("%02x", r->bytes[r->at++]);
}

static void text(struct reader *r)
{
    bytes(r, count(r));
}

static uint64_t list(struct reader *r)
{
    put_out(" tag %x", (unsigned)number(r, 4));
    return count(r);
}

static void atts(struct reader *r)
{
    for (uint64_t n = list(r); n > 0 && !r->bad; n--) {
        put_out("\n  att ");
        text(r);
        nc_type type = (nc_type)number(r, 4);
        uint64_t many = count(r);
        put_out(" %d %d ", type, (int)many);
        bytes(r, many * (uint64_t)external_size(type));
    }
}

static void data(struct reader *r, const struct differ_var *v, uint64_t begin,
                 uint64_t record)
{
    int size = external_size(v->type);
    int per = v->is_record ? v->nelems / MAX_RECORDS : v->nelems;
    put_out("\n  data");
    for (int i = 0; i < v->nelems; i++) {
        uint64_t at = begin + (uint64_t)(i / per) * record + (uint64_t)(i % per * size);
        if (!v->known[i]) continue;
        put_out(" %d:", i);
        for (int k = 0; k < size; k++)
            if (at + (uint64_t)k < r->size)
                put_out("%02x", r->bytes[at + (uint64_t)k]);
            else
                put_out("--");
    }
}

/* Returns the total size of a record, summed over all record variables. */
static uint64_t record_size(void)
{
    uint64_t sum = 0, last = 0;
    int many = 0;
    for (int i = 0; i < d.nvars && i < MAX_VARS; i++) {
        const struct differ_var *v = &d.vars[i];
        if (!v->is_record) continue;
        last = (uint64_t)(v->nelems / MAX_RECORDS * external_size(v->type));
        sum += (last + 3) / 4 * 4;
        many++;
    }
    return many == 1 ? last : sum;
}

static void variables(struct reader *r, int offset_width)
{
    uint64_t n = list(r);
    for (uint64_t i = 0; i < n && !r->bad; i++) {
        put_out("\n var ");
        text(r);
        put_out(" dims");
        for (uint64_t k = count(r); k > 0 && !r->bad; k--)
            put_out(" %d", (int)number(r, r->wide));
        atts(r);
        put_out("\n  type %d", (int)number(r, 4));
        put_out(" vsize %llu", (unsigned long long)number(r, r->wide));
        uint64_t begin = number(r, offset_width);
        if (i < MAX_VARS && !r->bad && (int)i < d.nvars)
            data(r, &d.vars[i], begin, record_size());
    }
}

static void header(struct reader *r)
{
    unsigned magic = (unsigned)number(r, 4);
    int version = (int)(magic & 0xff);
    r->wide = version == 5 ? 8 : 4;
    put_out("file %x records %llu", magic, (unsigned long long)number(r, r->wide));
    for (uint64_t n = list(r); n > 0 && !r->bad; n--) {
        put_out("\n dim ");
        text(r);
        put_out(" %llu", (unsigned long long)number(r, r->wide));
    }
    atts(r);
    variables(r, version == 1 ? 4 : 8);
    put_out(r->bad ? "\n file broken\n" : "\n");
}

void differ_file(const char *path)
{
    enum { READ = 1 << 22 }; /* later bytes belong to untracked variables */
    FILE *file = fopen(path, "rb");
    unsigned char *all = malloc(READ);
    if (file == NULL || all == NULL) {
        put_out("no file\n");
    } else {
        struct reader r = {.bytes = all, .size = fread(all, 1, READ, file)};
        header(&r);
    }
    if (file != NULL) fclose(file);
    free(all);
}
