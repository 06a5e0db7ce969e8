/* Plans the copy: chooses the variables, the part of each dimension, and the unlimited
 * dimension. It also checks that the source is complete. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "cdf.h"
#include "copy.h"
#include "pnetcdf.h"
#include "util_message.h"
#include "util_name.h"
#include "util_select.h"
#include "util_whole.h"

static int no_memory(void)
{
    util_message(COPY_TOOL, NULL, -1, "%s", base_error_text(NC_ENOMEM));
    return -1;
}

/* ---- dimensions ---- */

static int get_dims(struct copy *c)
{
    int err = ncmpi_inq_ndims(c->in, &c->ndims);
    if (err == NC_NOERR) err = ncmpi_inq_unlimdim(c->in, &c->unlimited);
    if (err != NC_NOERR) return copy_complain(c->options.from, NULL, err);
    c->dims = base_calloc((size_t)c->ndims, sizeof *c->dims);
    if (c->dims == NULL) return no_memory();
    for (int i = 0; i < c->ndims; i++) {
        struct copy_dim *d = &c->dims[i];
        MPI_Offset length;
        err = ncmpi_inq_dim(c->in, i, d->name, &length);
        if (err != NC_NOERR) return copy_complain(c->options.from, NULL, err);
        d->length = d->count = length;
        d->stride = 1;
        d->used = c->options.variables == NULL;
        d->unlimited = i == c->unlimited && !c->options.fixed;
    }
    return 0;
}

static struct copy_dim *find_dim(struct copy *c, const char *name)
{
    for (int i = 0; i < c->ndims; i++)
        if (strcmp(c->dims[i].name, name) == 0) return &c->dims[i];
    util_message(COPY_TOOL, c->options.from, -1, "no dimension is named '%s'", name);
    return NULL;
}

static int cut_dims(struct copy *c)
{
    for (int i = 0; i < c->options.nslabs; i++) {
        const struct util_slab *s = &c->options.slab[i];
        struct copy_dim *d = find_dim(c, s->name);
        if (d == NULL) return -1;
        if (util_slab_resolve(s, d->count, &d->start, &d->count, &d->stride) == 0)
            continue;
        util_message(COPY_TOOL, c->options.from, -1,
                     "-d: the indices of dimension '%s' are 0 to %lld", d->name,
                     (long long)d->count - 1);
        return -1;
    }
    return 0;
}

/* Sets the unlimited dimension. Rejects fixed dimensions of length 0, because defining a
 * dimension with length 0 makes it unlimited. */
static int set_unlimited_dim(struct copy *c)
{
    if (c->options.unlimited != NULL) {
        struct copy_dim *d = find_dim(c, c->options.unlimited);
        if (d == NULL) return -1;
        d->unlimited = true;
    }
    for (int i = 0; i < c->ndims; i++) {
        const struct copy_dim *d = &c->dims[i];
        if (!d->used || d->unlimited || d->count > 0) continue;
        util_message(COPY_TOOL, c->options.from, -1,
                     "dimension '%s' would have length 0, which only the unlimited "
                     "dimension can have",
                     d->name);
        return -1;
    }
    return 0;
}

/* ---- variables ---- */

static int get_var(struct copy *c, int varid, struct copy_var *v)
{
    v->in = varid;
    int err = ncmpi_inq_vartype(c->in, varid, &v->type);
    if (err == NC_NOERR) err = ncmpi_inq_varndims(c->in, varid, &v->ndims);
    if (err != NC_NOERR) return copy_complain(c->options.from, NULL, err);
    size_t n = (size_t)v->ndims;
    v->dimids = base_malloc(n * sizeof *v->dimids);
    v->length = base_malloc(3 * n * sizeof *v->length);
    if (v->dimids == NULL || v->length == NULL) return no_memory();
    v->from = v->length + n;
    v->step = v->from + n;
    err = ncmpi_inq_vardimid(c->in, varid, v->dimids);
    if (err != NC_NOERR) return copy_complain(c->options.from, NULL, err);
    for (int i = 0; i < v->ndims; i++)
        c->dims[v->dimids[i]].used = true;
    return 0;
}

/* Sets wanted[varid] for each variable in the user's list. */
static int select_vars(struct copy *c, int nvars, bool *wanted)
{
    char *list = base_strdup(c->options.variables);
    if (list == NULL) return no_memory();
    int status = 0;
    memset(wanted, 0, (size_t)nvars * sizeof *wanted);
    for (char *name = list, *next; name != NULL && status == 0; name = next) {
        char *end = util_name_end(name);
        int varid;
        next = *end == ',' ? end + 1 : NULL;
        *end = '\0';
        int err = ncmpi_inq_varid(c->in, name, &varid);
        util_plain_name(name);
        if (err != NC_NOERR) err = ncmpi_inq_varid(c->in, name, &varid);
        if (err != NC_NOERR)
            status = copy_complain(c->options.from, name, err);
        else
            wanted[varid] = true;
    }
    base_free(list);
    return status;
}

static int get_vars(struct copy *c)
{
    int nvars;
    int err = ncmpi_inq_nvars(c->in, &nvars);
    if (err != NC_NOERR) return copy_complain(c->options.from, NULL, err);
    bool *wanted = base_malloc((size_t)nvars * sizeof *wanted);
    c->vars = base_calloc((size_t)nvars, sizeof *c->vars);
    int status = 0;
    if (wanted == NULL || c->vars == NULL)
        status = no_memory();
    else
        memset(wanted, 1, (size_t)nvars * sizeof *wanted);
    if (status == 0 && c->options.variables != NULL)
        status = select_vars(c, nvars, wanted);
    for (int i = 0; i < nvars && status == 0; i++)
        if (wanted[i]) status = get_var(c, i, &c->vars[c->nvars++]);
    base_free(wanted);
    return status;
}

/* Computes which part of a variable to copy, and the size of that part. */
static void measure(struct copy *c, struct copy_var *v)
{
    v->total = 1;
    for (int i = 0; i < v->ndims; i++) {
        const struct copy_dim *d = &c->dims[v->dimids[i]];
        v->length[i] = d->count;
        v->from[i] = d->start;
        v->step[i] = d->stride;
        v->total *= d->count;
    }
    v->record = v->ndims > 0 && c->dims[v->dimids[0]].unlimited;
    v->size = cdf_type_size(v->type);
    c->bytes += v->total * v->size;
}

/* Checks that a variable is complete in the source, even if only a part is copied. At
 * most 1 GiB or the size of the file, whichever is larger, may be missing at its end: a
 * file that consists of only a header must not make the tool write terabytes of zeros. */
static int check_whole(const struct copy *c, const struct copy_var *v)
{
    const int64_t most = c->size > 1 << 30 ? c->size : 1 << 30;
    int64_t records = 1, piece = v->size;
    for (int i = 0; i < v->ndims; i++)
        *(v->dimids[i] == c->unlimited ? &records : &piece) *=
            c->dims[v->dimids[i]].length;
    return util_check_complete(COPY_TOOL, c->options.from, c->size, c->in, v->in, records,
                               piece, most);
}

int copy_plan(struct copy *c)
{
    if (get_dims(c) != 0 || cut_dims(c) != 0 || get_vars(c) != 0 ||
        set_unlimited_dim(c) != 0)
        return -1;
    c->size = util_file_size(c->in, c->options.from);
    int status = 0;
    for (int i = 0; i < c->nvars && status == 0; i++) {
        measure(c, &c->vars[i]);
        status = check_whole(c, &c->vars[i]);
    }
    return status;
}

void copy_plan_free(struct copy *c)
{
    for (int i = 0; i < c->nvars; i++) {
        base_free(c->vars[i].dimids);
        base_free(c->vars[i].length);
    }
    base_free(c->vars);
    base_free(c->dims);
    c->vars = NULL;
    c->dims = NULL;
    c->nvars = c->ndims = 0;
    c->bytes = c->moved = c->records_done = 0;
    c->words = NULL;
}
