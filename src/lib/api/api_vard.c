/* Access by a file type: an MPI datatype says which of the variable's bytes. */
#include "api_access.h"
#include "api_buffer.h"
#include "api_safe.h"
#include "base_mem.h"
#include "pnetcdf.h"
#include "region_mpi.h"

/* The file type must be of the variable's own type, and stay within the variable. */
static int take_filetype(const struct api_dataset *d, const struct cdf_var *v,
                         MPI_Datatype filetype, bool put, struct region **region)
{
    MPI_Datatype basic;
    enum conv_type type;
    int64_t bytes, low, high;
    int err = region_from_datatype(filetype, 1, &basic, &bytes, region);
    if (err != NC_NOERR) return err;
    err = api_conv_type(basic, v->type, &type);
    if (err == NC_NOERR && (int)type != conv_type_of(v->type)) err = NC_ETYPE_MISMATCH;

    const struct cdf_header *h = &d->ds.header;
    int64_t end = v->nelems * cdf_type_size(v->type);
    if (v->is_record)
        end = put              ? INT64_MAX
              : h->numrecs > 0 ? (h->numrecs - 1) * h->record_size + end
                               : 0;
    region_bounds(*region, &low, &high);
    if (err == NC_NOERR && (low < 0 || high > end))
        err =
            base_error_set(NC_EEDGE, "the file type goes beyond variable '%s'", v->name);
    if (err != NC_NOERR) {
        region_free(*region);
        *region = NULL;
    }
    return err;
}

static int make(const struct api_dataset *d, int varid, MPI_Datatype filetype,
                const void *buf, struct api_buffer *b, bool put, struct region **file,
                struct driver_request **req)
{
    const struct cdf_var *v = api_var(d, varid);
    int err = conv_check(v->type, b->type);
    if (err == NC_NOERR) err = take_filetype(d, v, filetype, put, file);
    if (err != NC_NOERR) return err;

    int64_t nelems = region_bytes(*file) / cdf_type_size(v->type);
    if (nelems == 0) return NC_NOERR;
    if (b->nelems != NC_COUNT_IGNORE && b->nelems != nelems) return NC_EIOMISMATCH;
    if (buf == NULL && b->mem == NULL) return NC_EINVAL;
    struct driver_request *r =
        base_malloc(sizeof *r + (1 + DRIVER_RAW_SLAB) * sizeof r->slab[0]);
    if (r == NULL) return NC_ENOMEM;
    *r = (struct driver_request){.buf = (void *)buf,
                                 .varid = varid,
                                 .type = (unsigned char)b->type,
                                 .raw = true,
                                 .mapped = true};
    driver_set_mem(r, b->mem);
    r->slab[1] = (MPI_Offset)(intptr_t)*file;
    r->slab[2] = nelems;
    r->slab[3] = 0;
    b->mem = NULL;
    *file = NULL;
    *req = r;
    return NC_NOERR;
}

static int access_raw(int ncid, int varid, MPI_Datatype filetype, const void *buf,
                      MPI_Offset bufcount, MPI_Datatype buftype, bool put, unsigned how)
{
    struct api_dataset *d;
    struct api_buffer b = {0};
    struct region *file = NULL;
    struct driver_request *req = NULL;
    int err = api_find_data(ncid, put, how, &d);
    if (err == NC_NOERR && (how & API_COLL))
        err = api_same_access(d, put ? "a put" : "a get", varid);
    if (err != NC_NOERR) return err;
    api_lock(d);
    if (api_var(d, varid) == NULL) err = NC_ENOTVAR;
    if (err == NC_NOERR && filetype != MPI_DATATYPE_NULL) {
        err = api_describe_buffer(buftype, bufcount, api_var(d, varid)->type, &b);
        if (err == NC_NOERR) err = make(d, varid, filetype, buf, &b, put, &file, &req);
    }
    err = api_transfer(d, &req, req != NULL, put, how, err);
    api_unlock(d);
    region_free(b.mem);
    region_free(file);
    return err;
}

int ncmpi_put_vard(int ncid, int varid, MPI_Datatype filetype, const void *ip,
                   MPI_Offset bufcount, MPI_Datatype buftype)
{
    return access_raw(ncid, varid, filetype, ip, bufcount, buftype, true, 0);
}

int ncmpi_put_vard_all(int ncid, int varid, MPI_Datatype filetype, const void *ip,
                       MPI_Offset bufcount, MPI_Datatype buftype)
{
    return access_raw(ncid, varid, filetype, ip, bufcount, buftype, true, API_COLL);
}

int ncmpi_get_vard(int ncid, int varid, MPI_Datatype filetype, void *ip,
                   MPI_Offset bufcount, MPI_Datatype buftype)
{
    return access_raw(ncid, varid, filetype, ip, bufcount, buftype, false, 0);
}

int ncmpi_get_vard_all(int ncid, int varid, MPI_Datatype filetype, void *ip,
                       MPI_Offset bufcount, MPI_Datatype buftype)
{
    return access_raw(ncid, varid, filetype, ip, bufcount, buftype, false, API_COLL);
}
