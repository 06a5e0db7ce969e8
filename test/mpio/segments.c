/* Tests lists of segments (varn) with every transfer method: sorted, unsorted, adjacent,
 * empty and long segments, in variables of every shape, in blocking calls and in requests
 * that are pending while the layout changes. Gets must return the values that were
 * put. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "plan_value.h"
#include "pnetcdf.h"

enum { ROWS = 6, WIDTH = 211, ALL = ROWS * WIDTH };

/* The last two sets of hints simulate several nodes, whose processes pack requests for
 * each other. */
static const char *const ways[] = {
    "auto", "direct", "view", "node", "node;nc_node_procs=1", "node;nc_node_procs=2"};
enum { NWAYS = sizeof ways / sizeof ways[0] };

static const struct shape {
    int ndims;
    bool records, alone; /* whether v is a record variable; whether v is the only
                          * variable */
    nc_type type;
} shapes[] = {{1, false, true, NC_DOUBLE}, {2, false, true, NC_INT},
              {2, true, true, NC_SHORT},   {2, true, false, NC_FLOAT},
              {1, true, true, NC_INT},     {1, true, false, NC_DOUBLE}};
enum { NSHAPES = sizeof shapes / sizeof shapes[0] };

/* This process's segments, and the value that each element of the variable must have. */
struct list {
    int n;
    MPI_Offset start[ALL][2], count[ALL][2], *starts[ALL], *counts[ALL];
    int buf[ALL], nelems;
    int model[ALL];
};

/* Returns the value that put number `turn` writes to an element. */
static int value(const struct shape *s, int element, int turn)
{
    return plan_int(s->type, (uint64_t)turn << 32 | (uint64_t)element);
}

static void add(struct list *l, const struct shape *s, int at, int n)
{
    bool one = s->ndims == 1;
    MPI_Offset *start = l->start[l->n], *count = l->count[l->n];
    start[0] = one ? at : at / WIDTH;
    start[1] = at % WIDTH;
    count[0] = one ? n : 1;
    count[1] = n;
    l->starts[l->n] = start;
    l->counts[l->n++] = count;
}

/* Divides the variable into segments, and assigns each segment to a process or to none.
 * Updates the model as if every process had put its segments. */
static void deal(struct list *l, const struct shape *s, int turn)
{
    l->n = 0;
    for (int at = 0, n; at < ALL; at += n) {
        int room = s->ndims == 1 ? ALL - at : WIDTH - at % WIDTH;
        int owner = (int)check_random((uint64_t)check.nprocs + 1);
        n = (int)check_random(check_random(40) ? 9 : 120);
        if (n > room) n = room;
        if (owner == check.rank) add(l, s, at, n);
        for (int i = 0; i < n && owner < check.nprocs; i++)
            l->model[at + i] = value(s, at + i, turn);
    }
}

/* Shuffles a list of segments. */
static void shuffle(struct list *l)
{
    for (int i = l->n - 1; i > 0; i--) {
        int k = (int)check_random_own((uint64_t)i + 1);
        MPI_Offset *start = l->starts[i], *count = l->counts[i];
        l->starts[i] = l->starts[k];
        l->counts[i] = l->counts[k];
        l->starts[k] = start;
        l->counts[k] = count;
    }
}

static int first_of(const struct list *l, const struct shape *s, int i)
{
    return (int)(s->ndims == 1 ? l->starts[i][0]
                               : l->starts[i][0] * WIDTH + l->starts[i][1]);
}

static void fill_buffer(struct list *l, const struct shape *s, int turn)
{
    l->nelems = 0;
    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < l->counts[i][s->ndims - 1]; k++)
            l->buf[l->nelems++] = value(s, first_of(l, s, i) + k, turn);
}

static int new_file(int way, const struct shape *s, int *v)
{
    int ncid, dims[2], other;
    char text[100];
    snprintf(text, sizeof text, "nc_transfer=%s", ways[way]);
    MPI_Info info = check_info(text);
    MPI_Info_set(info, "nc_node_share_size", check_random(2) ? "500" : "1048576");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    MPI_Offset rows = s->records ? NC_UNLIMITED : s->ndims == 1 ? ALL : ROWS;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "row", rows, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "column", WIDTH, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", s->type, s->ndims, dims, v));
    if (!s->alone) CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "w", NC_BYTE, 2, dims, &other));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

static void put_all(int ncid, int v, const struct shape *s, struct list *l)
{
    MPI_Offset start[2] = {0}, count[2] = {s->ndims == 1 ? ALL : ROWS, WIDTH};
    for (int i = 0; i < ALL; i++)
        l->model[i] = value(s, i, 0);
    if (check.rank > 0) count[0] = 0;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, l->model));
}

/* Posts a put, and waits for it after a redefinition that changes the record size and the
 * offset of v. */
static void put_later(int ncid, int v, struct list *l)
{
    int id, dims[2], more;
    CHECK_NC(NC_NOERR,
             ncmpi_iput_varn_int(ncid, v, l->n, l->starts, l->counts, l->buf, &id));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "z", 3, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "row", &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "more", NC_INT, 2, dims, &more));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, NULL));
}

static void get_back(int ncid, int v, const struct shape *s, const struct list *l)
{
    MPI_Offset start[2] = {0}, count[2] = {s->ndims == 1 ? ALL : ROWS, WIDTH};
    int *whole = malloc(sizeof l->model), *mine = malloc(sizeof l->buf), wrong = 0, id;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, whole));
    for (int i = 0; i < ALL; i++)
        wrong += whole[i] != l->model[i];
    CHECK_EQ(0, wrong);
    for (int later = 0; later < 2; later++) {
        wrong = 0;
        if (later) {
            CHECK_NC(NC_NOERR,
                     ncmpi_iget_varn_int(ncid, v, l->n, l->starts, l->counts, mine, &id));
            CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, NULL));
        } else {
            CHECK_NC(NC_NOERR,
                     ncmpi_get_varn_int_all(ncid, v, l->n, l->starts, l->counts, mine));
        }
        for (int i = 0; i < l->nelems; i++)
            wrong += mine[i] != l->buf[i];
        CHECK_EQ(0, wrong);
    }
    free(whole);
    free(mine);
}

static void check_shape(int way, const struct shape *s, bool later, bool mixed)
{
    int v, ncid = new_file(way, s, &v);
    struct list *l = malloc(sizeof *l);
    put_all(ncid, v, s, l);
    deal(l, s, 1);
    if (mixed) shuffle(l);
    fill_buffer(l, s, 1);
    if (later)
        put_later(ncid, v, l);
    else
        CHECK_NC(NC_NOERR,
                 ncmpi_put_varn_int_all(ncid, v, l->n, l->starts, l->counts, l->buf));
    get_back(ncid, v, s, l);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    free(l);
}

static void check_all(bool later, bool mixed)
{
    for (int way = 0; way < NWAYS; way++)
        for (int i = 0; i < NSHAPES; i++)
            check_shape(way, &shapes[i], later, mixed);
}

static void segments_in_file_order_are_transferred(void)
{
    check_all(false, false);
}

static void segments_in_any_order_are_transferred(void)
{
    check_all(false, true);
}

static void segments_are_pending_while_the_layout_changes(void)
{
    check_all(true, check_random(2));
}

/* If the last segment of a list is out of bounds, no segment of the list may be put. */
static void an_invalid_segment_prevents_all_of_a_list(void)
{
    enum { N = 40 };
    int ncid = -1, dim, v, values[N], back[N];
    MPI_Offset at[N], *starts[N], one = 1, two = 2, *counts[N], length = N;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode,
                                    MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, &(int){-5}));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < N; i++) {
        values[i] = i;
        at[i] = i;
        starts[i] = &at[i];
        counts[i] = i == N - 1 ? &two : &one;
    }
    CHECK_NC(NC_EEDGE, ncmpi_put_varn_int_all(ncid, v, N, starts, counts, values));
    at[N - 1] = N;
    CHECK_NC(NC_EINVALCOORDS, ncmpi_put_varn_int_all(ncid, v, N, starts, NULL, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &(MPI_Offset){0}, &length, back));
    for (int i = 0; i < N; i++)
        CHECK_EQ(-5, back[i]);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"segments in file order are transferred", segments_in_file_order_are_transferred, 0},
    {"segments in any order are transferred", segments_in_any_order_are_transferred, 0},
    {"segments are pending while the layout changes",
     segments_are_pending_while_the_layout_changes, CHECK_FORMATS},
    {"an invalid segment prevents all of a list",
     an_invalid_segment_prevents_all_of_a_list, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
