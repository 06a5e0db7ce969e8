/* cdf_redefine FILE...: repeats the definitions of each file call by call, and reports
 * whether the resulting header is identical to the file's. */
#include "cdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "pnetcdf_constants.h"

static int put_atts(struct cdf_header *h, int varid, const struct cdf_atts *atts)
{
    int err = NC_NOERR;
    for (int i = 0; i < atts->count && err == NC_NOERR; i++) {
        const struct cdf_att *a = &atts->list[i];
        void *values;
        err = cdf_put_att(h, varid, a->name, a->type, a->nelems, &values);
        size_t bytes = (size_t)a->nelems * (size_t)cdf_type_size(a->type);
        if (err == NC_NOERR && bytes > 0) memcpy(values, a->values, bytes);
    }
    return err;
}

static int define(struct cdf_header *h, const struct cdf_header *from)
{
    const struct cdf_padding room = {.fixed_align = 4, .record_align = 4};
    int id, err = NC_NOERR;
    cdf_init(h, from->format);
    for (int i = 0; i < from->ndims && err == NC_NOERR; i++)
        err = cdf_def_dim(h, from->dims[i].name, from->dims[i].length, &id);
    if (err == NC_NOERR) err = put_atts(h, NC_GLOBAL, &from->gatts);
    for (int i = 0; i < from->nvars && err == NC_NOERR; i++) {
        const struct cdf_var *v = &from->vars[i];
        err = cdf_def_var(h, v->name, v->type, v->ndims, v->dimids, &id);
        if (err == NC_NOERR) err = put_atts(h, id, &v->atts);
    }
    h->numrecs = from->numrecs;
    return err == NC_NOERR ? cdf_layout(h, NULL, &room) : err;
}

/* Prints the offset at which two headers differ. Returns 0 if they are equal. */
static int compare(const char *path, const struct cdf_header *h,
                   const unsigned char *file, size_t length)
{
    size_t size = (size_t)cdf_encoded_size(h), i = 0;
    unsigned char *bytes = malloc(size + 1);
    if (bytes == NULL) return -1;
    cdf_encode(h, bytes);
    while (i < size && i < length && bytes[i] == file[i])
        i++;
    free(bytes);
    if (i == size) return 0;
    printf("%s: byte %zu of %zu differs\n", path, i, size);
    return -1;
}

static unsigned char *read_head(const char *path, size_t *length, int64_t *file_size)
{
    FILE *f = fopen(path, "rb");
    unsigned char *bytes = malloc(1 << 20);
    if (f == NULL || bytes == NULL) {
        perror(path);
        exit(2);
    }
    *length = fread(bytes, 1, 1 << 20, f);
    (void)fseek(f, 0, SEEK_END);
    *file_size = ftell(f);
    fclose(f);
    return bytes;
}

static int redefine(const char *path)
{
    struct cdf_header from, h;
    size_t length;
    int64_t file_size;
    unsigned char *bytes = read_head(path, &length, &file_size);
    int err = cdf_decode(&from, bytes, length, file_size, NULL);
    if (err != NC_NOERR) {
        printf("%s: %s\n", path, base_error_text(err));
        free(bytes);
        return -1;
    }
    err = define(&h, &from);
    if (err != NC_NOERR)
        printf("%s: %s\n", path, base_error_text(err));
    else
        err = compare(path, &h, bytes, length);
    cdf_free(&from);
    cdf_free(&h);
    free(bytes);
    return err;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++)
        bad += redefine(argv[i]) != 0;
    return bad > 0;
}
