/* Puts, gets, inquires, renames, copies and deletes attributes. A change is checked
 * completely before anything is modified, and is committed on all processes. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "api_dataset.h"
#include "api_safe.h"
#include "api_errors.h"
#include "conv.h"
#include "pnetcdf.h"

/* An attribute to be written. */
struct attribute {
    int varid;
    const char *name;
    int xtype;
    MPI_Offset nelems;
    bool copied; /* it is copied from another variable, whatever its type */
};

/* Checks that the new value does not make the header longer in data mode. */
static int check_header_space(struct api_dataset *d, const struct attribute *a)
{
    if (d->defining) return NC_NOERR;
    int id, err = cdf_find_att(&d->ds.header, a->varid, a->name, &id);
    if (err == NC_ENOTATT)
        return base_error_named(NC_ENOTINDEFINE, "attribute '%.80s' does not exist yet%s",
                                a->name, NULL);
    if (err != NC_NOERR) return err;
    const struct cdf_att *old = &cdf_atts(&d->ds.header, a->varid)->list[id];
    int64_t had = (old->nelems * cdf_type_size(old->type) + 3) / 4;
    int64_t needs = (a->nelems * cdf_type_size(a->xtype) + 3) / 4;
    if (needs <= had) return NC_NOERR;
    return base_error_named(NC_ENOTINDEFINE, "attribute '%.80s' would become longer%s",
                            a->name, NULL);
}

static bool is_fill_value(const struct attribute *a)
{
    return a->varid != NC_GLOBAL && strcmp(a->name, NC_FillValue) == 0;
}

/* Checks that a new _FillValue attribute has one value, of the variable's type. An
 * existing one, which may be invalid, can be copied, except to a netCDF-4 file, where
 * netCDF-C rejects it. */
static int check_fill(const struct api_dataset *d, const struct attribute *a)
{
    if (!is_fill_value(a) || (a->copied && d->ds.netcdf4 == 0)) return NC_NOERR;
    const struct cdf_var *v = api_var(d, a->varid);
    if (a->xtype != v->type)
        return base_error_set(
            NC_EBADTYPE, "%s has type %s, but variable '%.80s' has type %s", NC_FillValue,
            cdf_type_name(a->xtype), v->name, cdf_type_name(v->type));
    if (a->nelems == 1) return NC_NOERR;
    return base_error_set(NC_EINVAL,
                          "%s of variable '%.80s' has %lld elements instead of 1",
                          NC_FillValue, v->name, (long long)a->nelems);
}

/* Checks that a _FillValue attribute is set before the variable's first enddef. */
static int check_before_enddef(const struct api_dataset *d, const struct attribute *a)
{
    if (!is_fill_value(a)) return NC_NOERR;
    bool new_here = d->defining && (d->fresh || a->varid >= d->before.nvars);
    if (new_here) return NC_NOERR;
    return base_error_named(NC_ELATEFILL, "variable '%.80s'%s",
                            api_var(d, a->varid)->name, NULL);
}

static int check_nelems(const struct api_dataset *d, const struct attribute *a,
                        const void *values)
{
    int64_t most = cdf_max_values(d->ds.header.format);
    if (a->nelems < 0 || a->nelems > most)
        return base_error_set(NC_EINVAL, "attribute '%.80s' cannot have %lld elements",
                              a->name, (long long)a->nelems);
    if (a->nelems == 0 || values != NULL) return NC_NOERR;
    return base_error_named(NC_EINVAL, "the values of attribute '%.80s' are NULL%s",
                            a->name, NULL);
}

static int check_att(struct api_dataset *d, const struct attribute *a,
                     enum conv_type type, const void *values)
{
    char norm[NC_MAX_NAME + 1];
    if (cdf_atts(&d->ds.header, a->varid) == NULL) return api_no_var(d, a->varid);
    int err = cdf_check_name(a->name, norm);
    if (err == NC_NOERR) err = cdf_check_type(d->ds.header.format, a->xtype);
    if (err == NC_NOERR) err = api_check_strict(d, a->xtype);
    if (err == NC_NOERR && (int)type >= 0)
        err = api_check_values("attribute", a->name, a->xtype, type);
    if (err == NC_NOERR) err = check_nelems(d, a, values);
    if (err == NC_NOERR) err = check_fill(d, a);
    if (err == NC_NOERR) err = check_header_space(d, a);
    return err == NC_NOERR ? check_before_enddef(d, a) : err;
}

/* Compares the attribute across processes in safe mode. Skips the values if err is an
 * error, since they may be unreadable. */
static int same_att_all(struct api_dataset *d, const struct attribute *a,
                        enum conv_type type, const void *values, int err)
{
    struct api_args args;
    if (!d->ds.safe_mode) return NC_NOERR;
    bool some = err == NC_NOERR && a->nelems > 0 && (int)type >= 0;
    int64_t size = some ? a->nelems * conv_size(type) : 0;
    api_args_start(&args, "ncmpi_put_att");
    api_arg_number(&args, "varid", NC_EMULTIDEFINE_FNC_ARGS, a->varid);
    api_arg_text(&args, "name", NC_EMULTIDEFINE_ATTR_NAME, a->name);
    api_arg_number(&args, "xtype", NC_EMULTIDEFINE_ATTR_TYPE, a->xtype);
    api_arg_number(&args, "nelems", NC_EMULTIDEFINE_ATTR_LEN, a->nelems);
    api_arg_bytes(&args, "values", NC_EMULTIDEFINE_ATTR_VAL, values, size);
    return api_args_agree_all(&d->ds, &args);
}

/* Compares one or two attribute names across processes in safe mode. */
static int same_names_all(struct api_dataset *d, const char *function, int varid,
                          const char *name, const char *new_name)
{
    struct api_args args;
    if (!d->ds.safe_mode) return NC_NOERR;
    api_args_start(&args, function);
    api_arg_number(&args, "varid", NC_EMULTIDEFINE_FNC_ARGS, varid);
    api_arg_text(&args, "name", NC_EMULTIDEFINE_ATTR_NAME, name);
    api_arg_text(&args, "new name", NC_EMULTIDEFINE_ATTR_NAME, new_name);
    return api_args_agree_all(&d->ds, &args);
}

int api_put_att_all(int ncid, int varid, const char *name, int xtype, MPI_Offset nelems,
                    const void *values, MPI_Datatype mpi_type)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (!d->ds.writable) return api_refuse(d, NC_EPERM);

    const struct attribute a = {varid, name, xtype, nelems, false};
    enum conv_type type = (enum conv_type)conv_type_of(xtype);
    if (mpi_type != MPI_DATATYPE_NULL) err = api_conv_type(mpi_type, xtype, &type);
    if (err == NC_NOERR) err = check_att(d, &a, type, values);
    int same = same_att_all(d, &a, type, values, err);
    if (same != NC_NOERR) return same;
    void *room;
    int range = NC_NOERR;
    if (err == NC_NOERR) err = api_begin_change(d);
    if (err == NC_NOERR)
        err = cdf_put_att(&d->ds.header, varid, name, xtype, nelems, &room);
    if (err == NC_NOERR && nelems > 0) {
        unsigned char fill[8];
        cdf_default_fill(xtype, fill);
        range = conv_put(room, conv_effective_type(cdf_rules(&d->ds.header), xtype, type),
                         values, type, (size_t)nelems, fill);
    }
    err = api_commit_all(d, err);
    if (err != NC_NOERR || range == NC_NOERR) return err;
    return base_error_named(range, "attribute '%.80s' of type %s", name,
                            cdf_type_name(xtype));
}

static int find_attribute(struct api_dataset *d, int varid, const char *name, int *id)
{
    char norm[NC_MAX_NAME + 1];
    if (cdf_atts(&d->ds.header, varid) == NULL) return api_no_var(d, varid);
    if (name == NULL || *name == '\0' || strlen(name) > NC_MAX_NAME) {
        int err = cdf_check_name(name, norm);
        return err != NC_NOERR ? err : NC_EBADNAME;
    }
    int err = cdf_find_att(&d->ds.header, varid, name, id);
    if (err == NC_NOERR) return err;
    if (err == NC_ENOTATT) err = api_no_att(&d->ds.header, varid, name);
    char what[NC_MAX_NAME + 20];
    snprintf(what, sizeof what,
             "attribute %s:", varid == NC_GLOBAL ? "" : d->ds.header.vars[varid].name);
    return api_explain_omitted(d, err, what, name);
}

/* Finds an attribute in the dataset `ncid`. */
static int find_by_id(int ncid, int varid, const char *name, struct api_dataset **d,
                      int *id)
{
    int err = api_find(ncid, d);
    return err != NC_NOERR ? err : find_attribute(*d, varid, name, id);
}

int api_get_att(int ncid, int varid, const char *name, void *values,
                MPI_Datatype mpi_type)
{
    struct api_dataset *d;
    int id, err = find_by_id(ncid, varid, name, &d, &id);
    if (err != NC_NOERR) return err;

    const struct cdf_att *a = &cdf_atts(&d->ds.header, varid)->list[id];
    enum conv_type type = (enum conv_type)conv_type_of(a->type);
    if (mpi_type != MPI_DATATYPE_NULL) err = api_conv_type(mpi_type, a->type, &type);
    if (err != NC_NOERR || a->nelems == 0) return err;
    err = api_check_values("attribute", name, a->type, type);
    if (err != NC_NOERR) return err;
    if (values == NULL) return api_null(NC_EINVAL, "value");
    err = conv_get(values, type, a->values,
                   conv_effective_type(cdf_rules(&d->ds.header), a->type, type),
                   (size_t)a->nelems);
    if (err == NC_NOERR) return err;
    return base_error_named(err, "attribute '%.80s' of type %s", name,
                            cdf_type_name(a->type));
}

/* Copies an attribute to another variable or dataset. `from` is passed by value because
 * writing may move the list that contains it. */
static int copy_att(struct api_dataset *d, int varid, const char *name,
                    const struct cdf_att from)
{
    const struct attribute a = {varid, name, from.type, from.nelems, true};
    void *room;
    int err = check_att(d, &a, (enum conv_type)conv_type_of(from.type), from.values);
    if (err == NC_NOERR) err = api_begin_change(d);
    if (err == NC_NOERR)
        err = cdf_put_att(&d->ds.header, varid, name, from.type, from.nelems, &room);
    if (err == NC_NOERR && from.nelems > 0)
        memcpy(room, from.values, (size_t)(from.nelems * cdf_type_size(from.type)));
    return err;
}

int ncmpi_copy_att(int ncid_in, int varid_in, const char *name, int ncid_out,
                   int varid_out)
{
    struct api_dataset *in, *out;
    int id, err = api_find(ncid_out, &out);
    if (err != NC_NOERR) return err;
    if (!out->ds.writable) return api_refuse(out, NC_EPERM);
    int same = same_names_all(out, "ncmpi_copy_att", varid_out, name, NULL);
    if (same != NC_NOERR) return same;
    err = api_find(ncid_in, &in);
    if (err == NC_NOERR && cdf_atts(&out->ds.header, varid_out) == NULL)
        err = api_no_var(out, varid_out);
    if (err == NC_NOERR) err = find_attribute(in, varid_in, name, &id);
    if (err == NC_NOERR && (in != out || varid_in != varid_out))
        err =
            copy_att(out, varid_out, name, cdf_atts(&in->ds.header, varid_in)->list[id]);
    return api_commit_all(out, err);
}

/* Checks that the attribute may be renamed, and is valid under its new name. */
static int check_new_name(struct api_dataset *d, int varid, int id, const char *name)
{
    const struct cdf_att *old = &cdf_atts(&d->ds.header, varid)->list[id];
    const struct attribute a = {varid, name, old->type, old->nelems, false};
    int other;
    bool taken = cdf_find_att(&d->ds.header, varid, name, &other) == NC_NOERR;
    int err = api_check_rename(d, old->name, name, taken);
    if (err == NC_NOERR) err = check_fill(d, &a);
    return err == NC_NOERR ? check_before_enddef(d, &a) : err;
}

int ncmpi_rename_att(int ncid, int varid, const char *name, const char *newname)
{
    struct api_dataset *d;
    int id, err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (!d->ds.writable) return api_refuse(d, NC_EPERM);
    int same = same_names_all(d, "ncmpi_rename_att", varid, name, newname);
    if (same != NC_NOERR) return same;
    err = cdf_atts(&d->ds.header, varid) == NULL ? api_no_var(d, varid)
                                                 : api_check_name(newname);
    if (err == NC_NOERR) err = find_attribute(d, varid, name, &id);
    if (err == NC_NOERR) err = check_new_name(d, varid, id, newname);
    if (err == NC_NOERR) err = api_begin_change(d);
    if (err == NC_NOERR) err = cdf_rename_att(&d->ds.header, varid, name, newname);
    return api_commit_all(d, err);
}

int ncmpi_del_att(int ncid, int varid, const char *name)
{
    struct api_dataset *d;
    int id, err = api_find_to_change(ncid, &d);
    if (err == NC_NOERR) err = same_names_all(d, "ncmpi_del_att", varid, name, NULL);
    if (err != NC_NOERR) return err;
    err = find_attribute(d, varid, name, &id);
    if (err == NC_NOERR) err = cdf_del_att(&d->ds.header, varid, name);
    return api_agree_if_safe_all(d, err);
}

int ncmpi_inq_att(int ncid, int varid, const char *name, nc_type *xtypep,
                  MPI_Offset *lenp)
{
    struct api_dataset *d;
    int id, err = find_by_id(ncid, varid, name, &d, &id);
    if (err != NC_NOERR) return err;
    const struct cdf_att *a = &cdf_atts(&d->ds.header, varid)->list[id];
    if (xtypep != NULL) *xtypep = a->type;
    if (lenp != NULL) *lenp = a->nelems;
    return NC_NOERR;
}

int ncmpi_inq_atttype(int ncid, int varid, const char *name, nc_type *xtypep)
{
    return ncmpi_inq_att(ncid, varid, name, xtypep, NULL);
}

int ncmpi_inq_attlen(int ncid, int varid, const char *name, MPI_Offset *lenp)
{
    return ncmpi_inq_att(ncid, varid, name, NULL, lenp);
}

int ncmpi_inq_attid(int ncid, int varid, const char *name, int *idp)
{
    struct api_dataset *d;
    int id, err = find_by_id(ncid, varid, name, &d, &id);
    if (err == NC_NOERR && idp != NULL) *idp = id;
    return err;
}

int ncmpi_inq_attname(int ncid, int varid, int attnum, char *name)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    const struct cdf_atts *atts = cdf_atts(&d->ds.header, varid);
    if (atts == NULL) return api_no_var(d, varid);
    if (attnum < 0 || attnum >= atts->count)
        return base_error_set(NC_ENOTATT,
                              "attribute number %d, but there are %d attributes", attnum,
                              atts->count);
    if (name != NULL) strcpy(name, atts->list[attnum].name);
    return NC_NOERR;
}
