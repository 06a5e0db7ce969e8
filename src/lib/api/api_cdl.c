/* Parses CDL files into headers, which are identified by ids and belong to no dataset. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_ids.h"
#include "base_mem.h"
#include "cdl.h"
#include "pnetcdf.h"

static struct base_ids headers = BASE_IDS_EMPTY;

static struct cdf_header *find_header(int hid)
{
    return base_ids_find(&headers, hid);
}

static int no_header(int hid)
{
    return base_error_set(NC_EBADID, "header id %d", hid);
}

static int no_var(const struct cdf_header *h, int varid)
{
    return base_error_set(NC_ENOTVAR, "variable id %d, but the dataset has %d variables",
                          varid, h->nvars);
}

/* Converts attribute values to the aligned native form in which callers read them. */
static int make_atts_native(struct cdf_header *h, struct cdf_atts *atts)
{
    for (int i = 0; i < atts->count; i++) {
        struct cdf_att *a = &atts->list[i];
        size_t n = (size_t)a->nelems, size = (size_t)cdf_type_size(a->type);
        void *native = base_arena_alloc(&h->arena, n * size);
        if (native == NULL) return NC_ENOMEM;
        int err = conv_get(native, conv_type_of(a->type), a->values, a->type, n);
        if (err != NC_NOERR) return err;
        a->values = native;
    }
    return NC_NOERR;
}

static int open_cdl_file(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? NC_NOERR : base_error_system(NC_EFILE, "opening", path);
}

static int read_header(const char *filename, struct cdf_header *h)
{
    struct cdl_source source = {.name = filename};
    int err = open_cdl_file(filename, &source.fd);
    if (err != NC_NOERR) return err;
    err = cdl_read(&source, 0, NULL, NULL, h);
    close(source.fd);
    if (err != NC_NOERR) return err;

    err = make_atts_native(h, &h->gatts);
    for (int i = 0; i < h->nvars && err == NC_NOERR; i++)
        err = make_atts_native(h, &h->vars[i].atts);
    if (err != NC_NOERR) cdf_free(h);
    return err;
}

int cdl_hdr_open(const char *filename, int *hid)
{
    if (filename == NULL || hid == NULL)
        return base_error_set(NC_EINVAL, "%s is NULL", hid == NULL ? "hid" : "filename");
    struct cdf_header *h = base_malloc(sizeof *h);
    if (h == NULL) return NC_ENOMEM;
    int err = read_header(filename, h);
    if (err == NC_NOERR) {
        int id = base_ids_enter(&headers, h);
        if (id >= 0) {
            *hid = id;
            return NC_NOERR;
        }
        cdf_free(h);
        err = NC_ENOMEM;
    }
    base_free(h);
    return err;
}

int cdl_hdr_close(int hid)
{
    struct cdf_header *h = base_ids_leave(&headers, hid);
    if (h == NULL) return no_header(hid);
    cdf_free(h);
    base_free(h);
    return NC_NOERR;
}

int cdl_hdr_inq_format(int hid, int *format)
{
    const struct cdf_header *h = find_header(hid);
    if (h == NULL) return no_header(hid);
    if (format != NULL) *format = h->format; /* NC_FORMAT_CLASSIC, _CDF2, _CDF5 */
    return NC_NOERR;
}

int cdl_hdr_inq_ndims(int hid, int *ndims)
{
    const struct cdf_header *h = find_header(hid);
    if (h == NULL) return no_header(hid);
    if (ndims != NULL) *ndims = h->ndims;
    return NC_NOERR;
}

int cdl_hdr_inq_dim(int hid, int dimid, char **name, MPI_Offset *size)
{
    const struct cdf_header *h = find_header(hid);
    if (h == NULL) return no_header(hid);
    if (dimid < 0 || dimid >= h->ndims)
        return base_error_set(NC_EBADDIM,
                              "dimension id %d, but the dataset has %d dimensions", dimid,
                              h->ndims);
    if (name != NULL) *name = (char *)h->dims[dimid].name;
    if (size != NULL) *size = h->dims[dimid].length;
    return NC_NOERR;
}

int cdl_hdr_inq_nvars(int hid, int *nvars)
{
    const struct cdf_header *h = find_header(hid);
    if (h == NULL) return no_header(hid);
    if (nvars != NULL) *nvars = h->nvars;
    return NC_NOERR;
}

int cdl_hdr_inq_var(int hid, int varid, char **name, nc_type *xtype, int *ndims,
                    int **dimids)
{
    const struct cdf_header *h = find_header(hid);
    if (h == NULL) return no_header(hid);
    if (varid < 0 || varid >= h->nvars) return no_var(h, varid);
    const struct cdf_var *v = &h->vars[varid];
    if (name != NULL) *name = (char *)v->name;
    if (xtype != NULL) *xtype = v->type;
    if (ndims != NULL) *ndims = v->ndims;
    if (dimids != NULL) *dimids = (int *)v->dimids;
    return NC_NOERR;
}

int cdl_hdr_inq_nattrs(int hid, int varid, int *nattrs)
{
    struct cdf_header *h = find_header(hid);
    if (h == NULL) return no_header(hid);
    const struct cdf_atts *atts = cdf_atts(h, varid);
    if (atts == NULL) return no_var(h, varid);
    if (nattrs != NULL) *nattrs = atts->count;
    return NC_NOERR;
}

int cdl_hdr_inq_attr(int hid, int varid, int attrid, char **name, nc_type *xtype,
                     MPI_Offset *nelems, void **value)
{
    struct cdf_header *h = find_header(hid);
    if (h == NULL) return no_header(hid);
    const struct cdf_atts *atts = cdf_atts(h, varid);
    if (atts == NULL) return no_var(h, varid);
    if (attrid < 0 || attrid >= atts->count)
        return base_error_set(NC_ENOTATT,
                              "attribute number %d, but there are %d attributes", attrid,
                              atts->count);
    const struct cdf_att *a = &atts->list[attrid];
    if (name != NULL) *name = (char *)a->name;
    if (xtype != NULL) *xtype = a->type;
    if (nelems != NULL) *nelems = a->nelems;
    if (value != NULL) *value = a->values;
    return NC_NOERR;
}
