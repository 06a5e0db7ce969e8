/* Defines dimensions, variables and fill modes. Safe mode first compares the arguments
 * across processes. */
#include <string.h>

#include "api_dataset.h"
#include "api_safe.h"
#include "api_errors.h"
#include "conv.h"
#include "driver_fill.h"
#include "pnetcdf.h"

static int same_dim_all(struct api_dataset *d, const char *name, MPI_Offset len)
{
    struct api_args a;
    if (!d->ds.safe_mode) return NC_NOERR;
    api_args_start(&a, "ncmpi_def_dim");
    api_arg_text(&a, "name", NC_EMULTIDEFINE_DIM_NAME, name);
    api_arg_number(&a, "len", NC_EMULTIDEFINE_DIM_SIZE, len);
    return api_args_agree_all(&d->ds, &a);
}

int ncmpi_def_dim(int ncid, const char *name, MPI_Offset len, int *idp)
{
    struct api_dataset *d;
    int id = -1, err = api_find_defining(ncid, &d);
    if (err != NC_NOERR) return err;
    err = same_dim_all(d, name, len);
    if (err != NC_NOERR) return err;
    err = api_agree_if_safe_all(d, cdf_def_dim(&d->ds.header, name, len, &id));
    if (err == NC_NOERR && idp != NULL) *idp = id;
    return err;
}

/* Returns how many dimension ids to compare: all up to and including the first invalid
 * one. */
static int count_usable_dimids(const struct api_dataset *d, int ndims, const int *dimids)
{
    int n = 0;
    if (dimids == NULL) return 0;
    while (n < ndims && dimids[n] >= 0 && dimids[n] < d->ds.header.ndims)
        n++;
    return n < ndims ? n + 1 : n;
}

static int same_var_all(struct api_dataset *d, const char *name, nc_type xtype, int ndims,
                        const int *dimids)
{
    struct api_args a;
    if (!d->ds.safe_mode) return NC_NOERR;
    api_args_start(&a, "ncmpi_def_var");
    api_arg_text(&a, "name", NC_EMULTIDEFINE_VAR_NAME, name);
    api_arg_number(&a, "xtype", NC_EMULTIDEFINE_VAR_TYPE, xtype);
    api_arg_number(&a, "ndims", NC_EMULTIDEFINE_VAR_NDIMS, ndims);
    api_arg_bytes(&a, "dimids", NC_EMULTIDEFINE_VAR_DIMIDS, ndims > 0 ? dimids : NULL,
                  count_usable_dimids(d, ndims, dimids) * (int64_t)sizeof *dimids);
    return api_args_agree_all(&d->ds, &a);
}

int ncmpi_def_var(int ncid, const char *name, nc_type xtype, int ndims,
                  const int *dimidsp, int *varidp)
{
    struct api_dataset *d;
    int id = -1, err = api_find_defining(ncid, &d);
    if (err != NC_NOERR) return err;
    err = same_var_all(d, name, xtype, ndims, dimidsp);
    if (err != NC_NOERR) return err;
    err = api_check_strict(d, xtype);
    if (err == NC_NOERR)
        err = cdf_def_var(&d->ds.header, name, xtype, ndims, dimidsp, &id);
    err = api_agree_if_safe_all(d, err);
    if (err != NC_NOERR) return err;
    d->ds.header.vars[id].fill = d->fill_mode == NC_FILL;
    api_quantize_hinted(d, id);
    if (varidp != NULL) *varidp = id;
    return NC_NOERR;
}

int api_check_name(const char *name)
{
    char norm[NC_MAX_NAME + 1];
    return cdf_check_name(name, norm);
}

int api_check_rename(const struct api_dataset *d, const char *old, const char *name,
                     bool taken)
{
    char norm[NC_MAX_NAME + 1];
    int err = cdf_check_name(name, norm);
    if (err == NC_NOERR && taken)
        err = base_error_set(NC_ENAMEINUSE, "'%.80s' already exists", norm);
    if (err != NC_NOERR || d->defining) return err;
    return strlen(norm) <= strlen(old) ? NC_NOERR : api_longer_name(old, norm);
}

static int same_name_all(struct api_dataset *d, const char *function, int id, int code,
                         const char *name)
{
    struct api_args a;
    if (!d->ds.safe_mode) return NC_NOERR;
    api_args_start(&a, function);
    api_arg_number(&a, "id", NC_EMULTIDEFINE_FNC_ARGS, id);
    api_arg_text(&a, "name", code, name);
    return api_args_agree_all(&d->ds, &a);
}

int ncmpi_rename_dim(int ncid, int dimid, const char *name)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (!d->ds.writable) return api_refuse(d, NC_EPERM);
    err = same_name_all(d, "ncmpi_rename_dim", dimid, NC_EMULTIDEFINE_DIM_NAME, name);
    if (err != NC_NOERR) return err;
    const struct cdf_header *h = &d->ds.header;
    int other = dimid;
    err = api_check_name(name);
    if (err == NC_NOERR && (dimid < 0 || dimid >= h->ndims)) err = api_no_dim(h, dimid);
    bool taken = err == NC_NOERR && cdf_find_dim(h, name, &other) == NC_NOERR;
    bool same = taken && other == dimid; /* the name is unchanged */
    if (err == NC_NOERR)
        err = api_check_rename(d, h->dims[dimid].name, name, taken && !same);
    if (err == NC_NOERR && !same) err = api_begin_change(d);
    if (err == NC_NOERR && !same) err = cdf_rename_dim(&d->ds.header, dimid, name);
    return api_commit_all(d, err);
}

int ncmpi_rename_var(int ncid, int varid, const char *name)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (!d->ds.writable) return api_refuse(d, NC_EPERM);
    err = same_name_all(d, "ncmpi_rename_var", varid, NC_EMULTIDEFINE_VAR_NAME, name);
    if (err != NC_NOERR) return err;
    const struct cdf_var *v = api_var(d, varid);
    int other;
    err = v != NULL ? api_check_name(name) : api_no_var(d, varid);
    if (err == NC_NOERR)
        err = api_check_rename(d, v->name, name,
                               cdf_find_var(&d->ds.header, name, &other) == NC_NOERR);
    if (err == NC_NOERR) err = api_begin_change(d);
    if (err == NC_NOERR) err = cdf_rename_var(&d->ds.header, varid, name);
    return api_commit_all(d, err);
}

/* ---- fill ---- */

static int same_fill_all(struct api_dataset *d, const char *function, int varid, int mode,
                         const void *value, int64_t size)
{
    struct api_args a;
    if (!d->ds.safe_mode) return NC_NOERR;
    api_args_start(&a, function);
    api_arg_number(&a, "varid", NC_EMULTIDEFINE_FNC_ARGS, varid);
    api_arg_number(&a, "fill mode",
                   varid == NC_GLOBAL ? NC_EMULTIDEFINE_FILL_MODE
                                      : NC_EMULTIDEFINE_VAR_FILL_MODE,
                   mode);
    api_arg_bytes(&a, "fill value", NC_EMULTIDEFINE_VAR_FILL_VALUE, value, size);
    return api_args_agree_all(&d->ds, &a);
}

int ncmpi_set_fill(int ncid, int fillmode, int *old_modep)
{
    struct api_dataset *d;
    int err = api_find_to_change(ncid, &d);
    if (err != NC_NOERR) return err;
    err = same_fill_all(d, "ncmpi_set_fill", NC_GLOBAL, fillmode, NULL, 0);
    if (err != NC_NOERR) return err;
    if (fillmode != NC_FILL && fillmode != NC_NOFILL)
        return base_error_set(NC_EINVAL, "fill mode %#x", (unsigned)fillmode);

    if (old_modep != NULL) *old_modep = d->fill_mode;
    d->fill_mode = fillmode;
    /* The mode applies to all variables in this define phase, even if defined earlier. */
    int first = d->fresh ? 0 : d->before.nvars;
    for (int id = first; id < d->ds.header.nvars; id++)
        d->ds.header.vars[id].fill = fillmode == NC_FILL;
    return NC_NOERR;
}

/* Sets the variable's fill value if one is given. */
static int put_fill(struct api_dataset *d, int varid, int no_fill, const void *fill_value)
{
    const struct cdf_var *v = &d->ds.header.vars[varid];
    const int type = v->type;
    bool in_file = !d->fresh && varid < d->before.nvars;
    void *xvalue;
    if (fill_value == NULL || no_fill) return NC_NOERR;
    if (in_file)
        return base_error_named(NC_ELATEFILL, "variable '%.80s'%s", v->name, NULL);
    int err = cdf_put_att(&d->ds.header, varid, NC_FillValue, type, 1, &xvalue);
    if (err == NC_NOERR)
        conv_put(xvalue, type, fill_value, (enum conv_type)conv_type_of(type), 1, NULL);
    return err;
}

int ncmpi_def_var_fill(int ncid, int varid, int no_fill, const void *fill_value)
{
    struct api_dataset *d;
    int err = api_find_defining(ncid, &d);
    if (err != NC_NOERR) return err;
    const struct cdf_var *v = api_var(d, varid);
    err = same_fill_all(d, "ncmpi_def_var_fill", varid, no_fill, fill_value,
                        v == NULL ? 0 : cdf_type_size(v->type));
    if (err != NC_NOERR) return err;
    err = v == NULL ? api_no_var(d, varid) : put_fill(d, varid, no_fill, fill_value);
    err = api_agree_if_safe_all(d, err);
    if (err == NC_NOERR) d->ds.header.vars[varid].fill = !no_fill;
    return err;
}

int ncmpi_inq_var_fill(int ncid, int varid, int *no_fill, void *fill_value)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    const struct cdf_var *v = api_var(d, varid);
    if (v == NULL) return api_no_var(d, varid);
    if (no_fill != NULL) *no_fill = !v->fill;
    if (fill_value != NULL) {
        unsigned char xvalue[8];
        cdf_fill_value(&d->ds.header, varid, xvalue);
        conv_get(fill_value, (enum conv_type)conv_type_of(v->type), xvalue, v->type, 1);
    }
    return NC_NOERR;
}

static int same_record_all(struct api_dataset *d, int varid, MPI_Offset recno)
{
    struct api_args a;
    if (!d->ds.safe_mode) return NC_NOERR;
    api_args_start(&a, "ncmpi_fill_var_rec");
    api_arg_number(&a, "varid", NC_EMULTIDEFINE_FNC_ARGS, varid);
    api_arg_number(&a, "recno", NC_EMULTIDEFINE_FNC_ARGS, recno);
    return api_args_agree_all(&d->ds, &a);
}

int ncmpi_fill_var_rec(int ncid, int varid, MPI_Offset recno)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (!d->ds.writable) return api_refuse(d, NC_EPERM);
    if (d->defining) return api_refuse(d, NC_EINDEFINE);
    if (d->indep) return api_refuse(d, NC_EINDEP);
    err = same_record_all(d, varid, recno);
    if (err != NC_NOERR) return err;
    struct trace_span span = trace_enter(d->ds.trace);

    const struct cdf_var *v = api_var(d, varid);
    if (v == NULL)
        err = base_error_set(NC_ENOTVAR, "variable id %d", varid);
    else if (!v->is_record)
        err = base_error_named(NC_ENOTRECVAR, "variable '%.80s'%s", v->name, NULL);
    else if (!cdf_has_fill(&d->ds.header, varid))
        err = base_error_named(NC_ENOTFILL, "variable '%.80s'%s", v->name, NULL);
    else if (recno < 0)
        err = base_error_set(NC_EINVAL, "record %lld", (long long)recno);
    else if (recno >= cdf_max_records(&d->ds.header))
        err = base_error_set(
            NC_EINVALCOORDS,
            "variable '%s', record %lld: at most %lld records are possible", v->name,
            (long long)recno, (long long)cdf_max_records(&d->ds.header));
    err = driver_fill_record_all(d->top, varid, recno, err);
    return trace_leave(d->ds.trace, span, "ncmpi_fill_var_rec", varid, err);
}
