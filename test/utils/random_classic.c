/* random_classic FORMAT SEED FILE [tame]: writes a random classic dataset whose names,
 * types, shapes and values are hard to print. `tame` omits features that CDL cannot
 * represent. */
#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdf.h"
#include "pnetcdf_constants.h"
#include "splitmix.h"

static uint64_t state;
static bool tame; /* set to omit features that CDL cannot represent */

static uint64_t next(void)
{
    return splitmix_next(&state);
}

static int below(int n)
{
    return (int)(next() % (uint64_t)n);
}

static void need(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "random_classic: %s\n", what);
    exit(1);
}

/* ---- values ---- */

static double any_real(void)
{
    static const double divisors[] = {1, 2, 3, 7, 10, 100, 1000, 1e6, 1e15, 1e30};
    double whole = (double)((int64_t)next() >> below(64));
    switch (below(6)) {
    case 0:
        return whole / divisors[below(10)];
    case 1:
        return (double)(below(2000) - 1000) / divisors[below(8)];
    case 2:
        return ldexp(whole, below(2000) - 1000);
    case 3: {
        const double odd[] = {0.0, -0.0, (double)NAN, (double)INFINITY,
                              -(double)INFINITY};
        return odd[below(5)];
    }
    case 4:
        return (below(2) ? 1 : -1) * pow(10, below(50) - 20) * (1 + below(9) * 1e-7);
    default:
        return below(100);
    }
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t float_bits(double value)
{
    uint32_t bits;
    float f = fabs(value) > 3e38 ? 3e38f : (float)value;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static unsigned char any_char(void)
{
    static const char odd[] = "\n\n\t\"'\\%/\0\0\0\b\a\x7f\xc3\xa9\xff {};";
    return (unsigned char)(below(3) ? 'a' + below(26) : odd[below(sizeof odd - 1)]);
}

/* Stores a random value in its external form. If `like` is not NULL, it is a fill value,
 * and some of the values are close to it. */
static void put_value(unsigned char *to, int type, const unsigned char *like)
{
    int size = cdf_type_size(type);
    uint64_t bits = next() >> below(64);
    if (below(3) == 0) bits = -bits;
    if (type == NC_CHAR) bits = any_char();
    if (type == NC_FLOAT) bits = below(8) ? float_bits(any_real()) : bits;
    if (type == NC_DOUBLE) bits = below(8) ? bits_of(any_real()) : bits;
    if (like != NULL && below(4) == 0) {
        uint64_t word = 0;
        memcpy((unsigned char *)&word + 8 - size, like, (size_t)size);
        bits = be64toh(word) + (uint64_t)(below(2) ? below(7) - 3 : 0);
    }
    bits = htobe64(bits);
    memcpy(to, (unsigned char *)&bits + 8 - size, (size_t)size);
}

/* ---- definitions ---- */

static const char *any_name(int number, const char *prefix)
{
    static const char *const odd[] = {"",  "_x",  ".y-",   "+z@",       " a b", "(c)",
                                      "#", "'q'", "%20\\", "\xc3\xa9t", "{};:", "0"};
    static char name[64];
    snprintf(name, sizeof name, "%s%s%d%s", below(8) ? "" : "9", prefix, number,
             odd[below(3) ? 0 : below(12)]);
    return name;
}

static int any_type(const struct cdf_header *h)
{
    return 1 + below(h->format == 5 ? 11 : 6);
}

static void put_att(struct cdf_header *h, int varid, const char *name, int type, int n)
{
    void *values;
    need(cdf_put_att(h, varid, name, type, n, &values) == NC_NOERR, "attribute");
    for (int i = 0; i < n; i++)
        put_value((unsigned char *)values + i * cdf_type_size(type), type, NULL);
}

static void put_text_att(struct cdf_header *h, int varid, const char *name,
                         const char *text)
{
    void *values;
    size_t n = strlen(text);
    need(cdf_put_att(h, varid, name, NC_CHAR, (int64_t)n, &values) == NC_NOERR, "text");
    memcpy(values, text, n);
}

static void put_atts(struct cdf_header *h, int varid)
{
    for (int n = below(4); n > 0; n--) {
        int type = any_type(h), length = below(5) ? below(6) : below(60);
        put_att(h, varid, any_name(n, "att"), type, length);
    }
    if (varid == NC_GLOBAL) return;
    int type = h->vars[varid].type;
    if (below(3) == 0) put_att(h, varid, "_FillValue", type, 1);
    if (tame) return;
    if (below(6) == 0) put_att(h, varid, "_FillValue", any_type(h), 1 + below(2));
    bool real = type == NC_FLOAT || type == NC_DOUBLE;
    static const char *const formats[] = {"%9.4e", "%-12g", "<%g>", "%.12lg", "%.3f"};
    int known = type == NC_FLOAT ? 5 : 4; /* ncdump truncates long results of %f */
    if (real && below(5) == 0) put_text_att(h, varid, "C_format", formats[below(known)]);
    if (type == NC_INT && below(5) == 0) put_text_att(h, varid, "C_format", "%05d");
}

static void define(struct cdf_header *h)
{
    int ndims = 1 + below(5);
    for (int i = 0; i < ndims; i++) {
        int length = below(6) ? 1 + below(5) : 1 + below(150);
        if (h->unlimited < 0 && below(3) == 0) length = NC_UNLIMITED;
        int id;
        need(cdf_def_dim(h, any_name(i, "dim"), length, &id) == NC_NOERR, "dimension");
    }
    put_atts(h, NC_GLOBAL);
    for (int n = below(9); n > 0; n--) {
        int dimids[4], rank = below(5), varid;
        int64_t volume = 1;
        for (int i = 0; i < rank; i++) {
            dimids[i] = below(ndims);
            if (i > 0 && dimids[i] == h->unlimited) dimids[i] = (dimids[i] + 1) % ndims;
            volume *= h->dims[dimids[i]].length + 1;
            if ((i > 0 && dimids[i] == h->unlimited) || volume > 5000) rank = i;
        }
        const char *prefix = rank == 0 ? "scalar" : "var";
        need(cdf_def_var(h, any_name(n, prefix), any_type(h), rank, dimids, &varid) ==
                 NC_NOERR,
             "variable");
        put_atts(h, varid);
    }
}

/* ---- the file ---- */

static void put_data(const struct cdf_header *h, unsigned char *file)
{
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        int64_t records = v->is_record ? h->numrecs : 1;
        unsigned char fill[8];
        cdf_fill_value(h, i, fill);
        for (int64_t r = 0; r < records; r++) {
            unsigned char *to = file + cdf_record_offset(h, v, r);
            for (int64_t k = 0; k < v->nelems; k++, to += cdf_type_size(v->type))
                put_value(to, v->type, fill);
        }
    }
}

int main(int argc, char **argv)
{
    need(argc == 4 || argc == 5, "usage: random_classic FORMAT SEED FILE [tame]");
    tame = argc == 5;
    struct cdf_header h;
    cdf_init(&h, atoi(argv[1]));
    state = strtoull(argv[2], NULL, 10);
    define(&h);
    h.numrecs = h.unlimited < 0 ? 0 : below(4);
    if (tame && (cdf_sum_records(&h) != NC_NOERR || h.nrecord_vars == 0)) h.numrecs = 0;
    need(cdf_layout(&h, NULL, &(struct cdf_padding){0}) == NC_NOERR, "layout");

    size_t size = (size_t)cdf_file_size(&h);
    unsigned char *file = calloc(1, size);
    need(file != NULL, "memory");
    cdf_encode(&h, file);
    put_data(&h, file);
    FILE *f = fopen(argv[3], "wb");
    need(f != NULL, "creating");
    need(fwrite(file, 1, size, f) == size, "writing");
    need(fclose(f) == 0, "closing");
    free(file);
    cdf_free(&h);
    return 0;
}
