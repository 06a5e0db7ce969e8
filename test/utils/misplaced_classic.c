/* misplaced_classic FORMAT KIND FILE REPAIRED: writes a file whose variables are not
 * where the format requires them, and the copy of it that `ncvalidator -r` should make.
 * If the file cannot be repaired, both are equal. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cdf.h"
#include "pnetcdf_constants.h"

enum { NUMRECS = 4, NVARS = 5, FIXED = 3, LONG = 600000000 };

/* In `order`, a digit is a fixed-size variable and R is all records. */
static const struct kind {
    const char *name, *order;
    bool packed; /* the variables of a record are not padded */
    bool large;  /* variable 1 has more than 4 GiB */
    int overlap; /* number of bytes by which the last one overlaps the previous one */
    int missing; /* number of bytes missing at the end of the file */
    bool hopeless;
} kinds[] = {
    {.name = "behind", .order = "01R2"},
    {.name = "order", .order = "201R"},
    {.name = "packed", .order = "012R", .packed = true},
    {.name = "packed_behind", .order = "0R12", .packed = true},
    {.name = "large", .order = "012R", .large = true},
    {.name = "overlap", .order = "01R2", .overlap = 4, .hopeless = true},
    {.name = "short", .order = "012R", .packed = true, .missing = 1, .hopeless = true},
};

static void need(bool ok, const char *what)
{
    if (ok) return;
    perror(what);
    exit(2);
}

static void define(struct cdf_header *h, bool large)
{
    static const struct {
        const char *name;
        int type, ndims, dims[2];
    } vars[NVARS] = {{"a", NC_SHORT, 1, {1}},
                     {"b", NC_DOUBLE, 1, {2}},
                     {"c", NC_INT, 1, {1}},
                     {"r", NC_SHORT, 2, {0, 1}},
                     {"s", NC_BYTE, 1, {0}}};
    int id;
    need(cdf_def_dim(h, "t", NC_UNLIMITED, &id) == NC_NOERR, "t");
    need(cdf_def_dim(h, "x", 3, &id) == NC_NOERR, "x");
    need(cdf_def_dim(h, "y", large ? LONG : 2, &id) == NC_NOERR, "y");
    for (int i = 0; i < NVARS; i++)
        need(cdf_def_var(h, vars[i].name, vars[i].type, vars[i].ndims, vars[i].dims,
                         &id) == NC_NOERR,
             vars[i].name);
    h->numrecs = NUMRECS;
}

static int64_t bytes_of(const struct cdf_var *v)
{
    return v->nelems * cdf_type_size(v->type);
}

/* Places the variables after the header. Returns the size of the file. */
static int64_t place(struct cdf_header *h, const struct kind *k, int64_t *step)
{
    int64_t at = cdf_encoded_size(h);
    need(cdf_sum_records(h) == NC_NOERR, "records");
    *step = k->packed ? 0 : h->record_size;
    for (const char *c = k->order; *c != '\0'; c++) {
        if (c[1] == '\0') at -= k->overlap;
        int first = *c == 'R' ? FIXED : *c - '0', end = *c == 'R' ? NVARS : first + 1;
        int64_t begin = at;
        for (int i = first; i < end; i++) {
            int64_t size = k->packed ? bytes_of(&h->vars[i]) : h->vars[i].size;
            h->vars[i].begin = at;
            at += size;
            if (*c == 'R' && k->packed) *step += size;
        }
        if (*c == 'R') at = begin + NUMRECS * *step;
        if (c[1] != '\0') at = (at + 3) / 4 * 4;
    }
    return at - k->missing;
}

/* Writes a file with values that depend only on the variable and the record. */
static void write_file(const char *path, const struct cdf_header *h, int64_t step,
                       int64_t size)
{
    unsigned char bytes[1024];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    int64_t length = cdf_encoded_size(h);
    need(fd >= 0 && length <= (int64_t)sizeof bytes, path);
    cdf_encode(h, bytes);
    need(pwrite(fd, bytes, (size_t)length, 0) == length, path);
    for (int rec = 0; rec < NUMRECS; rec++)
        for (int i = rec == 0 ? 0 : FIXED; i < NVARS; i++) {
            const struct cdf_var *v = &h->vars[i];
            int64_t n = bytes_of(v) < 16 ? bytes_of(v) : 16;
            for (int k = 0; k < n; k++)
                bytes[k] = (unsigned char)(1 + 50 * i + 11 * rec + k);
            need(pwrite(fd, bytes, (size_t)n, (off_t)(v->begin + rec * step)) == n, path);
        }
    need(ftruncate(fd, (off_t)size) == 0 && close(fd) == 0, path);
}

int main(int argc, char **argv)
{
    static const struct cdf_padding none = {.fixed_align = 4, .record_align = 4};
    struct cdf_header h;
    int64_t step;
    need(argc == 5, "usage");
    const struct kind *k = kinds;
    while (strcmp(k->name, argv[2]) != 0)
        need(++k < kinds + sizeof kinds / sizeof *kinds, argv[2]);
    cdf_init(&h, atoi(argv[1]));
    define(&h, k->large);
    int64_t size = place(&h, k, &step);
    write_file(argv[3], &h, step, size);
    if (!k->hopeless) {
        if (k->large) h.format = 5;
        need(cdf_layout(&h, NULL, &none) == NC_NOERR, "layout");
        step = h.record_size;
        size = cdf_file_size(&h);
    }
    write_file(argv[4], &h, step, size);
    cdf_free(&h);
    return 0;
}
