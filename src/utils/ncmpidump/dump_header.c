/* Prints the definitions as CDL: dimensions, variables and attributes. */
#include <string.h>

#include "dump.h"
#include "dump_value.h"
#include "util_name.h"
#include "util_type.h"

/* Prints the name of the dataset: by default the file's name without directories and
 * extension. */
static void put_dataset(struct dump *d)
{
    char base[NC_MAX_NAME + 1], name[UTIL_NAME_SIZE];
    const char *from = d->options.name;
    size_t length;
    if (from != NULL)
        length = strlen(from);
    else {
        const char *slash = strrchr(d->file.path, '/');
        from = slash == NULL ? d->file.path : slash + 1;
        const char *dot = strrchr(from, '.');
        length = dot != NULL && dot > from ? (size_t)(dot - from) : strlen(from);
    }
    if (length > NC_MAX_NAME) length = NC_MAX_NAME;
    memcpy(base, from, length);
    base[length] = '\0';
    util_name(name, sizeof name, base);
    util_out_print(&d->out, "netcdf %s {\n", name);
}

static void put_dimensions(struct dump *d)
{
    const struct cdf_header *h = &d->file.header;
    if (h->ndims > 0) util_out_text(&d->out, "dimensions:\n");
    for (int i = 0; i < h->ndims; i++) {
        char name[UTIL_NAME_SIZE];
        util_name(name, sizeof name, h->dims[i].name);
        const bool limitless = util_is_limitless(&d->file, i);
        util_out_print(
            &d->out,
            limitless ? "\t%s = UNLIMITED ; // (%lld currently)\n" : "\t%s = %lld ;\n",
            name, (long long)(i == h->unlimited ? h->numrecs : h->dims[i].length));
    }
}

/* Returns whether a name is a keyword that starts a CDL section if a colon follows it. If
 * a variable has such a name, its attributes need a space before the colon. */
static bool begins_section(const char *name)
{
    static const char *const words[] = {"dimensions", "variables", "data", "types",
                                        "group"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(name, words[i]) == 0) return true;
    return false;
}

static void put_variable(struct dump *d, int varid)
{
    const struct cdf_header *h = &d->file.header;
    const struct cdf_var *v = &h->vars[varid];
    char owner[UTIL_NAME_SIZE], name[UTIL_NAME_SIZE];
    util_name(owner, sizeof owner, v->name);
    util_out_print(&d->out, "\t%s %s", util_type_name(v->type), owner);
    for (int i = 0; i < v->ndims; i++) {
        util_name(name, sizeof name, h->dims[v->dimids[i]].name);
        util_out_print(&d->out, "%s%s", i == 0 ? "(" : ", ", name);
    }
    util_out_text(&d->out, v->ndims > 0 ? ") ;\n" : " ;\n");

    struct dump_epoch epoch;
    if (begins_section(v->name)) strcat(owner, " ");
    bool is_time = dump_is_time(d, varid, false, &epoch);
    for (int i = 0; i < v->atts.count; i++)
        dump_attribute(d, owner, &v->atts.list[i], is_time ? &epoch : NULL);
    if (d->options.special) dump_special(d, owner, varid);
}

static void put_global_attributes(struct dump *d)
{
    const struct cdf_header *h = &d->file.header;
    if (h->gatts.count > 0 || d->options.special)
        util_out_text(&d->out, "\n// global attributes:\n");
    for (int i = 0; i < h->gatts.count; i++)
        dump_attribute(d, "", &h->gatts.list[i], NULL);
    if (d->options.special) dump_special(d, "", NC_GLOBAL);
}

void dump_header(struct dump *d)
{
    put_dataset(d);
    put_dimensions(d);
    if (d->file.header.nvars > 0) util_out_text(&d->out, "variables:\n");
    for (int i = 0; i < d->file.header.nvars; i++)
        put_variable(d, i);
    put_global_attributes(d);
}
