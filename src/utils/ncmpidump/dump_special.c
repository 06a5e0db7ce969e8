/* Prints special attributes, which describe how data are stored: chunk sizes,
 * compression, byte order, format. They are not stored in the file as attributes. */
#include "dump.h"
#include "nc4.h"
#include "nc4_library.h"
#include "pnetcdf_constants.h"
#include "util_type.h"

/* Calls a function of netCDF-C that is not in nc4_functions. The result is false if the
 * function does not exist or fails. */
#define ASK(type, name, ...)                                                             \
    (nc4_find(name) != NULL &&                                                           \
     nc4_unlock((nc4_lock(), ((type *)nc4_find(name))(__VA_ARGS__))) == NC_NOERR)

typedef int ask_chunking(int ncid, int varid, int *storage, size_t *sizes);
typedef int ask_deflate(int ncid, int varid, int *shuffle, int *deflate, int *level);
typedef int ask_number(int ncid, int varid, int *number);

enum { LITTLE = 1, BIG = 2 }; /* netCDF-C's constants */

static void put_text(struct dump *d, const char *owner, const char *name,
                     const char *value)
{
    util_out_print(&d->out, "\t\t%s:%s = \"%s\" ;\n", owner, name, value);
}

static void put_chunks(struct dump *d, const char *owner, int ncid, int varid, int ndims)
{
    static const char *const words[] = {"chunked", "contiguous", "compact"};
    size_t sizes[NC4_RANK];
    int storage;
    if (!ASK(ask_chunking, "nc_inq_var_chunking", ncid, varid, &storage, sizes)) return;
    if (storage >= 0 && storage < (int)(sizeof words / sizeof words[0]))
        put_text(d, owner, "_Storage", words[storage]);
    if (storage != 0) return;
    util_out_print(&d->out, "\t\t%s:_ChunkSizes = ", owner);
    for (int i = 0; i < ndims; i++)
        util_out_print(&d->out, "%s%zu", i > 0 ? ", " : "", sizes[i]);
    util_out_text(&d->out, " ;\n");
}

static void put_filters(struct dump *d, const char *owner, int ncid, int varid)
{
    int checked, shuffled, deflated, level;
    if (ASK(ask_number, "nc_inq_var_fletcher32", ncid, varid, &checked) && checked != 0)
        put_text(d, owner, "_Fletcher32", "true");
    if (!ASK(ask_deflate, "nc_inq_var_deflate", ncid, varid, &shuffled, &deflated,
             &level))
        return;
    if (shuffled != 0) put_text(d, owner, "_Shuffle", "true");
    if (deflated != 0)
        util_out_print(&d->out, "\t\t%s:_DeflateLevel = %d ;\n", owner, level);
}

static void put_variable(struct dump *d, const char *owner, const struct cdf_var *v,
                         int ncid, int varid)
{
    int order, no_fill;
    put_chunks(d, owner, ncid, varid, v->ndims);
    put_filters(d, owner, ncid, varid);
    if (cdf_type_size(v->type) > 1 &&
        ASK(ask_number, "nc_inq_var_endian", ncid, varid, &order) &&
        (order == LITTLE || order == BIG))
        put_text(d, owner, "_Endianness", order == LITTLE ? "little" : "big");
    if (nc4_call(nc_inq_var_fill, ncid, varid, &no_fill, NULL) == NC_NOERR &&
        no_fill != 0)
        put_text(d, owner, "_NoFill", "true");
}

/* netCDF-C returns these attributes only if they are requested by name. */
static void put_dataset(struct dump *d, int ncid)
{
    static const char *const numbers[] = {"_SuperblockVersion", "_IsNetcdf4"};
    char text[UTIL_OUT_PIECE / 2];
    size_t n;
    int type, number;
    if (nc4_call(nc_inq_att, ncid, NC_GLOBAL, "_NCProperties", &type, &n) == NC_NOERR &&
        type == NC_CHAR && n < sizeof text &&
        nc4_call(nc_get_att, ncid, NC_GLOBAL, "_NCProperties", text) == NC_NOERR) {
        text[n] = '\0';
        put_text(d, "", "_NCProperties", text);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (nc4_call(nc_get_att, ncid, NC_GLOBAL, numbers[i], &number) == NC_NOERR)
            util_out_print(&d->out, "\t\t:%s = %d ;\n", numbers[i], number);
}

void dump_special(struct dump *d, const char *owner, int varid)
{
    const struct nc4_file *f = d->file.nc4;
    if (varid == NC_GLOBAL) {
        if (f != NULL) put_dataset(d, f->ncid);
        put_text(d, "", "_Format", util_format_name(util_format(&d->file)));
    } else if (f != NULL) {
        put_variable(d, owner, &d->file.header.vars[varid], f->ncid, nc4_var(f, varid));
    }
}
