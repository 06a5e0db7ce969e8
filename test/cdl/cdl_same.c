/* cdl_same CDL FILE: checks that the text file CDL defines the same header as the classic
 * dataset FILE, in the same format. Ignores what CDL cannot express: the layout, trailing
 * NULs of text, and the type of an attribute without values. Exits with 0 if the headers
 * are the same. Otherwise prints a message and exits with 1. Used by cdl_dumped.sh. */
#include "cdl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "pnetcdf_constants.h"

static const struct cdf_padding room = {.fixed_align = 4, .record_align = 4};

/* Builds the header that a CDL file defines. */
static int from_cdl(const char *path, int format, struct cdf_header *h)
{
    struct cdl_source source = {.name = path, .fd = open(path, O_RDONLY)};
    if (source.fd < 0) return NC_ENOENT;
    int err = cdl_read(&source, format, NULL, NULL, h);
    close(source.fd);
    return err;
}

/* Removes from attributes everything that CDL cannot express. */
static void reduce(struct cdf_atts *atts)
{
    for (int i = 0; i < atts->count; i++) {
        struct cdf_att *a = &atts->list[i];
        if (a->nelems == 0) a->type = NC_CHAR;
        const char *text = a->values;
        while (a->type == NC_CHAR && a->nelems > 0 && text[a->nelems - 1] == '\0')
            a->nelems--;
    }
}

/* Reads the header of a classic file, and replaces its layout with the one that the
 * parser computed. */
static int from_file(const char *path, struct cdf_header *h)
{
    static unsigned char bytes[1 << 20];
    FILE *f = fopen(path, "rb");
    if (f == NULL) return NC_ENOENT;
    size_t length = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    int err = cdf_decode(h, bytes, length, INT64_MAX, NULL);
    if (err != NC_NOERR) return err;
    for (int i = NC_GLOBAL; i < h->nvars; i++)
        reduce(cdf_atts(h, i));
    err = cdf_layout(h, NULL, &room);
    if (err != NC_NOERR) cdf_free(h);
    return err;
}

int main(int argc, char **argv)
{
    struct cdf_header file, text;
    struct cdf_difference d;
    if (argc != 3) return 2;
    int err = from_file(argv[2], &file);
    if (err == NC_NOERR) {
        err = from_cdl(argv[1], file.format, &text);
        if (err == NC_NOERR) {
            err = cdf_compare(&text, &file, &d);
            if (err == NC_NOERR) err = d.att_code;
            if (err != NC_NOERR) base_error_set(err, "%s", d.text);
            cdf_free(&text);
        }
        cdf_free(&file);
    }
    if (err != NC_NOERR) printf("%s\n", base_error_text(err));
    if (base_mem_in_use() != 0) printf("memory is left over\n");
    return err != NC_NOERR || base_mem_in_use() != 0;
}
