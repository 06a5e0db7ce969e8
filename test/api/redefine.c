/* Definitions that change while there is data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_dataset.h"

enum { N = 13, RECS = 6 };

static int dims[2], fixed, record;

/* fixed(x) and record(t, x) with RECS records, all written, in data mode. */
static int with_data(void)
{
    int ncid = new_dataset("a.nc"), values[N];
    MPI_Offset start[2] = {0, 0}, count[2] = {1, N};
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", N);
    record = new_var(ncid, "record", NC_INT, 2, dims);
    fixed = new_var(ncid, "fixed", NC_INT, 1, dims + 1);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int r = -1; r < RECS; r++) {
        int mine = (r + 1) % check.nprocs == check.rank;
        for (int i = 0; i < N; i++)
            values[i] = r * 100 + i;
        start[0] = r < 0 ? 0 : r;
        count[0] = mine;
        count[1] = mine ? N : 0;
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vara_int_all(ncid, r < 0 ? fixed : record, start + (r < 0),
                                        count + (r < 0), values));
    }
    return ncid;
}

static void data_is_as_written(int ncid)
{
    int values[RECS * N];
    MPI_Offset start[2] = {0, 0}, count[2] = {RECS, N};
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, fixed, values));
    for (int i = 0; i < N; i++)
        CHECK_EQ(-100 + i, values[i]);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, record, start, count, values));
    for (int i = 0; i < RECS * N; i++)
        CHECK_EQ(i / N * 100 + i % N, values[i]);
}

static void the_fixed_section_comes_first(void)
{
    int ncid = with_data();
    MPI_Offset of_fixed, of_record;
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, fixed, &of_fixed));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &of_record));
    CHECK(of_fixed < of_record);
    data_is_as_written(ncid);
    close_dataset(ncid);
}

static void a_new_record_variable_spreads_the_records(void)
{
    int ncid = with_data(), more, values[RECS * N];
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    more = new_var(ncid, "more", NC_SHORT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    data_is_as_written(ncid);
    CHECK_EQ(RECS, dim_length(ncid, dims[0]));
    for (int i = 0; i < RECS * N; i++)
        values[i] = i;
    MPI_Offset start[2] = {0, 0}, count[2] = {check.rank == 0 ? RECS : 0, N};
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, more, start, count, values));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    data_is_as_written(ncid);
    memset(values, 0, sizeof values);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, more, values));
    for (int i = 0; i < RECS * N; i++)
        CHECK_EQ(i, values[i]);
    close_dataset(ncid);
}

static void a_new_fixed_variable_moves_the_records(void)
{
    int ncid = with_data(), more, values[N];
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    more = new_var(ncid, "more", NC_INT, 1, dims + 1);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    data_is_as_written(ncid);
    for (int i = 0; i < N; i++)
        values[i] = 7 * i;
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, more, values));
    data_is_as_written(ncid);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    data_is_as_written(ncid);
    close_dataset(ncid);
}

/* Attributes until the header outgrows its room: everything moves. */
static void a_header_that_grows_moves_everything(void)
{
    int ncid = with_data();
    MPI_Offset before, after, start, last = 0;
    char name[16], text[700];
    memset(text, 'x', sizeof text);
    CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, &before));
    for (int i = 0; i < 8; i++) {
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        snprintf(name, sizeof name, "a%d", i);
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, name, sizeof text, text));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        data_is_as_written(ncid);
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, fixed, &start));
        CHECK(start >= last);
        last = start;
    }
    CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, &after));
    CHECK(after > before);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    data_is_as_written(ncid);
    close_dataset(ncid);
}

static void all_at_once(void)
{
    int ncid = with_data();
    char text[3000];
    memset(text, 'x', sizeof text);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    new_var(ncid, "r2", NC_DOUBLE, 2, dims);
    new_var(ncid, "f2", NC_DOUBLE, 1, dims + 1);
    new_var(ncid, "r3", NC_BYTE, 1, dims);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, fixed, "note", sizeof text, text));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    data_is_as_written(ncid);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    data_is_as_written(ncid);
    close_dataset(ncid);
}

static void room_asked_for_is_used_before_data_moves(void)
{
    int ncid = new_dataset("a.nc"), dim = new_dim(ncid, "x", N);
    MPI_Offset before, after, put[2];
    char text[2000];
    memset(text, 'x', sizeof text);
    fixed = new_var(ncid, "fixed", NC_INT, 1, &dim);
    CHECK_NC(NC_NOERR, ncmpi__enddef(ncid, 4000, 4, 0, 4));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, fixed, &before));
    CHECK(before >= 4000);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "note", sizeof text, text));
    CHECK_NC(NC_NOERR, ncmpi_inq_put_size(ncid, &put[0]));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_put_size(ncid, &put[1]));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, fixed, &after));
    CHECK_EQ(before, after);
    /* what is new in the header was written, by process 0, and nothing else */
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &after));
    CHECK(put[1] - put[0] >= (check.rank == 0 ? (MPI_Offset)sizeof text : 0));
    CHECK(put[1] - put[0] <= (check.rank == 0 ? after : 0));
    close_dataset(ncid);
}

static void alignment_asked_for_is_given_once(void)
{
    int ncid = new_dataset("a.nc"), dim = new_dim(ncid, "x", N), more;
    int unlimited = new_dim(ncid, "t", NC_UNLIMITED);
    MPI_Offset start[2], again;
    fixed = new_var(ncid, "fixed", NC_INT, 1, &dim);
    record = new_var(ncid, "record", NC_INT, 1, &unlimited);
    CHECK_NC(NC_NOERR, ncmpi__enddef(ncid, 0, 8192, 100, 16384));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, fixed, &start[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &start[1]));
    CHECK(start[0] > 0 && start[0] % 8192 == 0);
    CHECK(start[1] % 16384 == 0 && start[1] >= start[0] + 4 * N + 100);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, fixed, &again));
    CHECK_EQ(start[0], again);
    /* the room behind the fixed section takes a new variable, and records stay */
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    more = new_var(ncid, "more", NC_INT, 1, &dim);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, more, &again));
    CHECK_EQ(start[0] + 4 * N, again);
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &again));
    CHECK_EQ(start[1], again);
    /* what outgrows its room moves no farther than it must */
    char text[9000];
    memset(text, 'x', sizeof text);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "long", sizeof text, text));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, fixed, &again));
    CHECK(again > (MPI_Offset)sizeof text && again < 2 * 8192);
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &again));
    CHECK(again >= start[1] && again < 2 * 16384);
    close_dataset(ncid);
}

/* A small dataset in data mode, of records alone or with a fixed-size variable: where the
 * data begins, where the records, and the header's size. */
static int small(bool with_fixed, MPI_Offset place[3])
{
    int ncid = new_dataset("a.nc"), dim = new_dim(ncid, "x", N);
    int unlimited = new_dim(ncid, "t", NC_UNLIMITED);
    if (with_fixed) fixed = new_var(ncid, "fixed", NC_INT, 1, &dim);
    record = new_var(ncid, "record", NC_INT, 1, &unlimited);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, &place[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &place[1]));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &place[2]));
    return ncid;
}

/* Asked for in a later define phase, in which nothing else would move. */
static void room_is_made_where_all_would_fit(void)
{
    static const struct {
        MPI_Offset h_minfree, v_align, v_minfree, r_align;
    } rows[] = {{5000, 4, 0, 4}, {0, 4096, 0, 4}, {0, 4, 3000, 4},
                {0, 4, 0, 8192}, {5000, 0, 0, 0}, {76, 2048, 44, 65536}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        bool with_fixed = i % 2 == 0;
        MPI_Offset old[3], extent, start[2], size = with_fixed ? 4 * N : 0;
        MPI_Offset h_minfree = rows[i / 2].h_minfree, v_align = rows[i / 2].v_align;
        MPI_Offset v_minfree = rows[i / 2].v_minfree, r_align = rows[i / 2].r_align;
        int ncid = small(with_fixed, old), values[N], back[N], third = 3, got = -1;
        MPI_Offset at = 2;
        for (int k = 0; k < N; k++)
            values[k] = 7 * k;
        if (with_fixed) CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, fixed, values));
        CHECK_NC(NC_NOERR, ncmpi_put_var1_int_all(ncid, record, &at, &third));
        for (int again = 0; again < 2; again++) { /* what is there is not made twice */
            CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
            CHECK_NC(NC_NOERR,
                     ncmpi__enddef(ncid, h_minfree, v_align, v_minfree, r_align));
            CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, &extent));
            CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &start[again]));
            CHECK(extent >= old[0] && extent >= old[2] + h_minfree);
            if (with_fixed && v_align > 0) CHECK_EQ(0, extent % v_align);
            CHECK(start[again] >= old[2] + h_minfree + size + v_minfree);
            if (with_fixed) CHECK(start[again] >= extent + size + v_minfree);
            if (r_align > 0) CHECK_EQ(0, start[again] % r_align);
        }
        CHECK_EQ(start[0], start[1]);
        if (with_fixed) {
            CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, fixed, back));
            CHECK_BYTES(values, back, sizeof values);
        }
        CHECK_NC(NC_NOERR, ncmpi_get_var1_int_all(ncid, record, &at, &got));
        CHECK_EQ(third, got);
        close_dataset(ncid);
    }
}

static int open_with(const char *hint)
{
    int ncid = -1;
    MPI_Info info;
    CHECK_EQ(MPI_SUCCESS, MPI_Info_create(&info));
    if (hint != NULL) MPI_Info_set(info, hint, "2048");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* Where data begin, where records, after ncmpi__enddef. */
static void give_room(int ncid, const MPI_Offset room[4], MPI_Offset place[2])
{
    CHECK_NC(NC_NOERR, ncmpi__enddef(ncid, room[0], room[1], room[2], room[3]));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, &place[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &place[1]));
}

static int dense(bool with_fixed, const char *hint, const MPI_Offset room[4],
                 MPI_Offset place[2])
{
    int ncid = -1;
    MPI_Info info;
    CHECK_EQ(MPI_SUCCESS, MPI_Info_create(&info));
    if (hint != NULL) MPI_Info_set(info, hint, "2048");
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    int x = new_dim(ncid, "x", N), t = new_dim(ncid, "t", NC_UNLIMITED);
    if (with_fixed) fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
    record = new_var(ncid, "record", NC_INT, 1, &t);
    give_room(ncid, room, place);
    return ncid;
}

/* 0 is the default, in a new file and after a redef: sections of a dense file go to where
 * a new one would have them, by a hint, too, and stay there. ncmpi_enddef moves nothing.
 */
static void a_zero_is_the_default(void)
{
    static const MPI_Offset tight[4] = {0, 4, 0, 4};
    static const MPI_Offset rooms[][4] = {
        {0, 0, 0, 0}, {0, 0, 31, 4}, {0, 0, 0, 1024}, {100, 0, 0, 0},  {600, 0, 0, 0},
        {0, 4, 0, 0}, {0, 4, 40, 0}, {0, 1024, 0, 0}, {600, 8, 40, 64}};
    static const char *const hints[] = {NULL, "nc_var_align_size",
                                        "nc_record_align_size"};
    enum { ROOMS = sizeof rooms / sizeof rooms[0] };
    for (int i = 0; i < 2 * ROOMS; i++) {
        bool with_fixed = i % 2 == 1;
        const MPI_Offset *room = rooms[i / 2];
        for (int h = 0; h < 3; h++) {
            MPI_Offset old[2], now[2], want[2];
            close_dataset(dense(with_fixed, hints[h], room, want));
            close_dataset(dense(with_fixed, NULL, tight, old));
            int ncid = open_with(hints[h]);
            CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
            CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
            CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &now[1]));
            CHECK_EQ(old[1], now[1]);
            /* other alignments than the hint's are for the hint to decide */
            bool fixed_told = h != 1 || room[1] == 0,
                 record_told = h != 2 || room[3] == 0;
            for (int again = 0; again < 2; again++) {
                CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
                give_room(ncid, room, now);
                if (fixed_told && (with_fixed || record_told)) CHECK_EQ(want[0], now[0]);
                if (fixed_told && record_told) CHECK_EQ(want[1], now[1]);
            }
            close_dataset(ncid);
        }
    }
}

/* With and without a fixed-size variable: a sixteenth is free behind any header. */
static void a_header_has_room_to_grow(void)
{
    for (int with_fixed = 0; with_fixed < 2; with_fixed++) {
        for (int more = 0; more < 600; more += 4) {
            int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N);
            int t = new_dim(ncid, "t", NC_UNLIMITED);
            MPI_Offset size, extent;
            char text[600] = "";
            new_var(ncid, "v", NC_INT, 1, with_fixed ? &x : &t);
            CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", more, text));
            CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
            CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &size));
            CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, &extent));
            CHECK(extent >= size + size / 16);
            CHECK_EQ(0, extent % 512);
            close_dataset(ncid);
        }
    }
}

/* Whoever says where records begin gets them there: at the next such place, not at one
 * behind room that nobody asked for. */
static void records_go_no_further_than_asked(void)
{
    for (int i = 0; i < 4; i++) {
        bool by_hint = i / 2 == 1, with_fixed = i % 2 == 1;
        for (MPI_Offset align = 4; align < 3000; align = align * 5 - 4) {
            MPI_Offset size, start, end;
            char text[16];
            MPI_Info info;
            int ncid = -1;
            snprintf(text, sizeof text, "%lld", (long long)align);
            CHECK_EQ(MPI_SUCCESS, MPI_Info_create(&info));
            if (by_hint) MPI_Info_set(info, "nc_record_align_size", text);
            CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                            NC_CLOBBER | check.cmode, info, &ncid));
            MPI_Info_free(&info);
            int x = new_dim(ncid, "x", N), t = new_dim(ncid, "t", NC_UNLIMITED);
            if (with_fixed) fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
            record = new_var(ncid, "record", NC_INT, 1, &t);
            CHECK_NC(NC_NOERR,
                     by_hint ? ncmpi_enddef(ncid) : ncmpi__enddef(ncid, 0, 0, 0, align));
            CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &size));
            CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &start));
            end = size;
            if (with_fixed) {
                CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, fixed, &end));
                CHECK_EQ(512, end);
                end += 4 * N;
            }
            MPI_Offset unit = (align + 3) / 4 * 4;
            CHECK_EQ((end + unit - 1) / unit * unit, start);
            close_dataset(ncid);
        }
    }
}

static void header_size_is_known_in_define_mode(void)
{
    int ncid = with_data();
    MPI_Offset data, define, grown, after;
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &data));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &define));
    CHECK_EQ(data, define);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "abcd", 8, "12345678"));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &grown));
    /* name and value with their lengths, and the type */
    CHECK_EQ(check.format == 5 ? 8 + 4 + 4 + 8 + 8 : 4 + 4 + 4 + 4 + 8, grown - define);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &after));
    CHECK_EQ(grown, after);
    close_dataset(ncid);
}

/* Records moved on their way by all processes, with sizes that are no multiple of
 * anything. */
static void many_records_move_whole(void)
{
    enum { MANY = 700, ODD = 37 };
    int ncid = new_dataset("a.nc"), d[2], *values = malloc(sizeof(int) * MANY * ODD);
    d[0] = new_dim(ncid, "t", NC_UNLIMITED);
    d[1] = new_dim(ncid, "x", ODD);
    int first = new_var(ncid, "first", NC_INT, 2, d);
    MPI_Offset start[2] = {0, 0}, count[2] = {MANY, ODD};
    for (int i = 0; i < MANY * ODD; i++)
        values[i] = i * 3;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (check.rank > 0) count[0] = 0;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, first, start, count, values));
    for (int i = 0; i < 3; i++) {
        char name[16];
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        snprintf(name, sizeof name, "new%d", i);
        new_var(ncid, name, NC_BYTE, 2, d);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    }
    memset(values, 0, sizeof(int) * MANY * ODD);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, first, values));
    int wrong = 0;
    for (int i = 0; i < MANY * ODD; i++)
        wrong += values[i] != i * 3;
    CHECK_EQ(0, wrong);
    free(values);
    close_dataset(ncid);
}

/* Memory that is used next has bytes in it that are in no dataset. */
static void dirty_memory(void)
{
    enum { BYTES = 24 << 20 };
    unsigned char *bytes = malloc(BYTES);
    if (!CHECK(bytes != NULL)) return;
    memset(bytes, 0xEE, BYTES);
    CHECK_EQ(0xEE, bytes[check_random(BYTES)]);
    free(bytes);
}

/* Records that are there in part, moved twice: apart, and up. */
static void moved_in_a_way(const char *key, const char *value, const char *name)
{
    int ncid = -1, v[2], ids[2], values[N];
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path(name), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    ids[0] = new_dim(ncid, "t", NC_UNLIMITED);
    ids[1] = new_dim(ncid, "x", 300);
    v[0] = new_var(ncid, "v", NC_INT, 2, ids);
    v[1] = new_var(ncid, "fixed", NC_INT, 1, ids + 1);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < N; i++)
        values[i] = 0x01020304 + check.rank;
    MPI_Offset start[2] = {2 + 3 * check.rank, 100}, count[2] = {1, N};
    dirty_memory();
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v[0], start, count, values));
    for (int round = 0; round < 2; round++) {
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        new_var(ncid, round ? "late" : "more", NC_SHORT, round ? 1 : 2, ids + round);
        if (round)
            CHECK_NC(NC_NOERR,
                     ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_INT, N, values));
        dirty_memory();
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    }
    dirty_memory();
    count[1] = 0;
    start[0]++;
    if (check.rank == 0) count[1] = 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v[0], start, count, values));
    close_dataset(ncid);
}

static void every_way_leaves_the_same_bytes(void)
{
    static const char *const ways[][2] = {
        {"nc_transfer", "node"}, {"nc_transfer", "view"}, {"romio_no_indep_rw", "true"}};
    const char *hints = getenv("PNETCDF_HINTS");
    if (hints != NULL &&
        (strstr(hints, "subfiles") != NULL || strstr(hints, "nc_blob=enable") != NULL)) {
        check_skip("each dataset with subfiles has a token of its own");
        return;
    }
    moved_in_a_way("nc_transfer", "direct", "a.nc");
    for (int i = 0; i < 3; i++) {
        moved_in_a_way(ways[i][0], ways[i][1], "b.nc");
        complete_closes();
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0 && !check_same_files(check_path("a.nc"), check_path("b.nc")))
            fprintf(stderr, "# %s=%s\n", ways[i][0], ways[i][1]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static const struct check_test tests[] = {
    {"the fixed section comes first", the_fixed_section_comes_first, CHECK_FORMATS},
    {"a new record variable spreads the records",
     a_new_record_variable_spreads_the_records, CHECK_FORMATS},
    {"a new fixed variable moves the records", a_new_fixed_variable_moves_the_records,
     CHECK_FORMATS},
    {"a header that grows moves everything", a_header_that_grows_moves_everything,
     CHECK_FORMATS},
    {"all at once", all_at_once, CHECK_FORMATS},
    {"room asked for is used before data moves", room_asked_for_is_used_before_data_moves,
     CHECK_FORMATS},
    {"alignment asked for is given once", alignment_asked_for_is_given_once,
     CHECK_FORMATS},
    {"room is made where all would fit", room_is_made_where_all_would_fit, CHECK_FORMATS},
    {"a zero is the default", a_zero_is_the_default, CHECK_FORMATS},
    {"a header has room to grow", a_header_has_room_to_grow, 0},
    {"records go no further than asked", records_go_no_further_than_asked, CHECK_FORMATS},
    {"header size is known in define mode", header_size_is_known_in_define_mode,
     CHECK_FORMATS},
    {"every way leaves the same bytes", every_way_leaves_the_same_bytes, CHECK_FORMATS},
    {"many records move whole", many_records_move_whole, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
