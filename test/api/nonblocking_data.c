/* Tests transfers with nonblocking requests: interleaved and overlapping parts, scalars,
 * lists, and derived types. */
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "nonblocking.h"

/* Each process owns every nprocs-th column, and posts one request per column, in random
 * order. */
static void interleaved_columns_are_put_in_any_order(void)
{
    enum { ROWS = 9, COLUMNS = 6 };
    int ncid = new_dataset("a.nc"), order[COLUMNS], width = COLUMNS * check.nprocs;
    int dims[2] = {new_dim(ncid, "y", NC_UNLIMITED), new_dim(ncid, "x", width)};
    int v = new_var(ncid, "v", NC_SHORT, 2, dims);
    int values[COLUMNS][ROWS], back[COLUMNS][ROWS];
    begin_data(ncid);
    for (int put = 1; put >= 0; put--) {
        shuffled(order, COLUMNS);
        for (int k = 0; k < COLUMNS; k++) {
            int c = order[k];
            MPI_Offset start[2] = {0, c * check.nprocs + check.rank};
            MPI_Offset count[2] = {ROWS, 1};
            for (int i = 0; i < ROWS && put; i++)
                values[c][i] = (int)check_random_own(30000);
            CHECK_NC(NC_NOERR,
                     put ? ncmpi_iput_vara_int(ncid, v, start, count, values[c], NULL)
                         : ncmpi_iget_vara_int(ncid, v, start, count, back[c], NULL));
        }
        CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    }
    CHECK_BYTES(values, back, sizeof back);
    end_data(ncid);
    close_dataset(ncid);
}

/* Puts overlapping hyperslabs of a small array with nonblocking requests, applies the
 * same puts to a model in memory, and compares the two. */
static void overlapping_requests_are_executed_in_order(void)
{
    enum { Y = 7, X = 11, MANY = 30 };
    int ncid = new_dataset("a.nc"), model[Y][X] = {{0}}, values[MANY][Y * X];
    int dims[3] = {new_dim(ncid, "p", check.nprocs), new_dim(ncid, "y", Y),
                   new_dim(ncid, "x", X)};
    int v = new_var(ncid, "v", NC_INT, 3, dims);
    begin_data(ncid);
    MPI_Offset all_start[3] = {check.rank, 0, 0}, all[3] = {1, Y, X};
    CHECK_NC(NC_NOERR, put_ints(ncid, v, all_start, all, model[0]));
    for (int put = 1; put >= 0; put--) {
        MPI_Offset start[MANY][3], count[MANY][3];
        for (int k = 0; k < MANY; k++) {
            start[k][0] = check.rank, count[k][0] = 1;
            start[k][1] = (MPI_Offset)check_random_own(Y);
            start[k][2] = (MPI_Offset)check_random_own(X);
            count[k][1] = 1 + (MPI_Offset)check_random_own((uint64_t)(Y - start[k][1]));
            count[k][2] = 1 + (MPI_Offset)check_random_own((uint64_t)(X - start[k][2]));
            for (int i = 0; i < count[k][1] * count[k][2] && put; i++) {
                values[k][i] = 1000 * k + i;
                model[start[k][1] + i / count[k][2]][start[k][2] + i % count[k][2]] =
                    values[k][i];
            }
            CHECK_NC(
                NC_NOERR,
                put ? ncmpi_iput_vara_int(ncid, v, start[k], count[k], values[k], NULL)
                    : ncmpi_iget_vara_int(ncid, v, start[k], count[k], values[k], NULL));
        }
        CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
        for (int k = 0; k < MANY && !put; k++)
            for (int i = 0; i < count[k][1] * count[k][2]; i++)
                CHECK_EQ(
                    model[start[k][1] + i / count[k][2]][start[k][2] + i % count[k][2]],
                    values[k][i]);
    }
    end_data(ncid);
    close_dataset(ncid);
}

/* The result depends on the order in which the requests were posted, not on their order
 * in the list passed to wait. */
static void the_put_posted_last_takes_precedence(void)
{
    int ncid = new_dataset("a.nc"), ids[3], back[6];
    int dim = new_dim(ncid, "x", 6 * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 1, &dim);
    const int first[4] = {1, 1, 1, 1}, second[4] = {2, 2, 2, 2}, third[1] = {3};
    const int expected[6] = {1, 1, 2, 3, 2, 2};
    MPI_Offset base = 6 * check.rank, two = base + 2, three = base + 3, four = 4, one = 1;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, &base, &four, first, &ids[2]));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, &two, &four, second, &ids[1]));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, &three, &one, third, &ids[0]));
    CHECK_NC(NC_NOERR, wait_for(ncid, 3, ids, NULL));
    MPI_Offset six = 6;
    CHECK_NC(NC_NOERR, get_ints(ncid, v, &base, &six, back));
    CHECK_BYTES(expected, back, sizeof back);
    end_data(ncid);
    close_dataset(ncid);
}

static void scalars_are_mixed_with_other_requests(void)
{
    int ncid = new_dataset("a.nc"), dim = new_dim(ncid, "x", check.nprocs);
    int one = new_var(ncid, "one", NC_INT, 0, NULL);
    int many = new_var(ncid, "many", NC_INT, 1, &dim);
    int two = new_var(ncid, "two", NC_DOUBLE, 0, NULL);
    int a = 17, b = check.rank, c = 23, back[3] = {0};
    MPI_Offset start = check.rank, count = 1;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, two, NULL, NULL, &c, NULL));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, many, &start, &count, &b, NULL));
    CHECK_NC(NC_NOERR, ncmpi_iput_var_int(ncid, one, &a, NULL));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_iget_vara_int(ncid, many, &start, &count, &back[1], NULL));
    CHECK_NC(NC_NOERR, ncmpi_iget_var1_int(ncid, two, NULL, &back[2], NULL));
    CHECK_NC(NC_NOERR,
             ncmpi_iget_varm_int(ncid, one, NULL, NULL, NULL, NULL, &back[0], NULL));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_EQ(17, back[0]);
    CHECK_EQ(check.rank, back[1]);
    CHECK_EQ(23, back[2]);
    end_data(ncid);
    close_dataset(ncid);
}

/* Posts varn requests for which `counts`, or one of its elements, is NULL. */
static void lists_may_omit_counts(void)
{
    int ncid = new_dataset("a.nc");
    int dims[2] = {new_dim(ncid, "y", check.nprocs), new_dim(ncid, "x", 8)};
    int v = new_var(ncid, "v", NC_INT, 2, dims), ids[2], back[8] = {0};
    const int singles[3] = {1, 2, 3}, mixed[4] = {4, 5, 6, 7};
    const int expected[8] = {7, 2, 4, 5, 6, 3, 0, 1};
    MPI_Offset a[2] = {check.rank, 7}, b[2] = {check.rank, 1}, c[2] = {check.rank, 5};
    MPI_Offset d[2] = {check.rank, 2}, e[2] = {check.rank, 0}, n[2] = {1, 3};
    MPI_Offset *three[3] = {a, b, c}, *two[2] = {d, e}, *counts[2] = {n, NULL};
    MPI_Offset start[2] = {check.rank, 0}, all[2] = {1, 8};
    begin_data(ncid);
    CHECK_NC(NC_NOERR, put_ints(ncid, v, start, all, back));
    CHECK_NC(NC_NOERR, ncmpi_iput_varn_int(ncid, v, 3, three, NULL, singles, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_iput_varn_int(ncid, v, 2, two, counts, mixed, &ids[1]));
    CHECK_NC(NC_NOERR, wait_for(ncid, 2, ids, NULL));
    CHECK_NC(NC_NOERR, get_ints(ncid, v, start, all, back));
    CHECK_BYTES(expected, back, sizeof back);
    memset(back, 0, sizeof back);
    CHECK_NC(NC_NOERR, ncmpi_iget_varn_int(ncid, v, 2, two, counts, back, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_iget_varn_int(ncid, v, 3, three, NULL, back + 4, &ids[1]));
    CHECK_NC(NC_NOERR, wait_for(ncid, 2, ids, NULL));
    CHECK_BYTES(mixed, back, sizeof mixed);
    CHECK_BYTES(singles, back + 4, sizeof singles);
    CHECK_NC(NC_NOERR, ncmpi_iget_varn_int(ncid, v, 0, NULL, NULL, NULL, &ids[0]));
    CHECK_EQ(NC_REQ_NULL, ids[0]);
    end_data(ncid);
    close_dataset(ncid);
}

/* A varn call posts a single request, whose status is the first error. */
static void a_list_of_hyperslabs_has_one_status(void)
{
    int ncid = new_dataset("a.nc"), dim = new_dim(ncid, "x", 3 * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 1, &dim), ids[2], statuses[2], n;
    const int values[3] = {1, 500, 3};
    signed char back[3] = {0};
    MPI_Offset a = 3 * check.rank, b = a + 1, c = a + 2, count = 3;
    MPI_Offset *starts[3] = {&a, &b, &c};
    begin_data(ncid);
    CHECK_NC(NC_NOERR, put_ints(ncid, v, &a, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_iget_varn_schar(ncid, v, 3, starts, NULL, back, &ids[1]));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, &a, &count, values, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_nreqs(ncid, &n));
    CHECK_EQ(2, n);
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 1, ids, statuses));
    CHECK_NC(NC_ERANGE, wait_for(ncid, 1, ids + 1, statuses));
    CHECK_NC(NC_ERANGE, statuses[0]);
    CHECK_EQ(1, back[0]);
    CHECK_EQ(3, back[2]);
    CHECK_NC(NC_NOERR, ncmpi_inq_nreqs(ncid, &n));
    CHECK_EQ(0, n);
    end_data(ncid);
    close_dataset(ncid);
}

/* Puts every second int of a buffer, and frees the datatype before the wait. */
static void the_datatype_may_be_freed_after_the_post(void)
{
    enum { N = 5 };
    int ncid = new_dataset("a.nc"), dim = new_dim(ncid, "x", N * check.nprocs);
    int v = new_var(ncid, "v", NC_FLOAT, 1, &dim), values[2 * N], back[2 * N];
    MPI_Offset start = N * check.rank, count = N, *starts[1] = {&start};
    MPI_Offset *counts[1] = {&count};
    MPI_Datatype inner, type;
    for (int i = 0; i < 2 * N; i++) {
        values[i] = 100 * check.rank + i;
        back[i] = -1;
    }
    begin_data(ncid);
    for (int put = 1; put >= 0; put--) {
        for (int list = 0; list < 2; list++) {
            CHECK(MPI_Type_vector(1, 1, 2, MPI_INT, &inner) == MPI_SUCCESS);
            CHECK(MPI_Type_create_resized(inner, 0, 2 * sizeof(int), &type) ==
                  MPI_SUCCESS);
            MPI_Type_free(&inner);
            MPI_Type_commit(&type);
            if (put)
                CHECK_NC(NC_NOERR, list ? ncmpi_iput_varn(ncid, v, 1, starts, counts,
                                                          values, N, type, NULL)
                                        : ncmpi_iput_vara(ncid, v, &start, &count, values,
                                                          N, type, NULL));
            else
                CHECK_NC(NC_NOERR, list ? ncmpi_iget_varn(ncid, v, 1, starts, counts,
                                                          back, N, type, NULL)
                                        : ncmpi_iget_vara(ncid, v, &start, &count, back,
                                                          N, type, NULL));
            MPI_Type_free(&type);
            CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
            for (int i = 0; i < 2 * N && !put; i++)
                CHECK_EQ(i % 2 ? -1 : values[i], back[i]);
        }
    }
    end_data(ncid);
    close_dataset(ncid);
}

/* Requests remain valid even if new definitions move the data before the wait. */
static void data_is_moved_between_post_and_wait(void)
{
    int ncid = new_dataset("a.nc"), t = new_dim(ncid, "t", NC_UNLIMITED);
    int x = new_dim(ncid, "x", 3 * check.nprocs), dims[2] = {t, x}, id;
    int fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
    int record = new_var(ncid, "record", NC_SHORT, 2, dims);
    MPI_Offset start[2] = {0, 3 * check.rank}, count[2] = {2, 3};
    const int a[3] = {1, 2, 3}, b[6] = {4, 5, 6, 7, 8, 9};
    int back_a[3], back_b[6], old[3] = {7, 7, 7}, unmoved[3] = {0};
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, fixed, start + 1, count + 1, old));
    CHECK_NC(NC_NOERR,
             ncmpi_iget_vara_int(ncid, fixed, start + 1, count + 1, unmoved, &id));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, record, start, count, b, NULL));
    MPI_Offset before, after;
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &before));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    new_var(ncid, "more", NC_DOUBLE, 1, &x);
    new_var(ncid, "another record", NC_INT, 2, dims);
    char text[700] = {0};
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "long", sizeof text, text));
    begin_data(ncid);
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &after));
    CHECK(after > before);
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &id, NULL));
    CHECK_BYTES(old, unmoved, sizeof old);
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, fixed, start + 1, count + 1, a, NULL));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_NC(NC_NOERR, get_ints(ncid, fixed, start + 1, count + 1, back_a));
    CHECK_NC(NC_NOERR, get_ints(ncid, record, start, count, back_b));
    CHECK_BYTES(a, back_a, sizeof a);
    CHECK_BYTES(b, back_b, sizeof b);
    end_data(ncid);
    close_dataset(ncid);
}

/* Posts one request per element, from the last element to the first: more requests than
 * fit into one tile, or a million if NCMPI_TEST_LARGE is set. Posts fewer on mounted file
 * systems, where each request may need a message to a server. */
static void very_many_requests_are_posted_backwards(void)
{
    const size_t many = getenv("NCMPI_TEST_LARGE") != NULL    ? 1000000
                        : getenv("NCMPI_TEST_MOUNTS") != NULL ? 2001
                                                              : 70001;
    int ncid = new_dataset("a.nc");
    int dim = new_dim(ncid, "x", (MPI_Offset)many * 2 * check.nprocs);
    int v = new_var(ncid, "v", NC_SHORT, 1, &dim);
    short *values = malloc(many * sizeof *values), *back = calloc(many, sizeof *back);
    int *ids = malloc(many * sizeof *ids), *statuses = malloc(many * sizeof *statuses);
    const MPI_Offset base = (MPI_Offset)many * 2 * check.rank, one = 1;
    begin_data(ncid);
    for (int put = 1; put >= 0; put--) {
        for (int i = (int)many - 1; i >= 0; i--) {
            MPI_Offset start = base + 2 * (MPI_Offset)i;
            if (put) values[i] = (short)check_random_own(32768);
            int rc =
                put ? ncmpi_iput_vara_short(ncid, v, &start, &one, &values[i], &ids[i])
                    : ncmpi_iget_vara_short(ncid, v, &start, &one, &back[i], &ids[i]);
            if (!CHECK_NC(NC_NOERR, rc)) break;
        }
        CHECK_NC(NC_NOERR, wait_for(ncid, (int)many, ids, statuses));
        for (int i = 0; i < (int)many; i++)
            if (!CHECK_NC(NC_NOERR, statuses[i])) break;
    }
    CHECK_BYTES(values, back, many * sizeof *back);
    free(values);
    free(back);
    free(ids);
    free(statuses);
    end_data(ncid);
    close_dataset(ncid);
}

enum { MANY = 10000 };

/* Posts MANY requests, each for one row, and waits for them in a different order. Returns
 * the peak amount of memory that the library used for the requests. */
static MPI_Offset post_and_wait(int ncid, int v, bool put, int (*rows)[4])
{
    int *ids = malloc(MANY * sizeof *ids), *order = malloc(MANY * sizeof *order);
    MPI_Offset before = 0, peak = 0, count[3] = {1, 1, 4};
    if (!CHECK(ids != NULL && order != NULL)) return 0;
    shuffled(order, MANY);
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&before));
    base_mem_reset_high_water();
    for (int i = 0; i < MANY; i++) {
        MPI_Offset start[3] = {order[i], check.rank, 0};
        int *row = rows[order[i]];
        int err = put ? ncmpi_iput_vara_int(ncid, v, start, count, row, &ids[order[i]])
                      : ncmpi_iget_vara_int(ncid, v, start, count, row, &ids[order[i]]);
        if (!CHECK_NC(NC_NOERR, err)) break;
    }
    CHECK_NC(NC_NOERR, wait_for(ncid, MANY, ids, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_max_size(&peak));
    free(ids);
    free(order);
    return peak - before;
}

static bool requests_take_more(void)
{
    static const char *const where[] = {"=direct", "=view", "node_procs=", "nc_blob",
                                        "subfil"};
    const char *hints = getenv("PNETCDF_HINTS");
    bool more = check_several_nodes();
    for (size_t i = 0; i < sizeof where / sizeof where[0] && hints != NULL; i++)
        if (strstr(hints, where[i]) != NULL) more = true;
    return more;
}

/* Checks how much memory, as reported by inq_malloc, the library uses per request from
 * the post to the end of the wait. For small puts, this includes a copy of the values. A
 * first pass allocates the buffers whose size does not depend on the number of
 * requests. */
static void a_pending_request_uses_little_memory(void)
{
    enum { MOST = 100 };
    static int rows[MANY][4], back[MANY][4];
    if (requests_take_more()) {
        check_skip("a tile, a node's messages, requests of blobs take more");
        return;
    }
    int ncid = new_dataset("a.nc");
    int dims[3] = {new_dim(ncid, "z", MANY), new_dim(ncid, "y", check.nprocs),
                   new_dim(ncid, "x", 4)};
    int v = new_var(ncid, "v", NC_INT, 3, dims);
    begin_data(ncid);
    for (int i = 0; i < MANY * 4; i++)
        rows[i / 4][i % 4] = i * 31 + check.rank;
    post_and_wait(ncid, v, true, rows);
    CHECK(post_and_wait(ncid, v, true, rows) <=
          MANY * (MOST + (MPI_Offset)sizeof rows[0]));
    memset(back, 0, sizeof back);
    CHECK(post_and_wait(ncid, v, false, back) <= MANY * MOST);
    CHECK_BYTES(rows, back, sizeof rows);
    end_data(ncid);
    close_dataset(ncid);
}

/* Tests mput and mget, which access several variables, each with its own buffer, in one
 * blocking call. */
static void one_call_accesses_several_variables(void)
{
    int ncid = new_dataset("a.nc"), t = new_dim(ncid, "t", NC_UNLIMITED);
    int x = new_dim(ncid, "x", 2 * check.nprocs), dims[2] = {t, x};
    int varids[3] = {new_var(ncid, "r", NC_INT, 2, dims),
                     new_var(ncid, "f", NC_DOUBLE, 1, &x)};
    varids[2] = varids[0];
    int a[2] = {1, 2}, b[2] = {3, 4}, c[2] = {5, 6}, back[3][2];
    int *puts[3] = {a, b, c}, *gets[3] = {back[0], back[1], back[2]};
    MPI_Offset s0[2] = {3, 2 * check.rank}, s2[2] = {1, 2 * check.rank}, n[2] = {1, 2};
    MPI_Offset *starts[3] = {s0, s0 + 1, s2}, *counts[3] = {n, n + 1, n};
    begin_data(ncid);
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_mput_vara_int_all(ncid, 3, varids, starts, counts, puts)
                 : ncmpi_mput_vara_int(ncid, 3, varids, starts, counts, puts));
    CHECK_EQ(4, dim_length(ncid, t));
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_mget_vara_int_all(ncid, 3, varids, starts, counts, gets)
                 : ncmpi_mget_vara_int(ncid, 3, varids, starts, counts, gets));
    for (int i = 0; i < 3; i++)
        CHECK_BYTES(puts[i], gets[i], sizeof a);
    bool idle = check.rank == 0;
    if (check.collective)
        CHECK_NC(NC_NOERR, ncmpi_mget_vara_int_all(ncid, idle ? 0 : 3, varids, starts,
                                                   counts, gets));
    end_data(ncid);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"interleaved columns are put in any order", interleaved_columns_are_put_in_any_order,
     CHECK_FORMATS | CHECK_MODES},
    {"overlapping requests are executed in order",
     overlapping_requests_are_executed_in_order, CHECK_FORMATS | CHECK_MODES},
    {"the put posted last takes precedence", the_put_posted_last_takes_precedence,
     CHECK_FORMATS | CHECK_MODES},
    {"scalars are mixed with other requests", scalars_are_mixed_with_other_requests,
     CHECK_FORMATS | CHECK_MODES},
    {"lists may omit counts", lists_may_omit_counts, CHECK_FORMATS | CHECK_MODES},
    {"a list of hyperslabs has one status", a_list_of_hyperslabs_has_one_status,
     CHECK_FORMATS | CHECK_MODES},
    {"the datatype may be freed after the post", the_datatype_may_be_freed_after_the_post,
     CHECK_FORMATS | CHECK_MODES},
    {"data is moved between post and wait", data_is_moved_between_post_and_wait,
     CHECK_FORMATS | CHECK_MODES},
    {"very many requests are posted backwards", very_many_requests_are_posted_backwards,
     CHECK_MODES},
    {"a pending request uses little memory", a_pending_request_uses_little_memory,
     CHECK_FORMATS},
    {"one call accesses several variables", one_call_accesses_several_variables,
     CHECK_FORMATS | CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
