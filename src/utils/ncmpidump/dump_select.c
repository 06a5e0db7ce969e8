/* Chooses the variables whose data are shown, and finds the variables that are times or
 * the bounds of times. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "dump.h"
#include "util_message.h"
#include "util_select.h"

/* Returns whether a variable is one-dimensional and has the name of its dimension. */
static bool is_coordinate(const struct cdf_header *h, const struct cdf_var *v)
{
    return v->ndims == 1 && strcmp(v->name, h->dims[v->dimids[0]].name) == 0;
}

/* Copies a text attribute up to its first NUL. Returns false if there is no such
 * attribute or it does not fit. */
static bool text_of(const struct cdf_header *h, int varid, const char *name, char *text,
                    size_t size)
{
    int attid;
    if (cdf_find_att(h, varid, name, &attid) != NC_NOERR) return false;
    const struct cdf_att *a = &h->vars[varid].atts.list[attid];
    if (a->type != NC_CHAR || (uint64_t)a->nelems >= size) return false;
    memcpy(text, a->values, (size_t)a->nelems);
    text[a->nelems] = '\0';
    return true;
}

static void find_bounds(struct dump *d)
{
    const struct cdf_header *h = &d->file.header;
    for (int i = 0; i < h->nvars; i++) {
        char name[NC_MAX_NAME + 1];
        int varid;
        if (text_of(h, i, "bounds", name, sizeof name) &&
            cdf_find_var(h, name, &varid) == NC_NOERR)
            d->bounds_owner[varid] = i;
    }
}

int dump_select(struct dump *d)
{
    const struct cdf_header *h = &d->file.header;
    size_t n = (size_t)h->nvars;
    d->wanted = base_calloc(n, sizeof d->wanted[0]);
    d->bounds_owner = base_malloc(n * sizeof d->bounds_owner[0]);
    if (d->wanted == NULL || d->bounds_owner == NULL) {
        util_message(DUMP_TOOL, NULL, -1, "%s", base_error_text(NC_ENOMEM));
        return -1;
    }
    for (int i = 0; i < h->nvars; i++) {
        d->wanted[i] = d->options.variables == NULL;
        d->bounds_owner[i] = -1;
    }
    const char *list = d->options.variables;
    if (list != NULL && util_select(DUMP_TOOL, d->file.path, h, list, d->wanted) != 0)
        return -1;
    for (int i = 0; i < h->nvars && d->options.coordinates_only; i++)
        d->wanted[i] &= is_coordinate(h, &h->vars[i]);
    if (d->options.date_mark != 0) find_bounds(d);
    return 0;
}

static bool parse_time(const struct cdf_header *h, int varid, struct dump_epoch *epoch)
{
    char units[128], calendar[128];
    if (!text_of(h, varid, "units", units, sizeof units)) return false;
    if (!text_of(h, varid, "calendar", calendar, sizeof calendar)) calendar[0] = '\0';
    return dump_find_calendar(calendar, &epoch->calendar) &&
           dump_parse_units(units, epoch);
}

bool dump_is_time(const struct dump *d, int varid, bool bounds, struct dump_epoch *epoch)
{
    const struct cdf_header *h = &d->file.header;
    if (d->options.date_mark == 0 || h->vars[varid].type == NC_CHAR) return false;
    if (parse_time(h, varid, epoch)) return true;
    int owner = bounds ? d->bounds_owner[varid] : -1;
    return owner >= 0 && parse_time(h, owner, epoch);
}
