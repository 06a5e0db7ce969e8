/* Tests redefinition of datasets that contain data: which sections move, where they move,
 * and that no values are lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_dataset.h"

enum { N = 13, RECS = 6 };

static int dims[2], fixed, record;

/* Creates fixed(x) and record(t, x) with RECS records, writes all values, and leaves the
 * dataset in data mode. */
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

static void fixed_size_variables_precede_records(void)
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

/* Adds attributes until the header outgrows its space and all data moves. */
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

/* Each process puts a name into a list, and then a new list makes the header outgrow its
 * space. There is no sync in between, so each move must find the names that other
 * processes have just put. The lists move by less than the length of a name. */
static void names_put_between_moves_are_kept(void)
{
    enum { LENGTH = 101, LISTS = 5 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    int ncid = new_dataset("a.nc"), ids[2], list = -1;
    MPI_Offset start[2] = {check.rank, 0}, count[2] = {1, LENGTH}, place, last = 0;
    char name[16], text[LENGTH], back[LENGTH];
    ids[0] = new_dim(ncid, "number", check.nprocs);
    ids[1] = new_dim(ncid, "length", LENGTH);
    for (int i = 0; i < LISTS; i++) {
        if (i > 0) CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        snprintf(name, sizeof name, "list_%d", i);
        list = new_var(ncid, name, NC_CHAR, 2, ids);
        CHECK_NC(NC_NOERR, ncmpi__enddef(ncid, 0, 4, 0, 4));
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, 0, &place));
        CHECK(place > last && (i == 0 || place < last + LENGTH));
        last = place;
        for (int k = 0; k < LENGTH; k++)
            text[k] = letters[(7 * i + 3 * check.rank + k) % 26];
        CHECK_NC(NC_NOERR, ncmpi_put_vara_text_all(ncid, list, start, count, text));
    }
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    start[0] = (check.rank + 1) % check.nprocs;
    for (int i = 0; i < LISTS; i++) {
        for (int k = 0; k < LENGTH; k++)
            text[k] = letters[(7 * i + 3 * (int)start[0] + k) % 26];
        memset(back, 0, sizeof back);
        CHECK_NC(NC_NOERR, ncmpi_get_vara_text_all(ncid, i, start, count, back));
        CHECK_BYTES(text, back, LENGTH);
    }
    close_dataset(ncid);
}

static void all_kinds_of_definitions_change_in_one_redefinition(void)
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

static void reserved_space_is_used_before_data_moves(void)
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
    /* Process 0 must write only the new part of the header, and nothing else may be
     * written. */
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &after));
    CHECK(put[1] - put[0] >= (check.rank == 0 ? (MPI_Offset)sizeof text : 0));
    CHECK(put[1] - put[0] <= (check.rank == 0 ? after : 0));
    close_dataset(ncid);
}

static void alignment_applies_to_one_enddef_only(void)
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
    /* The new variable fits into the free space after the fixed-size section, so the
     * records stay where they are. */
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    more = new_var(ncid, "more", NC_INT, 1, &dim);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, more, &again));
    CHECK_EQ(start[0] + 4 * N, again);
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, record, &again));
    CHECK_EQ(start[1], again);
    /* A section that outgrows its space must not move farther than necessary. */
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

/* Creates a small dataset in data mode, with a record variable and, if `with_fixed` is
 * set, a fixed-size variable. Stores in place[] the offset of the data, the offset of the
 * records, and the size of the header. */
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

/* Requests free space in a later define phase in which no data would move otherwise. */
static void requested_space_is_added_even_if_everything_fits(void)
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
        /* The second enddef must not move anything. */
        for (int again = 0; again < 2; again++) {
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

/* Calls ncmpi__enddef. Stores in place[] the offset of the data and the offset of the
 * records. */
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

/* An argument of 0 means the default, both in a new file and after a redefinition. In a
 * file without padding, ncmpi__enddef must move the sections to the offsets that a new
 * file would have, even if a hint sets the alignment. A second ncmpi__enddef must not
 * move them, and neither may ncmpi_enddef. */
static void an_argument_of_0_means_the_default(void)
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
            /* If the argument and the hint set different alignments, the hint takes
             * precedence. */
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

/* The free space after the header must be at least a sixteenth of the header's size, with
 * or without fixed-size variables. */
static void free_space_remains_after_a_header(void)
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

/* The records must begin at the first offset with the requested alignment, with free
 * space before them only if it was requested. */
static void records_begin_at_the_first_aligned_offset(void)
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
    /* name and value, each with its length, and the type */
    CHECK_EQ(check.format == 5 ? 8 + 4 + 4 + 8 + 8 : 4 + 4 + 4 + 4 + 8, grown - define);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &after));
    CHECK_EQ(grown, after);
    close_dataset(ncid);
}

/* All processes move records together. The size of a record is an odd multiple of 4. */
static void many_records_of_odd_size_are_moved(void)
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

/* Fills memory that the library will later allocate with bytes that do not occur in any
 * dataset. */
static void dirty_memory(void)
{
    enum { BYTES = 24 << 20 };
    unsigned char *bytes = malloc(BYTES);
    if (!CHECK(bytes != NULL)) return;
    memset(bytes, 0xEE, BYTES);
    CHECK_EQ(0xEE, bytes[check_random(BYTES)]);
    free(bytes);
}

/* Writes some records and moves them twice: first apart, by adding a second record
 * variable, and then to higher offsets, by adding a fixed-size variable and an
 * attribute. */
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

static void every_method_of_moving_data_writes_the_same_bytes(void)
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

/* ---- stale bytes after the last record ---- */

enum { STALE_BYTES = 5000, STALE_ROWS = 3, STALE_X = 211 };

/* Writes random bytes after the end of the file, like those left behind by a job that is
 * killed before it updates the number of records. */
static void append_stale_bytes(const char *name)
{
    static unsigned char bytes[STALE_BYTES];
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        FILE *f = fopen(check_path(name), "ab");
        for (int i = 0; i < STALE_BYTES; i++)
            bytes[i] = (unsigned char)(1 + check_random_own(255));
        CHECK(f != NULL && fwrite(bytes, 1, STALE_BYTES, f) == STALE_BYTES);
        CHECK(f != NULL && fclose(f) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_zeros(int ncid, const char *name, MPI_Offset rows)
{
    static int values[STALE_ROWS * STALE_X];
    MPI_Offset start[2] = {0, 0}, count[2] = {rows, STALE_X};
    int v = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, name, &v));
    memset(values, 1, sizeof values);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, values));
    for (int i = 0; i < rows * STALE_X; i++)
        if (!CHECK_EQ(0, values[i])) return;
}

/* Creates a dataset with `nrecords` records, appends stale bytes to the file, and adds a
 * fixed-size or a record variable. The stale bytes must appear neither in the new
 * variable nor in the next record. */
static void redefine_with_stale_bytes(MPI_Offset nrecords, bool adds_record_variable)
{
    static int values[STALE_ROWS * STALE_X], got[STALE_ROWS * STALE_X];
    MPI_Offset start[2] = {0, 0}, count[2] = {nrecords, STALE_X},
               last[2] = {STALE_ROWS - 1, 0}, one[2] = {1, 1};
    int ncid = new_dataset("s.nc"), dimids[3], v;
    for (int i = 0; i < STALE_ROWS * STALE_X; i++)
        values[i] = (int)check_random(INT32_MAX) + 1;
    dimids[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dimids[1] = new_dim(ncid, "x", STALE_X);
    dimids[2] = new_dim(ncid, "y", STALE_ROWS);
    v = new_var(ncid, "v", NC_INT, 2, dimids);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (nrecords > 0)
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    close_dataset(ncid);
    append_stale_bytes("s.nc");
    ncid = open_dataset("s.nc", NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    if (!adds_record_variable) dimids[0] = dimids[2];
    (void)new_var(ncid, "w", NC_INT, 2, dimids);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, last, one, values));
    check_zeros(ncid, "w", STALE_ROWS);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, got));
    CHECK_BYTES(values, got, (size_t)(nrecords * STALE_X) * sizeof *got);
    if (nrecords < STALE_ROWS - 1) {
        MPI_Offset next[2] = {nrecords, 0}, row[2] = {1, STALE_X};
        memset(got, 1, sizeof got);
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, next, row, got));
        for (int i = 0; i < STALE_X; i++)
            if (!CHECK_EQ(0, got[i])) break;
    }
    close_dataset(ncid);
}

static void stale_bytes_are_not_values_of_new_variables(void)
{
    for (MPI_Offset nrecords = 0; nrecords < STALE_ROWS; nrecords++)
        for (int which = 0; which < 2; which++)
            redefine_with_stale_bytes(nrecords, which);
}

static const struct check_test tests[] = {
    {"fixed-size variables precede records", fixed_size_variables_precede_records,
     CHECK_FORMATS},
    {"a new record variable spreads the records",
     a_new_record_variable_spreads_the_records, CHECK_FORMATS},
    {"a new fixed variable moves the records", a_new_fixed_variable_moves_the_records,
     CHECK_FORMATS},
    {"a header that grows moves everything", a_header_that_grows_moves_everything,
     CHECK_FORMATS},
    {"names put between moves are kept", names_put_between_moves_are_kept, CHECK_FORMATS},
    {"all kinds of definitions change in one redefinition",
     all_kinds_of_definitions_change_in_one_redefinition, CHECK_FORMATS},
    {"reserved space is used before data moves", reserved_space_is_used_before_data_moves,
     CHECK_FORMATS},
    {"alignment applies to one enddef only", alignment_applies_to_one_enddef_only,
     CHECK_FORMATS},
    {"requested space is added even if everything fits",
     requested_space_is_added_even_if_everything_fits, CHECK_FORMATS},
    {"an argument of 0 means the default", an_argument_of_0_means_the_default,
     CHECK_FORMATS},
    {"free space remains after a header", free_space_remains_after_a_header, 0},
    {"records begin at the first aligned offset",
     records_begin_at_the_first_aligned_offset, CHECK_FORMATS},
    {"header size is known in define mode", header_size_is_known_in_define_mode,
     CHECK_FORMATS},
    {"every method of moving data writes the same bytes",
     every_method_of_moving_data_writes_the_same_bytes, CHECK_FORMATS},
    {"stale bytes are not values of new variables",
     stale_bytes_are_not_values_of_new_variables, CHECK_FORMATS},
    {"many records of odd size are moved", many_records_of_odd_size_are_moved,
     CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
