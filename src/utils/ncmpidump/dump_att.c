/* Prints attributes as CDL: numbers with the suffix of their type, and text as strings.
 * Comments show the dates of numbers that are times. */
#include "dump.h"
#include "util_name.h"
#include "dump_text.h"
#include "dump_value.h"
#include "util_type.h"

#include "cdf.h"

enum { CHUNK = 256 }; /* values decoded at a time */

/* An attribute's numbers, decoded one chunk at a time. */
struct numbers {
    struct dump_format format;
    const struct cdf_att *att;
    int64_t chunk_start;
    union dump_number chunk[CHUNK];
};

static union dump_number number_at(struct numbers *n, int64_t i)
{
    if (i % CHUNK == 0) {
        int64_t left = n->att->nelems - i;
        size_t size = (size_t)cdf_type_size(n->att->type);
        dump_decode(&n->format, n->chunk, (char *)n->att->values + (size_t)i * size,
                    (size_t)(left < CHUNK ? left : CHUNK));
    }
    return n->chunk[i % CHUNK];
}

static void put_numbers(struct dump *d, struct numbers *n)
{
    for (int64_t i = 0; i < n->att->nelems; i++) {
        if (i > 0) util_out_bytes(&d->out, ", ", 2);
        char *p = util_out_room(&d->out);
        char *end = dump_put_typed(&n->format, number_at(n, i), p);
        util_out_advance(&d->out, (size_t)(end - p));
    }
}

/* Prints a comment with the dates that the numbers represent: one or two dates on the
 * same line, more on separate lines. */
static void put_dates(struct dump *d, struct numbers *n, const struct dump_epoch *epoch)
{
    static const char line_start[] = "\n\t\t  // ";
    const int indent = 21; /* width of line_start in columns */
    int64_t count = n->att->nelems;
    bool own_lines = count > 2;
    int column = indent;

    n->format.epoch = epoch;
    n->format.date_mark = d->options.date_mark;
    util_out_text(&d->out, own_lines ? line_start : " // ");
    for (int64_t i = 0; i < count; i++) {
        char text[DUMP_VALUE_SIZE];
        int length = (int)(dump_put_value(&n->format, number_at(n, i), text) - text);
        if (i > 0) util_out_bytes(&d->out, ",", 1);
        int comma = i + 1 < count;
        if (own_lines && i > 0 && column + length + comma > d->options.width) {
            util_out_text(&d->out, line_start);
            column = indent;
        } else if (i > 0)
            util_out_bytes(&d->out, " ", 1);
        util_out_bytes(&d->out, text, (size_t)length);
        column += length + 2;
    }
}

/* Prints text. In netCDF-4, several strings in CDL are several values, so the text is one
 * string. In other formats each line is a string, as in ncdump. */
static void put_text(struct dump *d, const struct cdf_att *a)
{
    bool netcdf4 = util_format(&d->file) == UTIL_NC4;
    struct dump_text text = {.out = &d->out, .indent = netcdf4 ? NULL : "\t\t\t"};
    dump_text_begin(&text);
    dump_text_piece(&text, a->values, (size_t)a->nelems);
    dump_text_end(&text);
}

void dump_attribute(struct dump *d, const char *owner, const struct cdf_att *a,
                    const struct dump_epoch *epoch)
{
    char name[UTIL_NAME_SIZE];
    util_name(name, sizeof name, a->name);
    util_out_print(&d->out, "\t\t%s:%s = ", owner, name);
    if (a->type == NC_CHAR || a->nelems == 0) {
        put_text(d, a->type == NC_CHAR ? a : &(struct cdf_att){.values = ""});
        util_out_text(&d->out, " ;\n");
        return;
    }
    struct numbers n = {.att = a};
    bool single = a->type == NC_FLOAT;
    dump_format_init(&n.format, a->type,
                     single ? d->options.float_digits : d->options.double_digits);
    put_numbers(d, &n);
    util_out_text(&d->out, " ;");
    if (epoch != NULL) put_dates(d, &n, epoch);
    util_out_text(&d->out, "\n");
}
