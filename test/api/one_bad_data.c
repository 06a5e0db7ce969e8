/* The data functions. Each is called with one invalid argument after another. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "one_bad.h"

/* Valid arguments for calls with one variable or with two variables of the same shape. */
struct bag {
    struct calls_args c;
    int varids[2], req;
    MPI_Offset start[1], count[1], stride[1], imap[1], bufcounts[2];
    MPI_Offset *starts[2], *counts[2], *strides[2], *imaps[2];
    void *bufs[2];
    MPI_Datatype types[2];
    double values[N * MOST], more[N * MOST]; /* large enough for any type */
};

static bool several(const struct calls_row *row)
{
    return row->mode == CALLS_mput || row->mode == CALLS_mget;
}

static bool is_put(const struct calls_row *row)
{
    return row->mode == CALLS_put || row->mode == CALLS_mput;
}

static bool is_text(const struct calls_row *row)
{
    return row->type == &calls_types[0];
}

static MPI_Datatype memory_type(const struct calls_row *row)
{
    return row->type == NULL ? MPI_INT : row->type->mpi();
}

static void set(const struct calls_row *row, void *buf, int i, int value)
{
    if (row->type == NULL)
        ((int *)buf)[i] = value;
    else
        row->type->set(buf, (size_t)i, value);
}

static int get(const struct calls_row *row, const void *buf, int i)
{
    return row->type == NULL ? ((const int *)buf)[i] : row->type->get(buf, (size_t)i);
}

int one_bad_value(int round, MPI_Offset place)
{
    return 1 + (int)((round * 31 + place * 7) % 100);
}

void data_extent(const struct calls_row *row, int rank, MPI_Offset *start,
                 MPI_Offset *count)
{
    *start = row->kind == CALLS_var ? 0 : (MPI_Offset)N * rank;
    *count = row->kind == CALLS_var    ? (MPI_Offset)N * check.nprocs
             : row->kind == CALLS_var1 ? 1
                                       : N;
}

static void fill_bag(struct bag *b, const struct calls_row *row, int round)
{
    memset(b, 0, sizeof *b);
    data_extent(row, check.rank, &b->start[0], &b->count[0]);
    b->stride[0] = b->imap[0] = 1;
    for (int i = 0; i < 2; i++) {
        b->varids[i] = is_text(row) ? TEXT + i : FIXED + i * (WIDE - FIXED);
        b->starts[i] = b->start;
        b->counts[i] = b->count;
        b->strides[i] = b->stride;
        b->imaps[i] = b->imap;
        b->bufcounts[i] = b->count[0];
        b->types[i] = memory_type(row);
    }
    b->bufs[0] = b->values;
    b->bufs[1] = b->more;
    for (int i = 0; is_put(row) && i < b->count[0]; i++) {
        set(row, b->values, i, one_bad_value(round, b->start[0] + i));
        set(row, b->more, i, one_bad_value(round, b->start[0] + i));
    }
    b->c = (struct calls_args){.ncid = scene.ncid,
                               .varid = b->varids[0],
                               .start = b->start,
                               .count = b->count,
                               .stride = b->stride,
                               .imap = b->imap,
                               .num = several(row) ? 2 : 1,
                               .varids = b->varids,
                               .starts = b->starts,
                               .counts = b->counts,
                               .strides = b->strides,
                               .imaps = b->imaps,
                               .buf = b->values,
                               .bufs = b->bufs,
                               .bufcount = b->count[0],
                               .bufcounts = b->bufcounts,
                               .buftype = b->types[0],
                               .buftypes = b->types,
                               .req = &b->req};
}

/* ---- mistakes ---- */

/* The argument that a function must have for a mistake to apply to it. */
enum {
    ONE_OF = 1,     /* a single variable id */
    SEVERAL_OF = 2, /* a list of variable ids */
    START_OF = 4,
    COUNT_OF = 8,
    STRIDE_OF = 16,
    IMAP_OF = 32,
    LIST_OF = 64, /* list of starts and counts: varn or several variables */
    FLEXIBLE_OF = 128
};

static unsigned has(const struct calls_row *row)
{
    static const unsigned by_kind[] = {
        [CALLS_var] = 0,
        [CALLS_var1] = START_OF,
        [CALLS_vara] = START_OF | COUNT_OF,
        [CALLS_vars] = START_OF | COUNT_OF | STRIDE_OF,
        [CALLS_varm] = START_OF | COUNT_OF | STRIDE_OF | IMAP_OF,
        [CALLS_varn] = START_OF | COUNT_OF | LIST_OF,
    };
    return by_kind[row->kind] | (several(row) ? SEVERAL_OF | LIST_OF : ONE_OF) |
           (row->type == NULL ? FLEXIBLE_OF : 0);
}

static void other_kind(struct bag *b)
{
    b->c.varid = b->varids[1] =
        b->varids[0] < TEXT || b->varids[0] > OTHER_TEXT ? TEXT : FIXED;
}

#define MISTAKE(name, statement)                                                         \
    static void name(struct bag *b)                                                      \
    {                                                                                    \
        statement;                                                                       \
    }
MISTAKE(no_variable, b->c.varid = b->varids[1] = 99)
MISTAKE(global_id, b->c.varid = b->varids[0] = -1)
MISTAKE(negative_id, b->c.varid = b->varids[1] = -77)
MISTAKE(least_id, b->c.varid = b->varids[0] = INT_MIN)
MISTAKE(greatest_id, b->c.varid = b->varids[1] = INT_MAX)
MISTAKE(no_start, b->c.start = b->starts[0] = NULL)
MISTAKE(no_second_start, b->starts[1] = NULL)
MISTAKE(no_starts, b->c.starts = NULL)
MISTAKE(start_below, b->start[0] = -1)
MISTAKE(start_behind, b->start[0] = (MPI_Offset)N * check.nprocs)
MISTAKE(start_greatest, b->start[0] = INT64_MAX)
MISTAKE(start_least, b->start[0] = INT64_MIN)
MISTAKE(no_count, b->c.count = b->counts[0] = NULL)
MISTAKE(no_second_count, b->counts[1] = NULL)
MISTAKE(no_counts, b->c.counts = NULL)
MISTAKE(count_below, b->count[0] = -1)
MISTAKE(count_long, b->count[0] = (MPI_Offset)N * check.nprocs + 1)
MISTAKE(count_greatest, b->count[0] = INT64_MAX)
MISTAKE(count_least, b->count[0] = INT64_MIN)
MISTAKE(count_of_none, b->count[0] = 0)
MISTAKE(no_stride, b->c.stride = b->strides[1] = NULL)
MISTAKE(no_strides, b->c.strides = NULL)
MISTAKE(stride_of_none, b->stride[0] = 0)
MISTAKE(stride_back, b->stride[0] = -2)
MISTAKE(stride_greatest, b->stride[0] = INT64_MAX)
MISTAKE(stride_least, b->stride[0] = INT64_MIN)
MISTAKE(no_imap, b->c.imap = b->imaps[1] = NULL)
MISTAKE(no_imaps, b->c.imaps = NULL)
MISTAKE(num_below, b->c.num = -1)
MISTAKE(num_least, b->c.num = INT_MIN)
MISTAKE(num_of_none, b->c.num = 0)
MISTAKE(no_varids, b->c.varids = NULL)
MISTAKE(no_buffer, b->c.buf = b->bufs[1] = NULL)
MISTAKE(no_buffers, b->c.bufs = NULL)
MISTAKE(bufcount_below, b->c.bufcount = b->bufcounts[0] = -7)
MISTAKE(bufcount_more, b->c.bufcount = ++b->bufcounts[1])
MISTAKE(bufcount_greatest, b->c.bufcount = b->bufcounts[1] = INT64_MAX)
MISTAKE(bufcount_of_none, b->c.bufcount = b->bufcounts[1] = 0)
MISTAKE(no_bufcounts, b->c.bufcounts = NULL)
MISTAKE(no_type, b->c.buftype = b->types[1] = MPI_DATATYPE_NULL)
MISTAKE(foreign_type, b->c.buftype = b->types[0] = MPI_LONG_DOUBLE)
MISTAKE(pair_type, b->c.buftype = b->types[1] = MPI_DOUBLE_INT)
MISTAKE(text_type, b->c.buftype = b->types[1] = MPI_CHAR)
MISTAKE(wide_type, b->c.buftype = b->types[0] = MPI_2INT)
MISTAKE(no_types, b->c.buftypes = NULL)

static const struct {
    const char *name;
    void (*make)(struct bag *b);
    unsigned needs;
} mistakes[DATA_MISTAKES] = {
    {"no such variable", no_variable, 0},
    {"the global id", global_id, 0},
    {"a negative id", negative_id, 0},
    {"the least id", least_id, 0},
    {"the greatest id", greatest_id, 0},
    {"text for numbers, numbers for text", other_kind, 0},
    {"no start", no_start, START_OF},
    {"no second start", no_second_start, START_OF | SEVERAL_OF},
    {"no starts", no_starts, START_OF | LIST_OF},
    {"start -1", start_below, START_OF},
    {"start behind the end", start_behind, START_OF},
    {"the greatest start", start_greatest, START_OF},
    {"the least start", start_least, START_OF},
    {"no count", no_count, COUNT_OF},
    {"no second count", no_second_count, COUNT_OF | SEVERAL_OF},
    {"no counts", no_counts, COUNT_OF | LIST_OF},
    {"count -1", count_below, COUNT_OF},
    {"count too long", count_long, COUNT_OF},
    {"the greatest count", count_greatest, COUNT_OF},
    {"the least count", count_least, COUNT_OF},
    {"count 0", count_of_none, COUNT_OF},
    {"no stride", no_stride, STRIDE_OF},
    {"no strides", no_strides, STRIDE_OF | LIST_OF},
    {"stride 0", stride_of_none, STRIDE_OF},
    {"stride -2", stride_back, STRIDE_OF},
    {"the greatest stride", stride_greatest, STRIDE_OF},
    {"the least stride", stride_least, STRIDE_OF},
    {"no imap", no_imap, IMAP_OF},
    {"no imaps", no_imaps, IMAP_OF | LIST_OF},
    {"num -1", num_below, LIST_OF},
    {"the least num", num_least, LIST_OF},
    {"num 0", num_of_none, LIST_OF},
    {"no varids", no_varids, SEVERAL_OF},
    {"no buffer", no_buffer, 0},
    {"no buffers", no_buffers, SEVERAL_OF},
    {"bufcount -7", bufcount_below, FLEXIBLE_OF},
    {"one bufcount more", bufcount_more, FLEXIBLE_OF},
    {"the greatest bufcount", bufcount_greatest, FLEXIBLE_OF},
    {"bufcount 0", bufcount_of_none, FLEXIBLE_OF},
    {"no bufcounts", no_bufcounts, FLEXIBLE_OF | SEVERAL_OF},
    {"no type", no_type, FLEXIBLE_OF},
    {"a type of none of ours", foreign_type, FLEXIBLE_OF},
    {"a type of two", pair_type, FLEXIBLE_OF},
    {"text in memory", text_type, FLEXIBLE_OF},
    {"a type of two integers", wide_type, FLEXIBLE_OF},
    {"no types", no_types, FLEXIBLE_OF | SEVERAL_OF},
};

const char *data_mistake_name(int mistake)
{
    return mistake == 0 ? "good" : mistakes[mistake - 1].name;
}

bool data_mistake_fits(const struct calls_row *row, int mistake)
{
    unsigned needs = mistakes[mistake - 1].needs;
    return (has(row) & needs) == needs;
}

int data_call(const struct calls_row *row, int mistake, int round, int *back)
{
    static struct bag b;
    fill_bag(&b, row, round);
    int count = (int)b.count[0];
    if (mistake > 0) mistakes[mistake - 1].make(&b);
    int rc = row->run(&b.c);
    for (int i = 0; i < count && rc == NC_NOERR && !is_put(row); i++)
        back[i] = get(row, b.values, i);
    return rc;
}
