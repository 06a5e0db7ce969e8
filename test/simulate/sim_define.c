/* Makes the definitions in a redefinition, and inquiries of all kinds. Also chooses types
 * in memory. See sim_define.h. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"
#include "sim_define.h"

/* ---- types in memory ---- */

int sim_memory_for(const struct sim_var *v, uint64_t i)
{
    static const int memories[] = {MEMORY_SCHAR,    MEMORY_SHORT,     MEMORY_INT,
                                   MEMORY_FLOAT,    MEMORY_DOUBLE,    MEMORY_UCHAR,
                                   MEMORY_USHORT,   MEMORY_UINT,      MEMORY_LONG,
                                   MEMORY_LONGLONG, MEMORY_ULONGLONG, MEMORY_TEXT};
    const uint64_t n = sizeof memories / sizeof memories[0];
    const int own = plan_memory_of(v->type);
    for (;; i++) {
        const int memory = memories[i % n];
        if (v->small && own != MEMORY_TEXT ? memory != MEMORY_TEXT
                                           : memory == own || memory == v->other)
            return memory;
    }
}

bool sim_memory_has_all(int memory, int type)
{
    return memory == plan_memory_of(type) ||
           (memory == MEMORY_DOUBLE && type != PLAN_CHAR);
}

/* ---- attributes ---- */

/* Returns the type of the attribute that redefinition `op` adds. */
static enum plan_type attribute_type(int ncid, int op)
{
    static const enum plan_type types[] = {
        PLAN_BYTE,   PLAN_SHORT, PLAN_INT,  PLAN_FLOAT, PLAN_DOUBLE, PLAN_UBYTE,
        PLAN_USHORT, PLAN_UINT,  PLAN_BYTE, PLAN_INT64, PLAN_UINT64, PLAN_CHAR};
    int format, most = 5; /* number of types in CDF-1 and CDF-2 files */
    if (ncmpi_inq_format(ncid, &format) == NC_NOERR && format == NC_FORMAT_CDF5)
        most = sizeof types / sizeof types[0];
    return types[op % most];
}

static uint64_t attribute_value(int type, int op, int i)
{
    return plan_value(type, plan_memory_of(type), (uint64_t)op << 20 | (uint64_t)i);
}

/* Puts an attribute of n values, whose type and values depend on op. */
static int put_attribute(int ncid, int var, const char *name, int op, int n)
{
    const int type = attribute_type(ncid, op), memory = plan_memory_of(type);
    void *values = sim_room((size_t)n * plan_memory_size(memory));
    for (int i = 0; i < n; i++)
        plan_store(values, memory, i, attribute_value(type, op, i));
    int err = access_put_att(ncid, var, name, type, memory, n, values);
    free(values);
    return err;
}

/* Gets an attribute. Sets *right to whether it has the expected type and values. */
static int get_attribute(int ncid, int var, const char *name, int op, int n, bool *right)
{
    const int type = attribute_type(ncid, op), memory = plan_memory_of(type);
    nc_type found;
    MPI_Offset length = 0;
    int err = ncmpi_inq_att(ncid, var, name, &found, &length);
    if (err != NC_NOERR) return err;
    *right = found == type && length == n;
    void *values = sim_room((size_t)n * plan_memory_size(memory));
    if (*right) err = access_get_att(ncid, var, name, memory, values);
    for (int i = 0; i < n && *right; i++)
        *right = plan_load(values, memory, i) == attribute_value(type, op, i);
    free(values);
    return err;
}

/* ---- definitions ---- */

static void name_of(char name[16], char letter, int op)
{
    snprintf(name, 16, "%c%d", letter, op);
}

int sim_define(int ncid, int op, int n)
{
    char name[16];
    name_of(name, 'a', op);
    return put_attribute(ncid, NC_GLOBAL, name, op, n);
}

int sim_find_attribute(int ncid, int op, int n, bool *right)
{
    char name[16];
    name_of(name, 'a', op);
    return get_attribute(ncid, NC_GLOBAL, name, op, n, right);
}

/* Adds attributes of all types to a variable, then renames, copies and deletes some of
 * them. */
static int describe(int ncid, int var)
{
    char name[16];
    int err = NC_NOERR;
    bool right = true;
    for (int i = 0; i < 12 && err == NC_NOERR; i++) {
        name_of(name, 'b', i);
        err = put_attribute(ncid, var, name, i, 1 + i);
    }
    if (err == NC_NOERR) err = ncmpi_rename_att(ncid, var, "b0", "c0");
    if (err == NC_NOERR) err = ncmpi_copy_att(ncid, var, "c0", ncid, NC_GLOBAL);
    if (err == NC_NOERR) err = ncmpi_del_att(ncid, var, "b1");
    if (err == NC_NOERR) err = get_attribute(ncid, NC_GLOBAL, "c0", 0, 1, &right);
    return err == NC_NOERR && !right ? NC_EINVAL : err;
}

/* Defines a dimension and a variable in fill mode. No values are put to the variable. */
int sim_define_more(int ncid, int op)
{
    char old[16], new[16];
    int dim, var;
    const short fill = 17;
    name_of(old, 'y', op);
    name_of(new, 'z', op);
    int err = ncmpi_def_dim(ncid, old, 3 + op, &dim);
    if (err == NC_NOERR) err = ncmpi_rename_dim(ncid, dim, new);
    name_of(old, 's', op);
    name_of(new, 'u', op);
    if (err == NC_NOERR) err = ncmpi_def_var(ncid, old, NC_SHORT, 1, &dim, &var);
    if (err == NC_NOERR) err = ncmpi_rename_var(ncid, var, new);
    if (err == NC_NOERR) err = ncmpi_def_var_fill(ncid, var, 0, &fill);
    return err == NC_NOERR ? describe(ncid, var) : err;
}

/* ---- inquiries ---- */

/* Returns `err`, or NC_EINVAL if the call succeeded but its results contradict other
 * inquiries. */
static int fits(int err, bool true_so)
{
    return err == NC_NOERR && !true_so ? NC_EINVAL : err;
}

static int ask_of_dims(int ncid, int n)
{
    char name[NC_MAX_NAME + 1];
    int err = NC_NOERR, id = -1;
    MPI_Offset size, again;
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        err = ncmpi_inq_dim(ncid, i, name, &size);
        if (err == NC_NOERR) err = ncmpi_inq_dimlen(ncid, i, &again);
        if (err == NC_NOERR) err = ncmpi_inq_dimname(ncid, i, name);
        if (err == NC_NOERR) err = ncmpi_inq_dimid(ncid, name, &id);
        err = fits(err, id == i && size == again);
    }
    return err;
}

static int ask_of_atts(int ncid, int var, int n)
{
    char name[NC_MAX_NAME + 1];
    int err = NC_NOERR, id = -1;
    nc_type type, same;
    MPI_Offset size, again;
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        err = ncmpi_inq_attname(ncid, var, i, name);
        if (err == NC_NOERR) err = ncmpi_inq_attid(ncid, var, name, &id);
        if (err == NC_NOERR) err = ncmpi_inq_att(ncid, var, name, &type, &size);
        if (err == NC_NOERR) err = ncmpi_inq_atttype(ncid, var, name, &same);
        if (err == NC_NOERR) err = ncmpi_inq_attlen(ncid, var, name, &again);
        err = fits(err, id == i && type == same && size == again);
    }
    return err;
}

static int ask_of_var(int ncid, int i)
{
    char name[NC_MAX_NAME + 1], same[NC_MAX_NAME + 1] = "";
    int id = -1, ndims, again, natts, atts, dims[2], those[2], no_fill;
    nc_type type, t;
    double fill;
    MPI_Offset at;
    int err = ncmpi_inq_var(ncid, i, name, &type, &ndims, dims, &natts);
    if (err == NC_NOERR) err = ncmpi_inq_varname(ncid, i, same);
    if (err == NC_NOERR) err = ncmpi_inq_varid(ncid, name, &id);
    if (err == NC_NOERR) err = ncmpi_inq_vartype(ncid, i, &t);
    if (err == NC_NOERR) err = ncmpi_inq_varndims(ncid, i, &again);
    if (err == NC_NOERR) err = ncmpi_inq_vardimid(ncid, i, those);
    if (err == NC_NOERR) err = ncmpi_inq_varnatts(ncid, i, &atts);
    if (err == NC_NOERR) err = ncmpi_inq_varoffset(ncid, i, &at);
    if (err == NC_NOERR) err = ncmpi_inq_var_fill(ncid, i, &no_fill, &fill);
    err = fits(err, id == i && type == t && ndims == again && natts == atts &&
                        strcmp(name, same) == 0 && dims[0] == those[0] && at > 0);
    return err == NC_NOERR ? ask_of_atts(ncid, i, natts) : err;
}

static int ask_of_numbers(int ncid, int nvars)
{
    int records = 0, fixed = 0, format, dims, vars, atts, unlimited;
    MPI_Offset size = 0, extent = 0, record, put, get;
    int err = ncmpi_inq_num_rec_vars(ncid, &records);
    if (err == NC_NOERR) err = ncmpi_inq_num_fix_vars(ncid, &fixed);
    if (err == NC_NOERR) err = ncmpi_inq_ndims(ncid, &dims);
    if (err == NC_NOERR) err = ncmpi_inq_nvars(ncid, &vars);
    if (err == NC_NOERR) err = ncmpi_inq_natts(ncid, &atts);
    if (err == NC_NOERR) err = ncmpi_inq_unlimdim(ncid, &unlimited);
    if (err == NC_NOERR) err = ncmpi_inq_format(ncid, &format);
    if (err == NC_NOERR) err = ncmpi_inq_version(ncid, &format);
    if (err == NC_NOERR) err = ncmpi_inq_header_size(ncid, &size);
    if (err == NC_NOERR) err = ncmpi_inq_header_extent(ncid, &extent);
    if (err == NC_NOERR) err = ncmpi_inq_recsize(ncid, &record);
    if (err == NC_NOERR) err = ncmpi_inq_put_size(ncid, &put);
    if (err == NC_NOERR) err = ncmpi_inq_get_size(ncid, &get);
    return fits(err, records + fixed == nvars && vars == nvars && size <= extent);
}

static int ask_of_file(int ncid, const char *path)
{
    char name[64] = "";
    int length = 0, count = 0, size = 0, keys = 0;
    MPI_Info info = MPI_INFO_NULL;
    int err = ncmpi_inq_path(ncid, &length, name);
    err = fits(err, strcmp(name, path) == 0);
    if (err == NC_NOERR) err = ncmpi_inq_striping(ncid, &size, &count);
    if (err == NC_NOERR) err = ncmpi_inq_file_info(ncid, &info);
    if (err != NC_NOERR) return err;
    MPI_Info_get_nkeys(info, &keys);
    MPI_Info_free(&info);
    return fits(err, keys > 0);
}

int sim_ask(int ncid, const char *path)
{
    int ndims, nvars, natts, unlimited;
    int err = ncmpi_inq(ncid, &ndims, &nvars, &natts, &unlimited);
    if (err == NC_NOERR) err = ask_of_dims(ncid, ndims);
    if (err == NC_NOERR) err = ask_of_atts(ncid, NC_GLOBAL, natts);
    for (int i = 0; i < nvars && err == NC_NOERR; i++)
        err = ask_of_var(ncid, i);
    if (err == NC_NOERR) err = ask_of_numbers(ncid, nvars);
    return err == NC_NOERR ? ask_of_file(ncid, path) : err;
}
