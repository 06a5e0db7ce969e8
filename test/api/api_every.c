/* Calls every typed and flexible data function. Compares the results of gets, and the
 * file's contents after puts, with a model in memory. Then reopens the file and compares
 * it once more. With more than two processes, only a random third of the functions is
 * called. */
#include "api_calls.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NDIMS = 3, RECORDS = 3, ROWS = 4, COLUMNS = 5, PIECES = RECORDS, MANY = 2 };

/* The dataset: two variables for each C type, one of fixed size and one with records.
 * Each process owns ROWS rows of every variable. Values range from 1 to 100, so every
 * type can represent them. */
static struct {
    int ncid, nvars, serial;
    MPI_Offset shape[NDIMS];
    size_t cells;
    int *ids, *model; /* variable ids; expected values of all cells */
} file;

/* The part of a variable that a call accesses: a list of pieces, described by start,
 * count and stride. */
struct access {
    int var, pieces;
    MPI_Offset start[PIECES][NDIMS], count[PIECES][NDIMS], stride[NDIMS], imap[NDIMS];
    bool mapped;         /* whether imap determines the positions in the buffer */
    size_t n;            /* number of elements */
    size_t *cell, *slot; /* each element's index in the variable and in the buffer */
};

/* The buffer for one access. Only every spread-th element is used. */
struct buffer {
    const struct calls_type *type;
    size_t spread, bytes;
    unsigned char *values, *expected;
    MPI_Datatype mpi;
};

static int *model_of(int var)
{
    return file.model + (size_t)var * file.cells;
}

static const struct calls_type *type_of(int var)
{
    return &calls_types[var / 2];
}

static bool is_text(const struct calls_type *type)
{
    return type == &calls_types[0];
}

static bool is_put(enum calls_mode mode)
{
    return mode == CALLS_put || mode == CALLS_iput || mode == CALLS_bput ||
           mode == CALLS_mput;
}

static bool is_many(enum calls_mode mode)
{
    return mode == CALLS_mput || mode == CALLS_mget;
}

static bool is_posted(enum calls_mode mode)
{
    return mode == CALLS_iput || mode == CALLS_iget || mode == CALLS_bput;
}

static int value_at(size_t cell)
{
    return 1 + (int)(((size_t)file.serial * 37 + cell * 11) % 100);
}

/* ---- the file ---- */

/* Makes the data written by any process visible to all processes. */
static void share_file(void)
{
    CHECK_NC(NC_NOERR, ncmpi_sync(file.ncid));
    MPI_Barrier(MPI_COMM_WORLD);
}

static nc_type random_number_type(void)
{
    static const nc_type types[] = {NC_BYTE,  NC_SHORT,  NC_INT,  NC_FLOAT, NC_DOUBLE,
                                    NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64};
    return types[check_random(check.format == 5 ? 10 : 5)];
}

static void define_variables(void)
{
    int dims[2][NDIMS]; /* dimensions of fixed-size variables and of record variables */
    CHECK_NC(NC_NOERR, ncmpi_def_dim(file.ncid, "time", NC_UNLIMITED, &dims[1][0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(file.ncid, "layer", RECORDS, &dims[0][0]));
    for (int d = 1; d < NDIMS; d++) {
        CHECK_NC(NC_NOERR, ncmpi_def_dim(file.ncid, d == 1 ? "row" : "column",
                                         file.shape[d], &dims[0][d]));
        dims[1][d] = dims[0][d];
    }
    for (int v = 0; v < file.nvars; v++) {
        char name[32];
        nc_type xtype = is_text(type_of(v)) ? NC_CHAR : random_number_type();
        snprintf(name, sizeof name, "%s%d", type_of(v)->name, v % 2);
        CHECK_NC(NC_NOERR,
                 ncmpi_def_var(file.ncid, name, xtype, NDIMS, dims[v % 2], &file.ids[v]));
    }
}

/* Returns whether this process initializes and verifies a variable. */
static bool is_mine(int var)
{
    return var % check.nprocs == check.rank;
}

/* Initializes all cells of all records. Uses collective puts, because a netCDF-4 file
 * that several processes write can grow only in collective calls. */
static void write_first_values(void)
{
    static const MPI_Offset origin[NDIMS];
    for (int v = 0; v < file.nvars; v++) {
        const struct calls_type *type = type_of(v);
        void *values = calloc(file.cells, type->size);
        for (size_t i = 0; i < file.cells; i++) {
            model_of(v)[i] = value_at(i);
            type->set(values, i, value_at(i));
        }
        CHECK_NC(NC_NOERR, ncmpi_put_vara_all(file.ncid, file.ids[v], origin,
                                              is_mine(v) ? file.shape : origin, values,
                                              is_mine(v) ? (MPI_Offset)file.cells : 0,
                                              type->mpi()));
        free(values);
    }
    share_file();
}

static void create_file(const char *hints)
{
    file.shape[0] = RECORDS;
    file.shape[1] = (MPI_Offset)ROWS * check.nprocs;
    file.shape[2] = COLUMNS;
    file.cells = (size_t)(file.shape[0] * file.shape[1] * file.shape[2]);
    file.nvars = 2 * calls_type_count;
    file.serial = 0;
    file.ids = calloc((size_t)file.nvars, sizeof *file.ids);
    file.model = calloc((size_t)file.nvars * file.cells, sizeof *file.model);
    MPI_Info info = check_info(hints);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("every.nc"), check.cmode,
                                    info, &file.ncid));
    MPI_Info_free(&info);
    define_variables();
    CHECK_NC(NC_NOERR, ncmpi_enddef(file.ncid));
    write_first_values();
}

static void verify_variable(int v, const char *after)
{
    const struct calls_type *type = type_of(v);
    void *values = calloc(file.cells, type->size);
    CHECK_NC(NC_NOERR, ncmpi_get_var(file.ncid, file.ids[v], values,
                                     (MPI_Offset)file.cells, type->mpi()));
    for (size_t i = 0; i < file.cells; i++) {
        char text[128];
        if (type->get(values, i) == model_of(v)[i]) continue;
        snprintf(text, sizeof text, "%s%d, cell %zu, after %s", type->name, v % 2, i,
                 after);
        check_eq(model_of(v)[i], type->get(values, i), text, __FILE__, __LINE__);
        break;
    }
    free(values);
}

/* Compares all variables in the file with the model. */
static void verify(const char *after)
{
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(file.ncid));
    for (int v = 0; v < file.nvars; v++)
        if (is_mine(v)) verify_variable(v, after);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(file.ncid));
}

static void close_file(void)
{
    CHECK_NC(NC_NOERR, ncmpi_close(file.ncid));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("every.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &file.ncid));
    verify("it was opened again");
    CHECK_NC(NC_NOERR, ncmpi_close(file.ncid));
    free(file.ids);
    free(file.model);
}

/* ---- choosing an access ---- */

/* Chooses a random piece within a process's rows. For varn, piece `p` has index `p` in
 * the first dimension. */
static void choose_piece(struct access *a, enum calls_kind kind, int rank, int p)
{
    for (int d = 0; d < NDIMS; d++) {
        MPI_Offset low = d == 1 ? rank * ROWS : 0, high = file.shape[d];
        if (d == 0 && kind == CALLS_varn) low = p, high = p + 1;
        if (d == 1) high = low + ROWS;
        a->start[p][d] = low + (MPI_Offset)check_random((uint64_t)(high - low));
        MPI_Offset room = (high - 1 - a->start[p][d]) / a->stride[d] + 1;
        a->count[p][d] = (MPI_Offset)check_random((uint64_t)room + 1);
        if (kind == CALLS_var1) a->count[p][d] = 1;
        if (kind == CALLS_var) a->start[p][d] = 0, a->count[p][d] = file.shape[d];
    }
}

/* Lists the cells that an access covers, in order, and their positions in the buffer. */
static void list_cells(struct access *a)
{
    a->cell = calloc(file.cells, sizeof *a->cell);
    a->slot = calloc(file.cells, sizeof *a->slot);
    a->n = 0;
    for (int p = 0; p < a->pieces; p++) {
        const MPI_Offset *s = a->start[p], *c = a->count[p], *t = a->stride;
        for (MPI_Offset i = 0; i < c[0]; i++)
            for (MPI_Offset j = 0; j < c[1]; j++)
                for (MPI_Offset k = 0; k < c[2]; k++, a->n++) {
                    a->cell[a->n] =
                        (size_t)(((s[0] + i * t[0]) * file.shape[1] + s[1] + j * t[1]) *
                                     file.shape[2] +
                                 s[2] + k * t[2]);
                    a->slot[a->n] =
                        a->mapped
                            ? (size_t)(i * a->imap[0] + j * a->imap[1] + k * a->imap[2])
                            : a->n;
                }
    }
}

static void choose_access(struct access *a, enum calls_kind kind, int var, int rank)
{
    bool strided = kind == CALLS_vars || kind == CALLS_varm;
    a->var = var;
    a->pieces = kind == CALLS_varn ? 1 + (int)check_random(PIECES) : 1;
    a->mapped = kind == CALLS_varm;
    for (int d = 0; d < NDIMS; d++)
        a->stride[d] = strided ? 1 + (MPI_Offset)check_random(3) : 1;
    for (int p = 0; p < a->pieces; p++)
        choose_piece(a, kind, rank, p);
    a->imap[0] = 1; /* dimensions are reversed in memory */
    for (int d = 1; d < NDIMS; d++)
        a->imap[d] = a->imap[d - 1] * (a->count[0][d - 1] ? a->count[0][d - 1] : 1);
    list_cells(a);
}

static void free_access(struct access *a)
{
    free(a->cell);
    free(a->slot);
}

/* ---- buffers ---- */

/* Creates the buffer for an access. For flexible functions, the values occupy every
 * second element, as described by a datatype with gaps or, for varm, by imap. */
static void make_buffer(struct buffer *b, const struct access *a,
                        const struct calls_row *row)
{
    b->type = type_of(a->var);
    b->spread = row->type == NULL && !a->mapped ? 2 : 1;
    b->bytes = (a->n * b->spread + 1) * b->type->size;
    b->values = malloc(b->bytes);
    b->expected = malloc(b->bytes);
    memset(b->values, 0x55, b->bytes);
    memset(b->expected, 0x55, b->bytes);
    for (size_t i = 0; i < a->n; i++) {
        int now = model_of(a->var)[a->cell[i]], new = value_at(a->cell[i]);
        size_t at = a->slot[i] * b->spread;
        b->type->set(b->expected, at, is_put(row->mode) ? new : now);
        if (is_put(row->mode)) b->type->set(b->values, at, new);
    }
    MPI_Type_vector((int)a->n, 1, (int)b->spread, b->type->mpi(), &b->mpi);
    MPI_Type_commit(&b->mpi);
}

/* After a get, checks that the buffer has the expected values; after a put, that the
 * buffer is unchanged. */
static void check_buffer(struct buffer *b, const struct calls_row *row)
{
    check_bytes(b->expected, b->values, b->bytes, row->name, __FILE__, __LINE__);
    free(b->values);
    free(b->expected);
    if (b->mpi != MPI_DATATYPE_NULL) MPI_Type_free(&b->mpi);
}

/* ---- a single call ---- */

/* Sets the arguments that describe one access. */
static void set_arguments(struct calls_args *args, struct access *a, struct buffer *b,
                          MPI_Offset *starts[], MPI_Offset *counts[])
{
    args->ncid = file.ncid;
    args->varid = file.ids[a->var];
    args->start = a->start[0];
    args->count = a->count[0];
    args->stride = a->stride;
    args->imap = a->imap;
    args->num = a->pieces;
    for (int p = 0; p < a->pieces; p++) {
        starts[p] = a->start[p];
        counts[p] = a->count[p];
    }
    args->starts = starts;
    args->counts = counts;
    args->buf = b->values;
    args->bufcount = 1;
    args->buftype = b->mpi;
}

static void wait_for(int req, const struct calls_row *row)
{
    int status = NC_NOERR;
    int rc = check.collective ? ncmpi_wait_all(file.ncid, 1, &req, &status)
                              : ncmpi_wait(file.ncid, 1, &req, &status);
    check_nc(NC_NOERR, rc, row->name, __FILE__, __LINE__);
    check_nc(NC_NOERR, status, row->name, __FILE__, __LINE__);
    CHECK_EQ(NC_REQ_NULL, req);
}

/* Calls a function for one access. Frees the buffer's datatype as soon as the request is
 * posted; after a bput, also overwrites the buffer. */
static void call_one(const struct calls_row *row, struct access *a)
{
    struct calls_args args = {0};
    struct buffer b;
    MPI_Offset *starts[PIECES], *counts[PIECES];
    int req = NC_REQ_NULL;
    make_buffer(&b, a, row);
    set_arguments(&args, a, &b, starts, counts);
    args.req = &req;
    check_nc(NC_NOERR, row->run(&args), row->name, __FILE__, __LINE__);
    MPI_Type_free(&b.mpi);
    if (row->mode == CALLS_bput) {
        memset(b.values, 0, b.bytes);
        memset(b.expected, 0, b.bytes);
    }
    if (is_posted(row->mode)) wait_for(req, row);
    check_buffer(&b, row);
}

static void call_many(const struct calls_row *row, struct access *a)
{
    struct calls_args args = {0};
    struct buffer b[MANY];
    int varids[MANY];
    void *bufs[MANY];
    MPI_Offset *starts[MANY], *counts[MANY], *strides[MANY], *imaps[MANY];
    MPI_Offset bufcounts[MANY];
    MPI_Datatype buftypes[MANY];
    for (int j = 0; j < MANY; j++) {
        make_buffer(&b[j], &a[j], row);
        varids[j] = file.ids[a[j].var];
        starts[j] = a[j].start[0];
        counts[j] = a[j].count[0];
        strides[j] = a[j].stride;
        imaps[j] = a[j].imap;
        bufs[j] = b[j].values;
        bufcounts[j] = 1;
        buftypes[j] = b[j].mpi;
    }
    args.ncid = file.ncid;
    args.num = MANY;
    args.varids = varids;
    args.starts = starts;
    args.counts = counts;
    args.strides = strides;
    args.imaps = imaps;
    args.bufs = bufs;
    args.bufcounts = bufcounts;
    args.buftypes = buftypes;
    check_nc(NC_NOERR, row->run(&args), row->name, __FILE__, __LINE__);
    for (int j = 0; j < MANY; j++)
        check_buffer(&b[j], row);
}

/* Applies a process's put to the model. */
static void note_put(const struct access *a)
{
    for (size_t i = 0; i < a->n; i++)
        model_of(a->var)[a->cell[i]] = value_at(a->cell[i]);
}

/* Calls a function on all processes. Each process also works out what the others access,
 * so that it can update its model. In collective mode, all processes put whole variables;
 * in independent mode, only one process does. */
static void call_row(const struct calls_row *row)
{
    int n = is_many(row->mode) ? MANY : 1;
    int type = row->type ? (int)(row->type - calls_types)
                         : (int)check_random((uint64_t)calls_type_count);
    int which = (int)check_random(2);
    bool one = row->kind == CALLS_var && is_put(row->mode) && !check.collective;
    struct access *all = calloc((size_t)(check.nprocs * n), sizeof *all);
    file.serial++;
    for (int r = 0; r < check.nprocs; r++)
        for (int j = 0; j < n; j++)
            choose_access(&all[r * n + j], row->kind, 2 * type + (which + j) % 2, r);
    if (!one || check.rank == 0) {
        if (n > 1)
            call_many(row, all + check.rank * n);
        else
            call_one(row, all + check.rank);
    }
    for (int i = 0; i < check.nprocs * n; i++) {
        if (is_put(row->mode)) note_put(&all[i]);
        free_access(&all[i]);
    }
    free(all);
}

/* ---- tests ---- */

static void call_kind(enum calls_mode mode, enum calls_kind kind)
{
    const char *last = "";
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(file.ncid));
    for (int i = 0; i < calls_row_count; i++) {
        const struct calls_row *row = &calls_rows[i];
        if (row->mode != mode || row->kind != kind) continue;
        if (!is_posted(mode) && row->collective != check.collective) continue;
        if (check.nprocs > 2 && check_random(3) > 0) continue;
        call_row(row);
        last = row->name;
    }
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(file.ncid));
    if (!is_put(mode)) return;
    share_file();
    verify(last);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void call_mode(enum calls_mode mode)
{
    create_file("");
    if (mode == CALLS_bput) CHECK_NC(NC_NOERR, ncmpi_buffer_attach(file.ncid, 65536));
    for (int kind = CALLS_var; kind <= CALLS_varn; kind++)
        call_kind(mode, (enum calls_kind)kind);
    if (mode == CALLS_bput) {
        MPI_Offset usage = -1;
        CHECK_NC(NC_NOERR, ncmpi_inq_buffer_usage(file.ncid, &usage));
        CHECK_EQ(0, usage);
        CHECK_NC(NC_NOERR, ncmpi_buffer_detach(file.ncid));
    }
    close_file();
}

static void every_put(void)
{
    call_mode(CALLS_put);
}

static void every_get(void)
{
    call_mode(CALLS_get);
}

static void every_iput(void)
{
    call_mode(CALLS_iput);
}

static void every_iget(void)
{
    call_mode(CALLS_iget);
}

static void every_bput(void)
{
    call_mode(CALLS_bput);
}

/* Without an attached buffer, bput works only if a log stores the values. */
static void every_bput_without_a_buffer(void)
{
    if (!PNETCDF_BURST_BUFFERING) {
        check_skip("the burst buffer is not built");
        return;
    }
    create_file("nc_burst_buf=enable");
    for (int kind = CALLS_var; kind <= CALLS_varn; kind++)
        call_kind(CALLS_bput, (enum calls_kind)kind);
    close_file();
}

static void every_mput(void)
{
    call_mode(CALLS_mput);
}

static void every_mget(void)
{
    call_mode(CALLS_mget);
}

static const struct check_test tests[] = {
    {"every put writes its values", every_put, CHECK_FORMATS | CHECK_MODES},
    {"every get reads the values", every_get, CHECK_FORMATS | CHECK_MODES},
    {"every iput writes its values", every_iput, CHECK_FORMATS | CHECK_MODES},
    {"every iget reads the values", every_iget, CHECK_FORMATS | CHECK_MODES},
    {"every bput writes its values", every_bput, CHECK_FORMATS | CHECK_MODES},
    {"with a log no bput needs an attached buffer", every_bput_without_a_buffer,
     CHECK_MODES},
    {"every mput writes its values", every_mput, CHECK_FORMATS | CHECK_MODES},
    {"every mget reads the values", every_mget, CHECK_FORMATS | CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
