/* Opens files on the communicator that the program has chosen, and fills records and
 * variables. Also initializes MPI unless the program has done so. */
#include "serial.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FILES = NC_MAX_NFILES };

static MPI_Comm chosen;
static bool is_chosen;

/* Indexed by file id: true if new records must not be filled. */
static bool nofill[FILES];

/* Indexed by file id: true if redef has not been called since the file was opened.
 * libpnetcdf then still has the default fill mode, in which new variables are not
 * filled. */
static bool as_opened[FILES];

static bool is_file(int ncid)
{
    return ncid >= 0 && ncid < FILES;
}

static void end_mpi(void)
{
    int over = 0;
    if (MPI_Finalized(&over) == MPI_SUCCESS && !over) MPI_Finalize();
}

/* Initializes MPI unless the program has done so; serial programs do not. */
static int begin_mpi(void)
{
    int there = 0;
    if (MPI_Initialized(&there) != MPI_SUCCESS) return NC_EMPI;
    if (there) return NC_NOERR;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return NC_EMPI;
    return atexit(end_mpi) == 0 ? NC_NOERR : NC_ENOMEM;
}

static MPI_Comm comm(void)
{
    return is_chosen ? chosen : MPI_COMM_SELF;
}

void ncserial_comm(MPI_Comm c)
{
    chosen = c;
    is_chosen = true;
}

/* Sets hints so that a new file has no gap after the header, as in netCDF. */
static int without_gaps(MPI_Info *info)
{
    static const char *const hints[] = {"nc_header_align_size", "nc_var_align_size",
                                        "nc_record_align_size"};
    if (MPI_Info_create(info) != MPI_SUCCESS) return NC_EMPI;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (MPI_Info_set(*info, hints[i], "4") != MPI_SUCCESS) return NC_EMPI;
    return NC_NOERR;
}

int ncserial_create(const char *path, int cmode, int *ncidp)
{
    MPI_Info info = MPI_INFO_NULL;
    int err = begin_mpi();
    if (err == NC_NOERR) err = without_gaps(&info);
    if (err == NC_NOERR) err = ncmpi_create(comm(), path, cmode, info, ncidp);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    if (err != NC_NOERR) return err;
    if (is_file(*ncidp)) nofill[*ncidp] = as_opened[*ncidp] = false;
    return ncmpi_set_fill(*ncidp, NC_FILL, NULL);
}

int ncserial_open(const char *path, int omode, int *ncidp)
{
    MPI_Info info = MPI_INFO_NULL;
    int err = begin_mpi();
    if (err == NC_NOERR) err = without_gaps(&info);
    if (err == NC_NOERR) err = ncmpi_open(comm(), path, omode, info, ncidp);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    if (err != NC_NOERR || !is_file(*ncidp)) return err;
    nofill[*ncidp] = false;
    as_opened[*ncidp] = true;
    return NC_NOERR;
}

/* Enters define mode. The first call sets the fill mode for new variables. */
int ncserial_redef(int ncid)
{
    int err = ncmpi_redef(ncid);
    if (err != NC_NOERR || !is_file(ncid) || !as_opened[ncid]) return err;
    as_opened[ncid] = false;
    return ncmpi_set_fill(ncid, nofill[ncid] ? NC_NOFILL : NC_FILL, NULL);
}

int ncserial_inq_var_fill(int ncid, int varid, int *no_fillp, void *fill_valuep)
{
    int err = ncmpi_inq_var_fill(ncid, varid, no_fillp, fill_valuep);
    if (err == NC_NOERR && no_fillp && is_file(ncid) && as_opened[ncid])
        *no_fillp = nofill[ncid];
    return err;
}

int ncserial_delete(const char *path)
{
    int err = begin_mpi();
    return err == NC_NOERR ? ncmpi_delete(path, MPI_INFO_NULL) : err;
}

/* Sets the fill mode. Like netCDF, also allows this in data mode, where the fill mode
 * affects only records. */
int ncserial_set_fill(int ncid, int fillmode, int *old_modep)
{
    int nvars;
    if (fillmode != NC_FILL && fillmode != NC_NOFILL) return NC_EINVAL;
    int err = ncmpi_inq_nvars(ncid, &nvars);
    if (err == NC_NOERR) err = ncmpi_set_fill(ncid, fillmode, NULL);
    if (err == NC_ENOTINDEFINE) err = NC_NOERR;
    if (err != NC_NOERR) return err;
    bool old = is_file(ncid) && nofill[ncid];
    if (old_modep) *old_modep = old ? NC_NOFILL : NC_FILL;
    if (is_file(ncid)) nofill[ncid] = fillmode == NC_NOFILL;
    return NC_NOERR;
}

/* Returns how many records the file must have after a put; 0 if the variable has no
 * records. */
static int records_reached(int ncid, int varid, const struct serial_slab *s,
                           MPI_Offset *reached)
{
    int ndims = 0, unlimited = -1, dims[NC_MAX_NFILES];
    *reached = 0;
    int err = ncmpi_inq_varndims(ncid, varid, &ndims);
    if (err == NC_NOERR) err = ncmpi_inq_unlimdim(ncid, &unlimited);
    if (err != NC_NOERR || !s->start || ndims == 0 || ndims > NC_MAX_NFILES) return err;
    err = ncmpi_inq_vardimid(ncid, varid, dims);
    if (err != NC_NOERR || dims[0] != unlimited) return err;
    MPI_Offset count = s->count ? s->count[0] : 1, stride = s->stride ? s->stride[0] : 1;
    if (count > 0) *reached = s->start[0] + (count - 1) * stride + 1;
    return NC_NOERR;
}

/* Fills one record of every record variable that is in fill mode. */
static int fill_record(int ncid, int nvars, MPI_Offset record)
{
    for (int v = 0; v < nvars; v++) {
        int no_fill, err = ncmpi_inq_var_fill(ncid, v, &no_fill, NULL);
        if (err == NC_NOERR && !no_fill) err = ncmpi_fill_var_rec(ncid, v, record);
        if (err != NC_NOERR && err != NC_ENOTRECVAR) return err;
    }
    return NC_NOERR;
}

/* Fills the records that a put is about to add. */
static int fill_records(int ncid, int varid, const struct serial_slab *s)
{
    MPI_Offset reached, records = 0;
    int unlimited = -1, nvars = 0;
    if (is_file(ncid) && nofill[ncid]) return NC_NOERR;
    int err = records_reached(ncid, varid, s, &reached);
    if (err != NC_NOERR || reached == 0)
        return NC_NOERR; /* the put itself reports the error */
    err = ncmpi_inq_unlimdim(ncid, &unlimited);
    if (err == NC_NOERR) err = ncmpi_inq_dimlen(ncid, unlimited, &records);
    if (err == NC_NOERR) err = ncmpi_inq_nvars(ncid, &nvars);
    for (; err == NC_NOERR && records < reached; records++)
        err = fill_record(ncid, nvars, records);
    return err == NC_EINDEFINE || err == NC_EPERM ? NC_NOERR : err;
}

int serial_put(int ncid, int varid, const struct serial_slab *s, const void *buf,
               MPI_Datatype type)
{
    const MPI_Offset n = NC_COUNT_IGNORE;
    int err = fill_records(ncid, varid, s);
    if (err != NC_NOERR) return err;
    switch (s->kind) {
    case SERIAL_VAR:
        return ncmpi_put_var_all(ncid, varid, buf, n, type);
    case SERIAL_VAR1:
        return ncmpi_put_var1_all(ncid, varid, s->start, buf, n, type);
    case SERIAL_VARA:
        return ncmpi_put_vara_all(ncid, varid, s->start, s->count, buf, n, type);
    case SERIAL_VARS:
        return ncmpi_put_vars_all(ncid, varid, s->start, s->count, s->stride, buf, n,
                                  type);
    default:
        return ncmpi_put_varm_all(ncid, varid, s->start, s->count, s->stride, s->imap,
                                  buf, n, type);
    }
}

int serial_get(int ncid, int varid, const struct serial_slab *s, void *buf,
               MPI_Datatype type)
{
    const MPI_Offset n = NC_COUNT_IGNORE;
    switch (s->kind) {
    case SERIAL_VAR:
        return ncmpi_get_var_all(ncid, varid, buf, n, type);
    case SERIAL_VAR1:
        return ncmpi_get_var1_all(ncid, varid, s->start, buf, n, type);
    case SERIAL_VARA:
        return ncmpi_get_vara_all(ncid, varid, s->start, s->count, buf, n, type);
    case SERIAL_VARS:
        return ncmpi_get_vars_all(ncid, varid, s->start, s->count, s->stride, buf, n,
                                  type);
    default:
        return ncmpi_get_varm_all(ncid, varid, s->start, s->count, s->stride, s->imap,
                                  buf, n, type);
    }
}
