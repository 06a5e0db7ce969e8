/* Defines dimensions, variables and attributes of the copy. */
#include "base_error.h"
#include "base_mem.h"
#include "copy.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

static int define_dims(struct copy *c)
{
    for (int i = 0; i < c->ndims; i++) {
        struct copy_dim *d = &c->dims[i];
        if (!d->used) continue;
        int err = ncmpi_def_dim(c->out, d->name, d->unlimited ? NC_UNLIMITED : d->count,
                                &d->out);
        if (err != NC_NOERR) return copy_complain(c->options.to, d->name, err);
    }
    return 0;
}

static int copy_atts(struct copy *c, int in, int out)
{
    int n;
    int err =
        in == NC_GLOBAL ? ncmpi_inq_natts(c->in, &n) : ncmpi_inq_varnatts(c->in, in, &n);
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        char name[NC_MAX_NAME + 1];
        err = ncmpi_inq_attname(c->in, in, i, name);
        if (err == NC_NOERR) err = ncmpi_copy_att(c->in, in, name, c->out, out);
        if (err != NC_NOERR) return copy_complain(c->options.to, name, err);
    }
    return err == NC_NOERR ? 0 : copy_complain(c->options.from, NULL, err);
}

static int define_var(struct copy *c, struct copy_var *v)
{
    char name[NC_MAX_NAME + 1];
    int *dimids = base_malloc((size_t)v->ndims * sizeof *dimids);
    if (dimids == NULL) return copy_complain(NULL, NULL, NC_ENOMEM);
    for (int i = 0; i < v->ndims; i++)
        dimids[i] = c->dims[v->dimids[i]].out;
    int err = ncmpi_inq_varname(c->in, v->in, name);
    if (err == NC_NOERR)
        err = ncmpi_def_var(c->out, name, v->type, v->ndims, dimids, &v->out);
    /* Values must be copied exactly, even if the environment requests quantization. */
    if (err == NC_NOERR) err = ncmpix_def_var_quantize(c->out, v->out, NC_NOQUANTIZE, 0);
    base_free(dimids);
    if (err != NC_NOERR) return copy_complain(c->options.to, name, err);
    return copy_atts(c, v->in, v->out);
}

int copy_define(struct copy *c)
{
    int status = define_dims(c);
    if (status == 0) status = copy_atts(c, NC_GLOBAL, NC_GLOBAL);
    for (int i = 0; i < c->nvars && status == 0; i++)
        status = define_var(c, &c->vars[i]);
    if (status != 0) return status;
    int err = ncmpi__enddef(c->out, c->options.room, 4, 0, 4);
    return err == NC_NOERR ? 0 : copy_complain(c->options.to, NULL, err);
}
