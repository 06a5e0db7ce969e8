/* See cdf_random.h. */
#include "cdf_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base_error.h"

const struct cdf_padding plain_room = {.fixed_align = 4, .record_align = 4};

static uint64_t now;

void random_start(void)
{
    const char *given = getenv("NCMPI_TEST_SEED");
    now = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("# NCMPI_TEST_SEED=%llu\n", (unsigned long long)now);
}

int64_t random_of(int64_t low, int64_t high)
{
    now = now * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = now ^ now >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 29;
    return low + (int64_t)(x % (uint64_t)(high - low + 1));
}

static void fail(int err, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, base_error_text(err));
    abort();
}

static void random_name(const char *prefix, int number, char *name)
{
    static const char *const parts[] = {"",
                                        "_",
                                        "x",
                                        "+.@",
                                        "name of some length ",
                                        "\xc3\xa9t\xc3\xa9",
                                        "\xe6\xb8\xa9\xe5\xba\xa6"};
    const char *part = parts[random_of(0, (int64_t)(sizeof parts / sizeof parts[0]) - 1)];
    sprintf(name, "%s%s%d", prefix, part, number);
}

static void random_atts(struct cdf_header *h, int varid, int most)
{
    for (int i = 0, n = (int)random_of(0, most); i < n; i++) {
        char name[80];
        void *values;
        int type = (int)random_of(NC_BYTE, h->format == 5 ? NC_UINT64 : NC_DOUBLE);
        int64_t nelems = random_of(0, random_of(0, 9) == 0 ? 300 : 5);
        random_name("att", i, name);
        if (random_of(0, 9) == 0) strcpy(name, NC_FillValue);
        int err = cdf_put_att(h, varid, name, type, nelems, &values);
        if (err != NC_NOERR) fail(err, name);
        for (int64_t k = 0; k < nelems * cdf_type_size(type); k++)
            ((unsigned char *)values)[k] = (unsigned char)random_of(0, 255);
    }
}

static void random_var(struct cdf_header *h, int atts)
{
    char name[80];
    int dimids[5], varid, fixed = 0;
    random_name("var", h->nvars, name);
    for (int i = 0; i < h->ndims; i++)
        fixed += i != h->unlimited;
    int ndims = fixed == 0 ? 0 : (int)random_of(0, 3);
    for (int i = 0; i < ndims; i++)
        do
            dimids[i] = (int)random_of(0, h->ndims - 1);
        while (dimids[i] == h->unlimited);
    if (h->unlimited >= 0 && random_of(0, 1) == 0) {
        memmove(dimids + 1, dimids, (size_t)ndims * sizeof dimids[0]);
        dimids[0] = h->unlimited;
        ndims++;
    }
    int type = (int)random_of(NC_BYTE, h->format == 5 ? NC_UINT64 : NC_DOUBLE);
    int err = cdf_def_var(h, name, type, ndims, dimids, &varid);
    if (err != NC_NOERR) fail(err, name);
    random_atts(h, varid, atts);
}

void random_definitions(struct cdf_header *h, int dims, int vars, int atts)
{
    for (int i = 0, n = (int)random_of(0, dims); i < n; i++) {
        char name[80];
        int id;
        bool unlimited = h->unlimited < 0 && random_of(0, 2) == 0;
        random_name("dim", h->ndims, name);
        int err = cdf_def_dim(h, name, unlimited ? 0 : random_of(1, 9), &id);
        if (err != NC_NOERR) fail(err, name);
    }
    random_atts(h, NC_GLOBAL, atts);
    for (int i = 0, n = (int)random_of(0, vars); i < n; i++)
        random_var(h, atts);
}

void random_header(struct cdf_header *h, int format)
{
    cdf_init(h, format);
    random_definitions(h, 6, 12, random_of(0, 4) == 0 ? 40 : 4);
    struct cdf_padding room = {.header_minfree = random_of(0, 1) * random_of(0, 999),
                               .fixed_align = 4 << random_of(0, 8),
                               .fixed_minfree = random_of(0, 1) * random_of(0, 999),
                               .record_align = 4 << random_of(0, 8)};
    int err = cdf_layout(h, NULL, random_of(0, 1) == 0 ? &room : &plain_room);
    if (err != NC_NOERR) fail(err, "layout");
    if (h->nrecord_vars > 0) h->numrecs = random_of(0, 5);
}

unsigned char *encoded(const struct cdf_header *h, size_t *length)
{
    *length = (size_t)cdf_encoded_size(h);
    unsigned char *bytes = malloc(*length);
    if (bytes == NULL) abort();
    memset(bytes, 0xa5, *length);
    cdf_encode(h, bytes);
    return bytes;
}

int headers_differ(const struct cdf_header *a, const struct cdf_header *b)
{
    struct cdf_difference d;
    int err = cdf_compare(a, b, &d);
    if (err == NC_NOERR) err = d.att_code;
    if (err != NC_NOERR) printf("# %s\n", d.text);
    if (err != NC_NOERR) return err;
    for (int i = 0; i < a->nvars; i++) {
        const struct cdf_var *v = &a->vars[i], *w = &b->vars[i];
        if (v->is_record != w->is_record || v->size != w->size || v->nelems != w->nelems)
            return 1;
        for (int k = 0; k < v->ndims; k++)
            if (v->shape[k] != w->shape[k]) return 1;
    }
    return a->numrecs != b->numrecs || a->unlimited != b->unlimited ||
           a->begin_fixed != b->begin_fixed || a->begin_record != b->begin_record ||
           a->record_size != b->record_size || a->nrecord_vars != b->nrecord_vars ||
           a->size != b->size;
}
