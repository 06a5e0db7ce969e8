/* An open netCDF-4 file as a classic header, and its values. */
#include "nc4.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
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
    err = nc4_error(nc4_call(nc_inq_format, ncid, &format), "looking at", path);
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
    f->ncid = -1;
    base_free(f->ids);
    f->ids = NULL;
    return nc4_error(err, "closing", "a netCDF-4 file");
}

/* ---- definitions ---- */

/* What is read, while it is. */
struct reading {
    struct nc4_file *f;
    struct cdf_header *h;
    int ndims, nunlimited, nvars; /* in the file */
    int *dims, *to, *unlimited, *inner,
        *vars; /* ids; what each dimension became, or -1;
                * is it in another place than the first? */
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
leave_out(struct nc4_file *f, const char *format, ...)
{
    size_t used = strlen(f->left), room = sizeof f->left - used;
    va_list args;
    va_start(args, format);
    if (f->nleft++ > 0 && room > 2) {
        memcpy(f->left + used, ", ", 3);
        used += 2, room -= 2;
    }
    int n = vsnprintf(f->left + used, room, format, args);
    va_end(args);
    if (n >= (int)room) memcpy(f->left + sizeof f->left - 4, "...", 4);
}

/* The place of a dimension in the file's list; -1. */
static int find_dim(const struct reading *r, int id)
{
    if (id >= 0 && id < r->ndims && r->dims[id] == id) return id;
    for (int i = 0; i < r->ndims; i++)
        if (r->dims[i] == id) return i;
    return -1;
}

/* A list of ids, after how many there are; both by one function of netCDF-C's. */
static int list_ids(int ncid, int (*inq)(int, int *, int *), int *n, int **ids)
{
    nc4_lock();
    int err = nc4_unlock(inq(ncid, n, NULL));
    *ids = err == NC_NOERR ? base_calloc((size_t)*n + 1, sizeof **ids) : NULL;
    if (err == NC_NOERR && *ids == NULL) return NC_ENOMEM;
    if (err != NC_NOERR || *n == 0) return err;
    nc4_lock();
    return nc4_unlock(inq(ncid, n, *ids));
}

static int root_dims(int ncid, int *n, int *ids)
{
    return nc4_functions.nc_inq_dimids(ncid, n, ids, 0);
}

static int list_all(struct reading *r)
{
    int ncid = r->f->ncid;
    int err = list_ids(ncid, root_dims, &r->ndims, &r->dims);
    if (err == NC_NOERR)
        err =
            list_ids(ncid, nc4_functions.nc_inq_unlimdims, &r->nunlimited, &r->unlimited);
    if (err == NC_NOERR)
        err = list_ids(ncid, nc4_functions.nc_inq_varids, &r->nvars, &r->vars);
    if (err != NC_NOERR) return err;
    r->to = base_calloc((size_t)r->ndims + 1, sizeof(int));
    r->inner = base_calloc((size_t)r->ndims + 1, sizeof(int));
    r->f->ids = base_calloc((size_t)r->ndims + (size_t)r->nvars + 1, sizeof(int));
    return r->to == NULL || r->inner == NULL || r->f->ids == NULL ? NC_ENOMEM : NC_NOERR;
}

static int note_groups(struct nc4_file *f)
{
    int n = 0, *ids = NULL, err = list_ids(f->ncid, nc4_functions.nc_inq_grps, &n, &ids);
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        char name[NC_MAX_NAME + 1] = "";
        err = nc4_call(nc_inq_grpname, ids[i], name);
        if (err == NC_NOERR) leave_out(f, "group %s", name);
    }
    base_free(ids);
    return err;
}

/* Which dimensions cannot be that of the records, as a variable has them further in. */
static int find_inner(struct reading *r)
{
    int err = NC_NOERR, ndims, dimids[NC4_RANK];
    for (int i = 0; i < r->nvars && err == NC_NOERR; i++) {
        err = nc4_call(nc_inq_var, r->f->ncid, r->vars[i], NULL, NULL, &ndims, dimids,
                       NULL);
        for (int k = 1; k < ndims && err == NC_NOERR; k++) {
            int at = find_dim(r, dimids[k]);
            if (at >= 0) r->inner[at] = 1;
        }
    }
    return err;
}

static bool is_unlimited(const struct reading *r, int id)
{
    for (int i = 0; i < r->nunlimited; i++)
        if (r->unlimited[i] == id) return true;
    return false;
}

static int read_dims(struct reading *r)
{
    int err = NC_NOERR;
    for (int i = 0; i < r->ndims && err == NC_NOERR; i++) {
        char name[NC_MAX_NAME + 1] = "";
        size_t length = 0;
        err = nc4_call(nc_inq_dim, r->f->ncid, r->dims[i], name, &length);
        bool records = r->h->unlimited < 0 && !r->inner[i] && is_unlimited(r, r->dims[i]);
        r->to[i] = -1;
        if (err != NC_NOERR) return nc4_error(err, "reading", "a dimension");
        if (length == 0 && !records) {
            leave_out(r->f, "dimension %s (of length 0)", name);
            continue;
        }
        if (records) r->h->numrecs = (int64_t)length;
        err =
            cdf_def_dim(r->h, name, records ? NC_UNLIMITED : (int64_t)length, &r->to[i]);
        if (err == NC_NOERR) r->f->ids[r->f->ndims++] = r->dims[i];
    }
    return err;
}

/* Of a variable of the header, or NC_GLOBAL. */
static int read_att(struct reading *r, int varid, const char *of, int number)
{
    struct nc4_file *f = r->f;
    int type, id = nc4_var(f, varid);
    char name[NC_MAX_NAME + 1] = "";
    size_t n = 0;
    void *values;
    int err = nc4_call(nc_inq_attname, f->ncid, id, number, name);
    if (err == NC_NOERR) err = nc4_call(nc_inq_att, f->ncid, id, name, &type, &n);
    if (err != NC_NOERR) return nc4_error(err, "reading an attribute of", of);
    if (cdf_type_size(type) == 0) {
        leave_out(f, "attribute %s:%s (%s)", varid == NC_GLOBAL ? "" : of, name,
                  type == NC_STRING ? "string" : "user-defined type");
        return NC_NOERR;
    }
    err = cdf_put_att(r->h, varid, name, type, (int64_t)n, &values);
    if (err != NC_NOERR || n == 0) return err;
    err = nc4_call(nc_get_att, f->ncid, id, name, values);
    conv_get_here(values, cdf_type_size(type), n);
    return nc4_error(err, "reading attribute", name);
}

static int read_atts(struct reading *r, int varid, const char *of, int natts)
{
    int err = NC_NOERR;
    for (int i = 0; i < natts && err == NC_NOERR; i++)
        err = read_att(r, varid, of, i);
    return err;
}

/* The header's ids of a variable's dimensions; the name of one that was left out. */
static const char *map_dims(const struct reading *r, int ndims, int *dimids)
{
    for (int k = 0; k < ndims; k++) {
        int at = find_dim(r, dimids[k]);
        if (at < 0 || r->to[at] < 0) return "a dimension of length 0";
        dimids[k] = r->to[at];
    }
    return NULL;
}

static int read_var(struct reading *r, int id)
{
    struct nc4_file *f = r->f;
    char name[NC_MAX_NAME + 1] = "";
    int type, ndims, natts, dimids[NC4_RANK], varid, no_fill = 0;
    int err = nc4_call(nc_inq_var, f->ncid, id, name, &type, &ndims, dimids, &natts);
    if (err != NC_NOERR) return nc4_error(err, "reading", "a variable");
    const char *why = map_dims(r, ndims, dimids);
    if (type == NC_STRING)
        why = "string";
    else if (cdf_type_size(type) == 0)
        why = "user-defined type";
    if (why != NULL) {
        leave_out(f, "variable %s (%s)", name, why);
        return NC_NOERR;
    }
    err = cdf_def_var(r->h, name, type, ndims, dimids, &varid);
    if (err != NC_NOERR) return err;
    f->ids[f->ndims + f->nvars++] = id;
    err = nc4_error(nc4_call(nc_inq_var_fill, f->ncid, id, &no_fill, NULL), "reading",
                    name);
    r->h->vars[varid].fill = !no_fill;
    return err == NC_NOERR ? read_atts(r, varid, name, natts) : err;
}

static int read_all(struct reading *r)
{
    int natts = 0, ncid = r->f->ncid, err = list_all(r);
    if (err == NC_NOERR) err = find_inner(r);
    if (err == NC_NOERR) err = note_groups(r->f);
    if (err == NC_NOERR) err = nc4_call(nc_inq_natts, ncid, &natts);
    if (err != NC_NOERR) return nc4_error(err, "reading the definitions of", "a file");
    err = read_dims(r);
    if (err == NC_NOERR) err = read_atts(r, NC_GLOBAL, "", natts);
    for (int i = 0; i < r->nvars && err == NC_NOERR; i++)
        err = read_var(r, r->vars[i]);
    return err;
}

int nc4_read_header(struct nc4_file *f, struct cdf_header *h)
{
    struct reading r = {.f = f, .h = h};
    cdf_init(h, 5);
    base_free(f->ids);
    f->ids = NULL;
    f->ndims = f->nvars = f->nleft = 0;
    f->left[0] = '\0';
    int err = read_all(&r);
    if (err == NC_NOERR) err = cdf_layout(h, NULL, &(struct cdf_room){0});
    int *const lists[] = {r.dims, r.to, r.unlimited, r.inner, r.vars};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        base_free(lists[i]);
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

int nc4_get(const struct nc4_file *f, const struct cdf_header *h, int varid,
            const int64_t *start, const int64_t *count, const int64_t *stride,
            void *external)
{
    const struct cdf_var *v = &h->vars[varid];
    struct place p;
    make_place(&p, v->ndims, start, count, stride);
    int err = nc4_call(nc_get_vars, f->ncid, nc4_var(f, varid), p.start, p.count,
                       stride == NULL ? NULL : p.stride, external);
    if (err != NC_NOERR) return nc4_error(err, "reading", v->name);
    conv_get_here(external, cdf_type_size(v->type), p.n);
    return NC_NOERR;
}

int nc4_put(const struct nc4_file *f, const struct cdf_header *h, int varid,
            const int64_t *start, const int64_t *count, const int64_t *stride,
            void *external)
{
    const struct cdf_var *v = &h->vars[varid];
    struct place p;
    make_place(&p, v->ndims, start, count, stride);
    conv_get_here(external, cdf_type_size(v->type), p.n);
    return nc4_error(nc4_call(nc_put_vars, f->ncid, nc4_var(f, varid), p.start, p.count,
                              stride == NULL ? NULL : p.stride, external),
                     "writing", v->name);
}
