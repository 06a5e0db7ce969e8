/* Presents an open netCDF-4 file as a classic header, and transfers its values. */
#include "nc4.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base_arena.h"
#include "base_error.h"
#include "hints_table.h"
#include "base_mem.h"
#include "conv.h"
#include "nc4_library.h"

int nc4_error(int code, const char *what, const char *name)
{
    if (code > 0) errno = code;
    if (code >= 0) return code == 0 ? NC_NOERR : base_error_system(NC_EFILE, what, name);
    nc4_any_function f = nc4_find("nc_strerror");
    const char *words = f == NULL ? "" : ((const char *(*)(int))f)(code);
    return base_error_set(code, "%s %s, netCDF-C (%s): %s", what, name, nc4_name(),
                          words);
}

/* ---- open and close ---- */

static int begin(struct nc4_file *f)
{
    *f = (struct nc4_file){.ncid = -1};
    return nc4_load(false);
}

int nc4_opened(struct nc4_file *f, int err, int ncid, const char *what, const char *path)
{
    int format = 0;
    if (err != NC_NOERR) return nc4_error(err, what, path);
    f->ncid = ncid;
    err = nc4_error(nc4_call(nc_inq_format, ncid, &format), "examining", path);
    f->classic = format == NC_FORMAT_NETCDF4_CLASSIC;
    if (err == NC_NOERR && !f->classic && format != NC_FORMAT_NETCDF4)
        err = base_error_set(NC_ENOTNC4, "%s is not in HDF5 format", path);
    if (err != NC_NOERR) (void)nc4_close(f);
    return err;
}

int nc4_open(struct nc4_file *f, const char *path, bool writable)
{
    int ncid = -1, err = begin(f);
    if (err != NC_NOERR) return err;
    err = nc4_call(nc_open, path, writable ? NC_WRITE : NC_NOWRITE, &ncid);
    return nc4_opened(f, err, ncid, "opening", path);
}

int nc4_create(struct nc4_file *f, const char *path, int cmode)
{
    int ncid = -1, err = begin(f);
    if (err != NC_NOERR) return err;
    cmode = NC_NETCDF4 | (cmode & (NC_NOCLOBBER | NC_CLASSIC_MODEL));
    err = nc4_call(nc_create, path, cmode, &ncid);
    return nc4_opened(f, err, ncid, "creating", path);
}

int nc4_close(struct nc4_file *f)
{
    int err = f->ncid < 0 ? NC_NOERR : nc4_call(nc_close, f->ncid);
    base_free(f->ids);
    base_free(f->limitless);
    base_free(f->omitted);
    *f = (struct nc4_file){.ncid = -1};
    return nc4_error(err, "closing", "a netCDF-4 file");
}

/* ---- definitions ---- */

/* Kinds of objects in the root group, each with a list of ids. */
enum { DIMS, UNLIMITED, VARS, GROUPS, LISTS };

enum {
    INNER = -1,   /* before ids are assigned: cannot be the record dimension */
    EMPTY = -1,   /* omitted, because its length is 0 */
    UNNAMED = -2, /* omitted, because of its name */
    /* Size of a buffer for a name. netCDF-C does not terminate names longer than
     * NC_MAX_NAME, so it may return some bytes more. */
    NAME_SIZE = 2 * NC_MAX_NAME
};

/* State during the reading of definitions. */
struct reading {
    struct nc4_file *f;
    struct cdf_header *h;
    int n[LISTS], *ids[LISTS];
    int *to; /* for each dimension, its id in the header, or one of the above */
    struct base_arena arena;
};

/* Adds a line about an omitted object, "variable v (string)". `why` is NULL for
 * groups. */
static int add_omitted(struct nc4_file *f, const char *kind, const char *name,
                       const char *why)
{
    size_t used = f->omitted == NULL ? 0 : strlen(f->omitted);
    size_t more = strlen(kind) + strlen(name) + (why == NULL ? 0 : strlen(why)) + 6;
    char *left = base_realloc(f->omitted, used + more);
    if (left == NULL) return NC_ENOMEM;
    f->omitted = left;
    snprintf(left + used, more, why == NULL ? "%s %s\n" : "%s %s (%s)\n", kind, name,
             why);
    for (char *c = left + used; c[0] != '\0' && c[1] != '\0'; c++)
        if (*c == '\n') *c = '?';
    return NC_NOERR;
}

/* Adds a line about an object that could not be added to the header, if the reason is its
 * name. Otherwise returns the error. */
static int omit_unnamed(struct nc4_file *f, const char *kind, const char *name, int err)
{
    char why[200];
    if (err != NC_EBADNAME && err != NC_EMAXNAME && err != NC_ENAMEINUSE) return err;
    snprintf(why, sizeof why, "%s", base_error_detail(err));
    return add_omitted(f, kind, name, why);
}

/* Returns the index of an id in a list, or -1. */
static int find_id(const struct reading *r, int list, int id)
{
    if (id >= 0 && id < r->n[list] && r->ids[list][id] == id) return id;
    for (int i = 0; i < r->n[list]; i++)
        if (r->ids[list][i] == id) return i;
    return -1;
}

static int root_dims(int ncid, int *n, int *ids)
{
    return nc4_functions.nc_inq_dimids(ncid, n, ids, 0);
}

/* Reads all lists of ids. A function that is passed no list returns only the length. */
static int list_all(struct reading *r)
{
    int (*const inq[])(int, int *, int *) = {root_dims, nc4_functions.nc_inq_unlimdims,
                                             nc4_functions.nc_inq_varids,
                                             nc4_functions.nc_inq_grps};
    int err = NC_NOERR, ncid = r->f->ncid;
    for (int i = 0; i < LISTS && err == NC_NOERR; i++) {
        err = nc4_unlock((nc4_lock(), inq[i](ncid, &r->n[i], NULL)));
        if (err != NC_NOERR) break;
        r->ids[i] = base_arena_alloc(&r->arena, ((size_t)r->n[i] + 1) * sizeof(int));
        if (r->ids[i] == NULL) return NC_ENOMEM;
        if (r->n[i] > 0) err = nc4_unlock((nc4_lock(), inq[i](ncid, NULL, r->ids[i])));
    }
    if (err != NC_NOERR) return nc4_error(err, "reading the definitions of", "a file");
    r->to = base_arena_alloc(&r->arena, ((size_t)r->n[DIMS] + 1) * sizeof(int));
    r->f->ids = base_calloc((size_t)r->n[DIMS] + (size_t)r->n[VARS] + 1, sizeof(int));
    r->f->limitless = base_calloc((size_t)r->n[DIMS] + 1, sizeof(bool));
    bool all = r->to != NULL && r->f->ids != NULL && r->f->limitless != NULL;
    return all ? NC_NOERR : NC_ENOMEM;
}

/* Records that each group is omitted. Marks the dimensions that cannot be the record
 * dimension because some variable uses them in a position other than the first. */
static int check_groups_and_dims(struct reading *r)
{
    int err = NC_NOERR, ndims, dimids[NC4_RANK];
    for (int i = 0; i < r->n[GROUPS] && err == NC_NOERR; i++) {
        char name[NAME_SIZE] = "";
        err = nc4_call(nc_inq_grpname, r->ids[GROUPS][i], name);
        if (err == NC_NOERR) err = add_omitted(r->f, "group", name, NULL);
    }
    for (int i = 0; i < r->n[DIMS]; i++)
        r->to[i] = 0;
    for (int i = 0; i < r->n[VARS] && err == NC_NOERR; i++) {
        err = nc4_call(nc_inq_var, r->f->ncid, r->ids[VARS][i], NULL, NULL, &ndims,
                       dimids, NULL);
        for (int k = 1; k < ndims && err == NC_NOERR; k++) {
            int at = find_id(r, DIMS, dimids[k]);
            if (at >= 0) r->to[at] = INNER;
        }
    }
    return nc4_error(err, "examining the definitions of", "a file");
}

/* Handles a dimension that cannot be added to the header because of its name. If the file
 * links it twice, netCDF-C returns the same name for both ids, and both become one. */
static int omit_dim(struct reading *r, int i, const char *name, int64_t length, int err)
{
    const struct cdf_header *h = r->h;
    int first;
    r->to[i] = UNNAMED;
    if (err != NC_ENAMEINUSE || cdf_find_dim(h, name, &first) != NC_NOERR ||
        length != (first == h->unlimited ? h->numrecs : h->dims[first].length))
        return omit_unnamed(r->f, "dimension", name, err);
    r->to[i] = first;
    return add_omitted(r->f, "dimension", name, "a second link to it");
}

static int read_dim(struct reading *r, int i)
{
    char name[NAME_SIZE] = "";
    size_t length = 0;
    int id = r->ids[DIMS][i];
    int err = nc4_call(nc_inq_dim, r->f->ncid, id, name, &length);
    const bool limitless = find_id(r, UNLIMITED, id) >= 0;
    bool records = r->h->unlimited < 0 && r->to[i] == 0 && limitless;
    if (err != NC_NOERR) return nc4_error(err, "reading", "a dimension");
    r->to[i] = EMPTY;
    if (length == 0 && !records)
        return add_omitted(r->f, "dimension", name, "of length 0");
    err = cdf_def_dim(r->h, name, records ? NC_UNLIMITED : (int64_t)length, &r->to[i]);
    if (err != NC_NOERR) return omit_dim(r, i, name, (int64_t)length, err);
    if (records) r->h->numrecs = (int64_t)length;
    r->f->limitless[r->f->nread++] = limitless;
    r->f->ids[r->f->ndims++] = id;
    return NC_NOERR;
}

/* Returns why the classic model does not support a type, or NULL if it does. */
static const char *unsupported_reason(int type)
{
    if (cdf_type_size(type) > 0) return NULL;
    return type == NC_STRING ? "string" : "user-defined type";
}

/* Reads an attribute. `varid` is the id in the header, or NC_GLOBAL. */
static int read_att(struct reading *r, int varid, const char *of, int number)
{
    struct nc4_file *f = r->f;
    int type, id = nc4_var(f, varid);
    char name[NAME_SIZE] = "";
    size_t n = 0;
    void *values;
    int err = nc4_call(nc_inq_attname, f->ncid, id, number, name);
    if (err == NC_NOERR) err = nc4_call(nc_inq_att, f->ncid, id, name, &type, &n);
    if (err != NC_NOERR) return nc4_error(err, "reading an attribute of", of);
    char whole[2 * NAME_SIZE];
    snprintf(whole, sizeof whole, "%s:%s", of, name);
    if (unsupported_reason(type) != NULL)
        return add_omitted(f, "attribute", whole, unsupported_reason(type));
    err = cdf_put_att(r->h, varid, name, type, (int64_t)n, &values);
    if (err != NC_NOERR) return omit_unnamed(f, "attribute", whole, err);
    if (n == 0) return NC_NOERR;
    err = nc4_call(nc_get_att, f->ncid, id, name, values);
    conv_get_in_place(values, cdf_type_size(type), n);
    return nc4_error(err, "reading attribute", name);
}

/* Reads the attributes of a variable (id `id` in the file, `varid` in the header) or of
 * the dataset. If one has a name longer than NC_MAX_NAME, netCDF-C returns none, so all
 * are omitted. */
static int read_atts(struct reading *r, int id, int varid, const char *of)
{
    int natts = 0, ncid = r->f->ncid;
    int err = id == NC_GLOBAL
                  ? nc4_call(nc_inq_natts, ncid, &natts)
                  : nc4_call(nc_inq_var, ncid, id, NULL, NULL, NULL, NULL, &natts);
    if (err != NC_NOERR) err = nc4_error(err, "reading the attributes of", of);
    for (int i = 0; i < natts && err == NC_NOERR; i++)
        err = read_att(r, varid, of, i);
    if (err != NC_EMAXNAME) return err;
    return add_omitted(r->f, "attributes of", id == NC_GLOBAL ? "the dataset" : of,
                       "one has a name that is too long");
}

/* Replaces netCDF-C's ids of a variable's dimensions with those in the header. Returns
 * what is wrong with the first dimension that was omitted, or NULL. */
static const char *map_dims(const struct reading *r, int ndims, int *dimids)
{
    for (int k = 0; k < ndims; k++) {
        int at = find_id(r, DIMS, dimids[k]);
        if (at < 0 || r->to[at] == UNNAMED) return "a dimension that was omitted";
        if (r->to[at] == EMPTY) return "a dimension of length 0";
        dimids[k] = r->to[at];
    }
    return NULL;
}

static int read_variable(struct reading *r, int id)
{
    struct nc4_file *f = r->f;
    char name[NAME_SIZE] = "";
    int type, ndims, dimids[NC4_RANK], varid, no_fill = 0;
    int err = nc4_call(nc_inq_var, f->ncid, id, name, &type, &ndims, dimids, NULL);
    if (err == NC_NOERR) err = nc4_call(nc_inq_var_fill, f->ncid, id, &no_fill, NULL);
    if (err != NC_NOERR) return nc4_error(err, "reading variable", name);
    const char *why = unsupported_reason(type);
    if (why == NULL) why = map_dims(r, ndims, dimids);
    if (why != NULL) return add_omitted(f, "variable", name, why);
    err = cdf_def_var(r->h, name, type, ndims, dimids, &varid);
    if (err != NC_NOERR) return omit_unnamed(f, "variable", name, err);
    f->ids[f->ndims + f->nvars++] = id;
    r->h->vars[varid].fill = !no_fill;
    return read_atts(r, id, varid, name);
}

/* The defaults for a new file, so that the offsets computed here match those in the
 * program that created it. */
static const struct cdf_padding as_created = {.header_minfree = CDF_DEFAULT_PADDING,
                                              .fixed_align = HINTS_FIXED_ALIGN,
                                              .record_align = HINTS_RECORD_ALIGN};

static int read_all(struct reading *r)
{
    int err = list_all(r);
    if (err == NC_NOERR) err = check_groups_and_dims(r);
    for (int i = 0; i < r->n[DIMS] && err == NC_NOERR; i++)
        err = read_dim(r, i);
    if (err == NC_NOERR) err = read_atts(r, NC_GLOBAL, NC_GLOBAL, "");
    for (int i = 0; i < r->n[VARS] && err == NC_NOERR; i++)
        err = read_variable(r, r->ids[VARS][i]);
    return err == NC_NOERR ? cdf_layout(r->h, NULL, &as_created) : err;
}

int nc4_read_header(struct nc4_file *f, struct cdf_header *h)
{
    struct reading r = {.f = f, .h = h};
    cdf_init(h, 5);
    base_free(f->ids);
    base_free(f->limitless);
    base_free(f->omitted);
    *f = (struct nc4_file){.ncid = f->ncid, .classic = f->classic};
    int err = read_all(&r);
    base_arena_free(&r.arena);
    if (err != NC_NOERR) cdf_free(h);
    return err;
}

/* ---- values ---- */

struct place {
    size_t start[NC4_RANK], count[NC4_RANK];
    ptrdiff_t stride[NC4_RANK];
    size_t n;
};

static void make_place(struct place *p, int ndims, const int64_t *start,
                       const int64_t *count, const int64_t *stride)
{
    p->n = 1;
    for (int i = 0; i < ndims; i++) {
        p->start[i] = (size_t)start[i];
        p->count[i] = (size_t)count[i];
        p->stride[i] = stride == NULL ? 1 : (ptrdiff_t)stride[i];
        p->n *= p->count[i];
    }
}

/* If a box extends beyond the data in the file, netCDF-C stores the existing values
 * contiguously, followed by the fill values. The result is correct only if the first
 * dimension is the only one in which the box extends beyond the data. */
int nc4_count_leading_dims(const struct nc4_file *f, const struct cdf_var *v)
{
    int i = v->ndims - 1;
    while (i > 0 && !nc4_is_limitless(f, v->dimids[i]))
        i--;
    return i < 0 ? 0 : i;
}

/* Advances to the next combination of leading indices. Returns false after the last. */
static bool next_front(struct place *p, int nfront, const int64_t *start,
                       const int64_t *count)
{
    for (int i = nfront - 1; i >= 0; i--) {
        p->start[i] += (size_t)p->stride[i];
        if (p->start[i] < (size_t)(start[i] + count[i] * p->stride[i])) return true;
        p->start[i] = (size_t)start[i];
    }
    return false;
}

int nc4_get(const struct nc4_file *f, const struct cdf_header *h, int varid,
            const int64_t *start, const int64_t *count, const int64_t *stride,
            void *external)
{
    const struct cdf_var *v = &h->vars[varid];
    struct place p;
    char *to = external;
    make_place(&p, v->ndims, start, count, stride);
    /* HDF5 leaves the memory of values as it was if the file does not contain them. */
    if (!v->fill) memset(external, 0, p.n * (size_t)cdf_type_size(v->type));
    const int nfront = p.n == 0 ? 0 : nc4_count_leading_dims(f, v);
    size_t n = p.n;
    for (int i = 0; i < nfront; i++) {
        n /= p.count[i];
        p.count[i] = 1;
    }
    do {
        int err = nc4_call(nc_get_vars, f->ncid, nc4_var(f, varid), p.start, p.count,
                           stride == NULL ? NULL : p.stride, to);
        if (err != NC_NOERR) return nc4_error(err, "reading", v->name);
        to += n * (size_t)cdf_type_size(v->type);
    } while (next_front(&p, nfront, start, count));
    conv_get_in_place(external, cdf_type_size(v->type), p.n);
    return NC_NOERR;
}

int nc4_put(const struct nc4_file *f, const struct cdf_header *h, int varid,
            const int64_t *start, const int64_t *count, const int64_t *stride,
            void *external)
{
    const struct cdf_var *v = &h->vars[varid];
    struct place p;
    make_place(&p, v->ndims, start, count, stride);
    conv_get_in_place(external, cdf_type_size(v->type), p.n);
    return nc4_error(nc4_call(nc_put_vars, f->ncid, nc4_var(f, varid), p.start, p.count,
                              stride == NULL ? NULL : p.stride, external),
                     "writing", v->name);
}
