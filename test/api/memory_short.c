/* Makes a different allocation on one process fail in each run. On that process, the call
 * must either return NC_ENOMEM or succeed without the memory. The call must also return
 * on all other processes, and no memory may leak. */
#include <stdio.h>
#include <string.h>

#include "fault_calls.h"
#include "shortage.h"

static int ncid, x, t, fixed, series, coarse;
static bool failing; /* whether allocations are made to fail on this process */
static int told;     /* number of calls that returned NC_ENOMEM */

/* Creates a dataset with fixed(x), series(t), filled(t, x) and coarse(x), and leaves
 * it in define mode. */
static void define(void)
{
    ncid = new_dataset("a.nc");
    x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    t = new_dim(ncid, "t", NC_UNLIMITED);
    int dims[2] = {t, x}, filled;
    fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
    series = new_var(ncid, "series", NC_INT, 1, &t);
    filled = new_var(ncid, "filled", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, filled, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, fixed, "units", 6, "metres"));
    coarse = new_var(ncid, "coarse", NC_FLOAT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, coarse, NC_QUANTIZE_BITROUND, 3));
}

/* A step in a dataset's life. It is run once for each allocation that it makes, with that
 * allocation failing. */
struct step {
    const char *name;
    void (*before)(void);
    int (*call)(void);
    void (*after)(void);
};

/* Checks the code that a step returned. `any` is true if an allocation failed on some
 * process. */
static void judge(const struct step *s, int code, bool any)
{
    if (!CHECK(code == NC_NOERR || (any && code == NC_ENOMEM)))
        fprintf(stderr, "# %s: %s on process %d\n", s->name, ncmpi_strerrno(code),
                check.rank);
    told += any && code == NC_ENOMEM;
}

static void try_step(const struct step *s)
{
    int any = 1;
    long tries = 0;
    told = 0;
    for (long nth = 1; any && nth < 200; nth++, tries++) {
        MPI_Offset had = -1, has = -2;
        CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&had));
        s->before();
        if (failing) shortage_arm(nth);
        int code = s->call(), failed = failing && shortage_disarm();
        MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        judge(s, code, any);
        s->after();
        CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&has));
        if (!CHECK_EQ(had, has)) fprintf(stderr, "# %s, allocation %ld\n", s->name, nth);
    }
    CHECK(any == 0); /* fewer than `nth` allocations were made in the last run */
    if (failing && tries > 1) CHECK(told > 0);
}

static void try_steps(const struct step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        failing = check.rank == (int)i % check.nprocs;
        try_step(&steps[i]);
    }
}

/* ---- the life of a dataset ---- */

static void nothing(void)
{
}

static int create(void)
{
    ncid = -1;
    return ncmpi_create(MPI_COMM_WORLD, check_path("b.nc"), check.cmode, MPI_INFO_NULL,
                        &ncid);
}

static void write_file(void)
{
    define();
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int open(void)
{
    ncid = -1;
    return ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, MPI_INFO_NULL, &ncid);
}

static void close_if_open(void)
{
    if (ncid >= 0) close_dataset(ncid);
}

static int enddef(void)
{
    return ncmpi_enddef(ncid);
}

/* Closes the dataset. The close may be the first call that reports another process's
 * error. */
static void close_all(void)
{
    int code = ncmpi_close(ncid);
    CHECK(code == NC_NOERR || code == NC_ENOMEM);
}

static void in_data_mode(void)
{
    int values[N * MOST];
    MPI_Offset start = 0, count = (MPI_Offset)N * check.nprocs;
    for (int i = 0; i < N * MOST; i++)
        values[i] = i;
    define();
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, fixed, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, series, &start, &count, values));
}

static int redef(void)
{
    return ncmpi_redef(ncid);
}

/* Adds definitions that make enddef move all data. */
static void redefined(void)
{
    in_data_mode();
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    for (int i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "attribute %d", i);
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, fixed, name, 10, "ten bytes."));
    }
    new_var(ncid, "another", NC_DOUBLE, 1, &t);
}

static int fill(void)
{
    return ncmpi_fill_var_rec(ncid, 2, 3);
}

static int sync_it(void)
{
    return ncmpi_sync(ncid);
}

static int inquire(void)
{
    MPI_Info info = MPI_INFO_NULL;
    int rc = ncmpi_inq_file_info(ncid, &info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return rc;
}

static int quantized_put(void)
{
    const double values[N] = {1.23};
    const MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    return ncmpi_put_vara_double_all(ncid, coarse, &start, &count, values);
}

static int quantized_puts(void)
{
    double values[N] = {1.23}, *bufs[] = {values, values};
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N,
               *starts[] = {&start, &start}, *counts[] = {&count, &count};
    int varids[] = {coarse, coarse};
    return ncmpi_mput_vara_double_all(ncid, 2, varids, starts, counts, bufs);
}

static int quantized_posts(void)
{
    const double values[N] = {1.23};
    const MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    int rc = ncmpi_iput_vara_double(ncid, coarse, &start, &count, values, NULL);
    int waited = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
    return rc != NC_NOERR ? rc : waited;
}

static void life(void)
{
    static const struct step steps[] = {
        {"create", nothing, create, close_if_open},
        {"open", write_file, open, close_if_open},
        {"enddef", define, enddef, close_all},
        {"redef", in_data_mode, redef, close_all},
        {"enddef with moves", redefined, enddef, close_all},
        {"fill_var_rec", in_data_mode, fill, close_all},
        {"sync", in_data_mode, sync_it, close_all},
        {"quantized put", in_data_mode, quantized_put, close_all},
        {"quantized mput", in_data_mode, quantized_puts, close_all},
        {"quantized iput", in_data_mode, quantized_posts, close_all},
        {"inq_file_info", in_data_mode, inquire, close_all},
    };
    try_steps(steps, sizeof steps / sizeof steps[0]);
}

/* ---- local definitions ---- */

static int one_dim(void)
{
    return ncmpi_def_dim(ncid, "another", 5, NULL);
}

static int one_var(void)
{
    return ncmpi_def_var(ncid, "another", NC_INT, 1, &x, NULL);
}

static int one_att(void)
{
    return ncmpi_put_att_text(ncid, fixed, "another", 11, "of 11 bytes");
}

static int a_copy(void)
{
    return ncmpi_copy_att(ncid, fixed, "units", ncid, series);
}

static int a_dim_renamed(void)
{
    return ncmpi_rename_dim(ncid, x, "a_longer_name");
}

static int a_var_renamed(void)
{
    return ncmpi_rename_var(ncid, fixed, "a_longer_name");
}

static int an_att_renamed(void)
{
    return ncmpi_rename_att(ncid, fixed, "units", "a_longer_name");
}

static int a_fill_value(void)
{
    int value = 5;
    return ncmpi_def_var_fill(ncid, fixed, 0, &value);
}

/* Aborts, because the definitions may now differ between processes. */
static void give_up(void)
{
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
}

static void definitions(void)
{
    static const struct step steps[] = {
        {"def_dim", define, one_dim, give_up},
        {"def_var", define, one_var, give_up},
        {"put_att", define, one_att, give_up},
        {"copy_att", define, a_copy, give_up},
        {"rename_dim", define, a_dim_renamed, give_up},
        {"rename_var", define, a_var_renamed, give_up},
        {"rename_att", define, an_att_renamed, give_up},
        {"def_var_fill", define, a_fill_value, give_up},
    };
    try_steps(steps, sizeof steps / sizeof steps[0]);
}

/* ---- definitions in data mode, which take effect on all processes or on none ---- */

static int a_shorter_dim(void)
{
    return ncmpi_rename_dim(ncid, x, "y");
}

static int a_shorter_var(void)
{
    return ncmpi_rename_var(ncid, fixed, "fix");
}

static int a_shorter_att(void)
{
    return ncmpi_rename_att(ncid, fixed, "units", "unit");
}

static int another_value(void)
{
    return ncmpi_put_att_text(ncid, fixed, "units", 5, "miles");
}

static int a_copied_value(void)
{
    return ncmpi_copy_att(ncid, series, "units", ncid, fixed);
}

static void with_units(void)
{
    define();
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, series, "units", 4, "days"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
}

/* Checks that the definitions are the same on all processes and in the file. */
static void same_on_all(void)
{
    char now[3 * (NC_MAX_NAME + 1)] = "", others[sizeof now], text[20] = "";
    for (int open = 0; open < 2; open++) {
        memset(now, 0, sizeof now);
        CHECK_NC(NC_NOERR, ncmpi_inq_dimname(ncid, x, now));
        CHECK_NC(NC_NOERR, ncmpi_inq_varname(ncid, fixed, now + NC_MAX_NAME));
        CHECK_NC(NC_NOERR, ncmpi_inq_attname(ncid, fixed, 0, now + 2 * NC_MAX_NAME));
        memset(text, 0, sizeof text);
        CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, fixed, now + 2 * NC_MAX_NAME, text));
        memcpy(now + sizeof now - sizeof text, text, sizeof text);
        if (open == 0) memcpy(others, now, sizeof now);
        if (open == 0) MPI_Bcast(others, sizeof others, MPI_CHAR, 0, MPI_COMM_WORLD);
        CHECK(memcmp(now, others, sizeof now) == 0);
        close_dataset(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
        if (open == 0) ncid = open_dataset("a.nc", NC_NOWRITE);
    }
}

static void a_lack_of_memory_is_an_error_definitions_in_data_mode(void)
{
    static const struct step steps[] = {
        {"rename_dim", with_units, a_shorter_dim, same_on_all},
        {"rename_var", with_units, a_shorter_var, same_on_all},
        {"rename_att", with_units, a_shorter_att, same_on_all},
        {"put_att", with_units, another_value, same_on_all},
        {"copy_att", with_units, a_copied_value, same_on_all},
    };
    for (int i = 0; i < check.nprocs; i++)
        try_steps(steps, sizeof steps / sizeof steps[0]);
}

/* ---- data ---- */

static const struct family *family; /* the function family under test */
static bool putting, scattered;

/* Accesses this process's elements, either with a contiguous buffer or with one that a
 * datatype with gaps describes. */
static int access_with(const struct family *f, int *values, bool put, bool gaps)
{
    MPI_Offset n = elements_of(f->shape);
    MPI_Offset start[1] = {place_of(f->shape, 0)}, count[1] = {n}, imap[1] = {1};
    MPI_Offset stride[1] = {f->shape == CYCLIC ? check.nprocs : 1};
    MPI_Datatype type = MPI_INT;
    if (gaps) {
        MPI_Type_vector((int)n, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    struct access a = {fixed, 1, start, count, stride, imap, NULL, gaps ? 1 : n, type};
    a.buf = values;
    int rc = f->call(ncid, &a, put);
    if (gaps) MPI_Type_free(&type);
    return rc;
}

/* Checks that the value of each element is the element's index plus `more`. */
static void holds(const struct family *f, const int *values, int step, int more)
{
    for (MPI_Offset i = 0; i < elements_of(f->shape); i++)
        CHECK_EQ(place_of(f->shape, i) + more, values[i * step]);
}

static int access_data(void)
{
    int values[2 * N * MOST] = {0};
    bool gaps = scattered && strstr(family->name, "_int") == NULL;
    int step = gaps ? 2 : 1;
    for (MPI_Offset i = 0; i < elements_of(family->shape); i++)
        values[i * step] = putting ? (int)place_of(family->shape, i) + 1000 : -1;
    int rc = access_with(family, values, putting, gaps);
    if (rc == NC_NOERR) holds(family, values, step, putting ? 1000 : 0);
    if (!putting) return rc;

    struct family same = families[3]; /* a strided get can access any element */
    same.shape = family->shape;
    MPI_Barrier(MPI_COMM_WORLD);
    shortage_hold(true);
    int again = access_with(&same, values, false, false);
    shortage_hold(false);
    if (rc == NC_NOERR && again == NC_NOERR) holds(family, values, 1, 1000);
    return rc;
}

static void every_family(void)
{
    for (int i = 0; i < FIRST_FAMILIES * 4; i += check.nprocs == 1 ? 1 : 3) {
        family = &families[i / 4];
        putting = i & 1;
        scattered = i & 2;
        const struct step s = {family->name, in_data_mode, access_data, close_all};
        failing = check.rank == i % check.nprocs;
        try_step(&s);
    }
}

static int buffered(void)
{
    int values[2 * N] = {0}, id = NC_REQ_NULL, status = NC_NOERR;
    MPI_Offset start[1] = {N * check.rank}, count[1] = {N};
    MPI_Datatype type;
    MPI_Type_vector(N, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    int attached = ncmpi_buffer_attach(ncid, N * 4);
    int posted = ncmpi_bput_vara(ncid, fixed, start, count, values, 1, type, &id);
    int waited = ncmpi_wait_all(ncid, 1, &id, &status);
    /* If the wait failed, the request is still pending. */
    if (waited != NC_NOERR) ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL);
    if (attached == NC_NOERR) CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    MPI_Type_free(&type);
    return attached != NC_NOERR ? attached : posted != NC_NOERR ? posted : waited;
}

static void buffers(void)
{
    static const struct step steps[] = {{"bput", in_data_mode, buffered, close_all}};
    try_steps(steps, 1);
}

/* ---- statuses ---- */

static const char *stack; /* drivers that the dataset passes through */
static bool independent;  /* whether the puts are independent */

static void created_through_stack(void)
{
    int err, values[N] = {0};
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    ncid = create_through(MPI_COMM_WORLD, "a.nc", stack, &err);
    CHECK_NC(NC_NOERR, err);
    x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, fixed, &start, &count, values));
    if (independent) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
}

/* Waits for several puts. If a put's status is NC_NOERR, its value must be readable, even
 * if the wait returned an error. */
static int posts_with_statuses(void)
{
    enum { POSTS = 3 };
    int values[POSTS], back[POSTS] = {0}, posted[POSTS], posts[POSTS];
    int status[POSTS], first = NC_NOERR;
    for (int i = 0; i < POSTS; i++) {
        MPI_Offset at = (MPI_Offset)N * check.rank + i;
        values[i] = 0x01020304 * (i + 1);
        status[i] = NC_NOERR;
        posted[i] = ncmpi_iput_var1_int(ncid, fixed, &at, &values[i], &posts[i]);
        if (posted[i] != NC_NOERR) posts[i] = NC_REQ_NULL;
        if (first == NC_NOERR) first = posted[i];
    }
    int waited = independent ? ncmpi_wait(ncid, POSTS, posts, status)
                             : ncmpi_wait_all(ncid, POSTS, posts, status);
    shortage_hold(true);
    if (independent) { /* may be the first call that reports another process's error */
        int ended = ncmpi_end_indep_data(ncid);
        CHECK(ended == NC_NOERR || ended == NC_ENOMEM);
    }
    MPI_Offset start = (MPI_Offset)N * check.rank, count = POSTS;
    int got = ncmpi_get_vara_int_all(ncid, fixed, &start, &count, back);
    shortage_hold(false);
    for (int i = 0; i < POSTS && got == NC_NOERR; i++)
        if (posted[i] == NC_NOERR && status[i] == NC_NOERR) CHECK_EQ(values[i], back[i]);
    return first != NC_NOERR ? first : waited;
}

static void statuses(void)
{
    static const char *const stacks[] = {
        "", "nc_transfer=node;nc_node_share_size=300", "nc_blob=enable;nc_num_subfiles=2",
        ("nc_burst_buf=enable;nc_burst_buf_dirname=%s;nc_burst_buf_log_at=post;"
         "e10_cache=coherent")};
    for (int i = 0; i < 8; i++) {
        const struct step s = {stacks[i / 2], created_through_stack, posts_with_statuses,
                               close_all};
        stack = s.name;
        independent = i % 2 != 0;
        failing = check.rank == i / 2 % check.nprocs;
        try_step(&s);
    }
}

/* Cancels requests that are far apart in the queue. Either all of them must be cancelled,
 * or none. */
static int ids[200];

static void many_posted(void)
{
    static const int one = 1000;
    MPI_Offset start = (MPI_Offset)N * check.rank;
    in_data_mode();
    for (int i = 0; i < 200; i++)
        CHECK_NC(NC_NOERR, ncmpi_iput_var1_int(ncid, fixed, &start, &one, &ids[i]));
}

static int cancel_few(void)
{
    int some[2] = {ids[0], ids[199]}, status[2] = {0};
    return ncmpi_cancel(ncid, 2, some, status);
}

static void the_rest_is_put(void)
{
    int value = 0, pending = 0;
    MPI_Offset start = (MPI_Offset)N * check.rank;
    CHECK_NC(NC_NOERR, ncmpi_inq_nreqs(ncid, &pending));
    CHECK(pending == 198 || pending == 200);
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_nreqs(ncid, &pending));
    CHECK_EQ(0, pending);
    CHECK_NC(NC_NOERR, ncmpi_get_var1_int_all(ncid, fixed, &start, &value));
    CHECK_EQ(1000, value);
    close_all();
}

static void cancelled(void)
{
    static const struct step steps[] = {
        {"cancel", many_posted, cancel_few, the_rest_is_put}};
    try_steps(steps, 1);
}

static const struct check_test tests[] = {
    {"a lack of memory is an error: life of a dataset", life, 0},
    {"a lack of memory is an error: definitions", definitions, 0},
    {"a lack of memory is an error: definitions in data mode",
     a_lack_of_memory_is_an_error_definitions_in_data_mode, 0},
    {"a lack of memory is an error: every way to access data", every_family, 0},
    {"a lack of memory is an error: buffered requests", buffers, 0},
    {"a lack of memory is an error: cancelled requests", cancelled, 0},
    {"a put whose status is NC_NOERR is complete", statuses, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
