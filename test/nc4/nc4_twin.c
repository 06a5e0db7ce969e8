/* nc4_twin FILE4 [CLASSIC]: reads a netCDF-4 file with the modules that do not use MPI,
 * and prints which objects were omitted. If CLASSIC, a CDF-5 file, is given, compares its
 * definitions and all values with those of FILE4. With -w, first creates FILE4 from
 * CLASSIC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "hints_table.h"
#include "cdf.h"
#include "nc4.h"

static unsigned char *read_file(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    unsigned char *bytes = malloc(1 << 20);
    if (f == NULL || bytes == NULL) exit(2);
    *length = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

/* Reads or writes a variable of the netCDF-4 file, either record by record or as a whole.
 * Values that are read must equal those in the classic file. */
static int move_values(const struct nc4_file *f, const struct cdf_header *h,
                       const struct cdf_header *twin, const unsigned char *bytes,
                       int varid, bool put)
{
    const struct cdf_var *v = &h->vars[varid];
    int64_t start[8] = {0}, count[8] = {1};
    size_t size = (size_t)(v->nelems * cdf_type_size(v->type));
    unsigned char *values = malloc(size + 1);
    int err = values == NULL ? NC_ENOMEM : NC_NOERR;
    for (int i = 0; i < v->ndims; i++)
        count[i] = v->is_record && i == 0 ? 1 : v->shape[i];
    int64_t nrecords = v->is_record ? twin->numrecs : 1;
    for (int64_t rec = 0; rec < nrecords && err == NC_NOERR; rec++) {
        const void *there = bytes + cdf_record_offset(twin, &twin->vars[varid], rec);
        if (v->is_record) start[0] = rec;
        memset(values, 0x5a, size);
        if (put) memcpy(values, there, size);
        err = put ? nc4_put(f, h, varid, start, count, NULL, values)
                  : nc4_get(f, h, varid, start, count, NULL, values);
        if (err == NC_NOERR && !put && memcmp(values, there, size) != 0) err = NC_EINVAL;
    }
    if (err != NC_NOERR) printf("%s: %s\n", v->name, base_error_text(err));
    free(values);
    return err != NC_NOERR;
}

static int write_file(const char *path, const char *classic)
{
    size_t length;
    unsigned char *bytes = read_file(classic, &length);
    struct nc4_file f;
    struct cdf_header h;
    int err = cdf_decode(&h, bytes, length, (int64_t)length, NULL), bad = 0;
    if (err == NC_NOERR) err = nc4_create(&f, path, NC_CLOBBER);
    if (err == NC_NOERR) err = nc4_define(&f, &h, &(struct nc4_storage){0});
    if (err != NC_NOERR) puts(base_error_text(err));
    for (int id = 0; id < h.nvars && err == NC_NOERR && !bad; id++)
        bad = move_values(&f, &h, &h, bytes, id, true);
    if (err == NC_NOERR) err = nc4_close(&f);
    cdf_free(&h);
    free(bytes);
    return err != NC_NOERR || bad;
}

/* Compares the definitions with those of the classic file. The offsets must be those in a
 * newly created classic file. */
static int compare_headers(const struct cdf_header *h, const unsigned char *bytes,
                           size_t length, struct cdf_difference *d)
{
    static const struct cdf_padding room = {.header_minfree = CDF_DEFAULT_PADDING,
                                            .fixed_align = HINTS_FIXED_ALIGN,
                                            .record_align = HINTS_RECORD_ALIGN};
    struct cdf_header made;
    int err = cdf_decode(&made, bytes, length, (int64_t)length, NULL);
    if (err != NC_NOERR) return err;
    err = cdf_layout(&made, NULL, &room);
    if (err == NC_NOERR) err = cdf_compare(h, &made, d);
    cdf_free(&made);
    return err;
}

static int compare(const struct nc4_file *f, const struct cdf_header *h, const char *path)
{
    size_t length;
    unsigned char *bytes = read_file(path, &length);
    struct cdf_header twin;
    struct cdf_difference d = {0};
    int err = cdf_decode(&twin, bytes, length, (int64_t)length, NULL);
    if (err == NC_NOERR) err = compare_headers(h, bytes, length, &d);
    int bad = err != NC_NOERR || d.atts > 0 || h->numrecs != twin.numrecs;
    if (bad)
        printf("%d records and %d: %s %s\n", (int)h->numrecs, (int)twin.numrecs,
               base_error_text(err), d.text);
    for (int id = 0; id < h->nvars && !bad; id++)
        bad = move_values(f, h, &twin, bytes, id, false);
    if (err == NC_NOERR) cdf_free(&twin);
    free(bytes);
    return bad;
}

int main(int argc, char **argv)
{
    struct nc4_file f;
    struct cdf_header h;
    bool write = argc > 3 && strcmp(argv[1], "-w") == 0;
    if (argc < 2) return 2;
    if (write && write_file(argv[2], argv[3]) != 0) return 1;
    argv += write;
    int err = nc4_open(&f, argv[1], false), bad = 0;
    if (err == NC_NOERR) err = nc4_read_header(&f, &h);
    if (err != NC_NOERR) {
        puts(base_error_text(err));
        return 1;
    }
    if (f.omitted != NULL) printf("left out:\n%s", f.omitted);
    if (argc > 2) bad = compare(&f, &h, argv[2]);
    cdf_free(&h);
    return nc4_close(&f) != NC_NOERR || bad;
}
