/* Makes calls with wrong arguments or in the wrong mode. In collective puts and gets, one
 * process passes a wrong argument and the others transfer no elements. All processes make
 * the other wrong calls. Each call must return the error code that pnetcdf.h documents,
 * and change nothing. */
#include <mpi.h>

#include "pnetcdf.h"
#include "sim_define.h"

/* The arguments that the culprit passes to a collective call, and the error that is
 * expected. start, count and stride apply to the second dimension. */
struct wrong_part {
    bool gets, text, stranger;
    MPI_Offset start, count, stride;
    int expected;
};

enum {
    LAST = -1,
    ALL = -2
}; /* LAST: start after the last element; ALL: count is one too large */

static const struct wrong_part parts[] = {
    {.stranger = true, .count = 1, .stride = 1, .expected = NC_ENOTVAR},
    {.start = LAST, .count = 1, .stride = 1, .expected = NC_EINVALCOORDS},
    {.count = ALL, .stride = 1, .expected = NC_EEDGE},
    {.count = 1, .stride = 0, .expected = NC_ESTRIDE},
    {.count = -3, .stride = 1, .expected = NC_ENEGATIVECNT},
    {.text = true, .count = 1, .stride = 1, .expected = NC_ECHAR},
    {.gets = true, .count = ALL, .stride = 1, .expected = NC_EEDGE},
    {.gets = true, .stranger = true, .count = 1, .stride = 1, .expected = NC_ENOTVAR},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static void wrong_part(const struct wrong_dataset *d, int kind, bool culprit)
{
    const struct wrong_part *w = &parts[kind];
    const struct wrong_part nothing = {.gets = w->gets, .stride = 1};
    const bool gets = w->gets;
    char text[1] = {'x'};
    double values[1] = {0};
    if (!culprit) w = &nothing;
    const int var = w->stranger ? 99 : d->var;
    const MPI_Offset start[2] = {0, w->start == LAST ? d->row : 0};
    const MPI_Offset count[2] = {w->count != 0, w->count == ALL ? d->row + 1 : w->count};
    const MPI_Offset stride[2] = {1, w->stride};
    int err;
    if (gets)
        err = ncmpi_get_vars_double_all(d->ncid, var, start, count, stride, values);
    else if (w->text)
        err = ncmpi_put_vars_text_all(d->ncid, var, start, count, stride, text);
    else
        err = ncmpi_put_vars_double_all(d->ncid, var, start, count, stride, values);
    if (d->safe)
        sim_told_wrong("an invalid call in safe mode", true, err != NC_NOERR);
    else
        sim_told_wrong("a collective call that is wrong on one process", w->expected,
                       err);
}

static void wrong_definitions(const struct wrong_dataset *d)
{
    int id;
    const MPI_Offset none[2] = {0, 0};
    const double nothing = 0;
    const int dims[1] = {77};
    sim_told_wrong("def_dim in data mode", NC_ENOTINDEFINE,
                   ncmpi_def_dim(d->ncid, "late", 3, &id));
    int err = ncmpi_redef(d->ncid);
    sim_told_wrong("redef", NC_NOERR, err);
    if (err != NC_NOERR) return;
    sim_told_wrong("redef again", NC_EINDEFINE, ncmpi_redef(d->ncid));
    sim_told_wrong("a name that exists", NC_ENAMEINUSE,
                   ncmpi_def_dim(d->ncid, "t", 3, &id));
    sim_told_wrong("a second unlimited dimension", NC_EUNLIMIT,
                   ncmpi_def_dim(d->ncid, "tt", NC_UNLIMITED, &id));
    sim_told_wrong("a bad name", NC_EBADNAME, ncmpi_def_dim(d->ncid, "a/b", 3, &id));
    sim_told_wrong("a bad dimension", NC_EBADDIM,
                   ncmpi_def_var(d->ncid, "bad", NC_INT, 1, dims, &id));
    sim_told_wrong("a bad type", NC_EBADTYPE,
                   ncmpi_def_var(d->ncid, "bad", 99, 0, NULL, &id));
    sim_told_wrong("a put in define mode", NC_EINDEFINE,
                   ncmpi_put_vara_double_all(d->ncid, d->var, none, none, &nothing));
    sim_told_wrong("enddef", NC_NOERR, ncmpi_enddef(d->ncid));
}

static void wrong_modes(const struct wrong_dataset *d)
{
    const MPI_Offset none[2] = {0, 0};
    double nothing = 0;
    sim_told_wrong("enddef in data mode", NC_ENOTINDEFINE, ncmpi_enddef(d->ncid));
    sim_told_wrong("an independent get in collective mode", NC_ENOTINDEP,
                   ncmpi_get_vara_double(d->ncid, d->var, none, none, &nothing));
    int err = ncmpi_begin_indep_data(d->ncid);
    sim_told_wrong("begin_indep_data", NC_NOERR, err);
    if (err != NC_NOERR) return;
    sim_told_wrong("a collective get in independent mode", NC_EINDEP,
                   ncmpi_get_vara_double_all(d->ncid, d->var, none, none, &nothing));
    sim_told_wrong("end_indep_data", NC_NOERR, ncmpi_end_indep_data(d->ncid));
}

static void wrong_requests(const struct wrong_dataset *d)
{
    const MPI_Offset start[2] = {0, d->row}, one[2] = {1, 1};
    const double value = 0;
    int request = 12345, status = 0;
    sim_told_wrong("cancelling a request that was not posted", NC_EINVAL_REQUEST,
                   ncmpi_cancel(d->ncid, 1, &request, &status));
    sim_told_wrong("a post beyond the end of the row", NC_EINVALCOORDS,
                   ncmpi_iput_vara_double(d->ncid, d->var, start, one, &value, &request));
    sim_told_wrong("detaching without a buffer", NC_ENULLABUF,
                   ncmpi_buffer_detach(d->ncid));
    sim_told_wrong("a wait without requests", NC_NOERR,
                   ncmpi_wait_all(d->ncid, NC_REQ_ALL, NULL, NULL));
}

static void wrong_files(const struct wrong_dataset *d)
{
    int id, length;
    sim_told_wrong(
        "opening a file that does not exist", NC_ENOENT,
        ncmpi_open(MPI_COMM_WORLD, SIM_STORE "none.nc", NC_NOWRITE, MPI_INFO_NULL, &id));
    sim_told_wrong(
        "creating a file that exists", NC_EEXIST,
        ncmpi_create(MPI_COMM_WORLD, d->path, NC_NOCLOBBER, MPI_INFO_NULL, &id));
    sim_told_wrong("an invalid dataset id", NC_EBADID, ncmpi_inq_path(99, &length, NULL));
    sim_told_wrong("a variable that does not exist", NC_ENOTVAR,
                   ncmpi_inq_varid(d->ncid, "nothing", &id));
    sim_told_wrong("an attribute that does not exist", NC_ENOTATT,
                   ncmpi_inq_attid(d->ncid, NC_GLOBAL, "nothing", &id));
}

void sim_go_wrong(const struct wrong_dataset *d, int kind, bool culprit)
{
    static void (*const whole[])(const struct wrong_dataset *d) = {
        wrong_definitions, wrong_modes, wrong_requests, wrong_files};
    const int all = PARTS + (int)(sizeof whole / sizeof whole[0]);
    kind %= all;
    if (kind >= PARTS)
        whole[kind - PARTS](d);
    else
        wrong_part(d, kind, culprit);
}
