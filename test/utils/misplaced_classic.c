/* misplaced_classic FORMAT KIND FILE REPAIRED: writes a file whose variables are not
 * where the format requires them, and the copy of it that `ncvalidator -r` should make.
 * If the file cannot be repaired, only writes the file. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cdf.h"
#include "pnetcdf_constants.h"

enum { NUMRECS = 4, NVARS = 5, FIXED = 3 };

/* In `order`, a digit is a fixed-size variable and R is all records. */
static const struct kind {
    const char *name, *order;
    int length;  /* length of variable 1; 0 if 2 */
    int format;  /* format of the copy; 0 if that of the file */
    bool packed; /* the variables of a record are not padded */
    int overlap; /* number of bytes by which the last one overlaps the previous one */
    int missing; /* number of bytes missing at the end of the file */
    int align;   /* alignment of the variable after the records; 0 if 4 */
    int stale;   /* number of records that the header does not count */
    int dropped; /* number of record variables that do not exist; a single one is padded
                  */
    bool forged; /* the header has a large number of records */
    bool empty;  /* there are no records */
    bool nul;    /* a name contains a NUL */
    bool whole;  /* all record variables but the last one are multiples of 4 bytes */
    bool astray; /* the header claims that variable 1 follows it */
    bool hopeless;
} kinds[] = {
    {.name = "behind", .order = "01R2"},
    {.name = "order", .order = "201R"},
    {.name = "packed", .order = "012R", .packed = true},
    {.name = "packed_behind", .order = "0R12", .packed = true},
    {.name = "large", .order = "012R", .length = 600000000, .format = 5},
    {.name = "signed", .order = "02R1", .length = 400000000, .format = 2},
    {.name = "forged", .order = "201", .dropped = 2, .forged = true},
    {.name = "empty", .order = "120R", .empty = true, .missing = 2},
    {.name = "nul", .order = "201R", .nul = true, .hopeless = true},
    {.name = "overlap", .order = "01R2", .overlap = 4, .hopeless = true},
    {.name = "short", .order = "012R", .packed = true, .missing = 1, .hopeless = true},
    {.name = "stale", .order = "201R", .stale = 2, .hopeless = true},
    {.name = "stale_all", .order = "201R", .stale = NUMRECS, .hopeless = true},
    {.name = "stale_behind", .order = "01R2", .stale = 1, .hopeless = true},
    {.name = "streaming", .order = "01R2", .stale = NUMRECS + 1, .hopeless = true},
    {.name = "single", .order = "201R", .dropped = 1, .hopeless = true},
    {.name = "single_behind", .order = "01R2", .dropped = 1, .hopeless = true},
    {.name = "aligned",
     .order = "01R2",
     .packed = true,
     .whole = true,
     .align = 64,
     .hopeless = true},
    {.name = "whole", .order = "01R2", .whole = true},
    {.name = "packed_whole", .order = "01R2", .packed = true, .whole = true},
    {.name = "astray", .order = "012R", .astray = true, .hopeless = true},
};

static void need(bool ok, const char *what)
{
    if (ok) return;
    perror(what);
    exit(2);
}

static void define(struct cdf_header *h, const struct kind *k)
{
    const struct {
        const char *name;
        int type, ndims, dims[2];
    } vars[NVARS] = {{"a", NC_SHORT, 1, {1}},
                     {"b", NC_DOUBLE, 1, {2}},
                     {k->nul ? "c?d" : "c", NC_INT, 1, {1}},
                     {"r", k->whole ? NC_INT : NC_SHORT, 2, {0, 1}},
                     {"s", NC_BYTE, 1, {0}}};
    int id;
    need(cdf_def_dim(h, "t", NC_UNLIMITED, &id) == NC_NOERR, "t");
    need(cdf_def_dim(h, "x", 3, &id) == NC_NOERR, "x");
    need(cdf_def_dim(h, "y", k->length > 0 ? k->length : 2, &id) == NC_NOERR, "y");
    for (int i = 0; i < NVARS - k->dropped; i++)
        need(cdf_def_var(h, vars[i].name, vars[i].type, vars[i].ndims, vars[i].dims,
                         &id) == NC_NOERR,
             vars[i].name);
    h->numrecs = k->empty ? 0 : NUMRECS;
}

static int64_t bytes_of(const struct cdf_var *v)
{
    return v->nelems * cdf_type_size(v->type);
}

/* Places the variables after the header. Returns the size of the file. */
static int64_t place(struct cdf_header *h, const struct kind *k, int64_t *step)
{
    int64_t at = cdf_encoded_size(h) + (k->astray ? 64 : 0);
    need(cdf_sum_records(h) == NC_NOERR, "records");
    *step = k->packed ? 0 : k->dropped == 1 ? 8 : h->record_size;
    for (const char *c = k->order; *c != '\0'; c++) {
        if (c[1] == '\0') at -= k->overlap;
        int first = *c == 'R' ? FIXED : *c - '0', end = *c == 'R' ? h->nvars : first + 1;
        int64_t begin = at;
        for (int i = first; i < end; i++) {
            int64_t size = k->packed ? bytes_of(&h->vars[i]) : h->vars[i].size;
            h->vars[i].begin = at;
            at += size;
            if (*c == 'R' && k->packed) *step += size;
        }
        if (*c == 'R') at = begin + h->numrecs * *step;
        if (*c == 'R' && k->align > 0)
            at = begin + (at - begin + k->align - 1) / k->align * k->align;
        if (c[1] != '\0') at = (at + 3) / 4 * 4;
    }
    return at - k->missing;
}

static void write_header(const char *path, const struct cdf_header *h, int flags)
{
    unsigned char bytes[1024];
    int fd = open(path, flags, 0644);
    int64_t length = cdf_encoded_size(h);
    need(fd >= 0 && length <= (int64_t)sizeof bytes, path);
    cdf_encode(h, bytes);
    for (int i = 0; i < length; i++)
        if (bytes[i] == '?') bytes[i] = '\0';
    need(pwrite(fd, bytes, (size_t)length, 0) == length && close(fd) == 0, path);
}

/* Writes a file with values that depend only on the variable and the record. */
static void write_file(const char *path, const struct cdf_header *h, int64_t step,
                       int64_t size)
{
    unsigned char bytes[16];
    write_header(path, h, O_WRONLY | O_CREAT | O_TRUNC);
    int fd = open(path, O_RDWR);
    need(fd >= 0, path);
    for (int rec = 0; rec == 0 || rec < h->numrecs; rec++)
        for (int i = rec == 0 ? 0 : FIXED; i < h->nvars; i++) {
            const struct cdf_var *v = &h->vars[i];
            if (v->is_record && h->numrecs == 0) break;
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
    define(&h, k);
    int64_t size = place(&h, k, &step);
    write_file(argv[3], &h, step, size);
    const int64_t numrecs = h.numrecs,
                  header = k->forged ? UINT32_MAX - 1 : numrecs - k->stale;
    h.numrecs = header;
    if (k->astray) h.vars[1].begin = cdf_encoded_size(&h);
    write_header(argv[3], &h, O_WRONLY);
    if (!k->hopeless) {
        h.numrecs = numrecs;
        if (k->format > 0) h.format = k->format;
        need(cdf_layout(&h, NULL, &none) == NC_NOERR, "layout");
        write_file(argv[4], &h, h.record_size, cdf_file_size(&h));
        h.numrecs = header;
        write_header(argv[4], &h, O_WRONLY);
    }
    cdf_free(&h);
    return 0;
}
