/* cdfdiff compares two netCDF files. This file supplies the serial read functions; the
 * code that compares is shared with ncmpidiff (diff.h). The tool does not use MPI. */
#include "conv.h"
#include "diff.h"
#include "util_classic.h"
#include "util_options.h"
#include "util_read.h"

#define TOOL "cdfdiff"

struct sides {
    struct util_classic file[2];
    struct util_reader reader[2];
    char external[DIFF_PIECE];
    bool reading;
};

static void leave(struct sides *s)
{
    for (int i = 0; i < 2 && s->reading; i++)
        util_reader_free(&s->reader[i]);
    s->reading = false;
}

static int enter_pair(struct diff *d, const struct diff_pair *pair)
{
    struct sides *s = d->self;
    int status = 0;
    leave(s);
    s->reading = true;
    for (int i = 0; i < 2; i++) {
        const struct cdf_var *v = &s->file[i].header.vars[pair->varid[i]];
        if (util_reader_init(&s->reader[i], &s->file[i], v) != 0) status = -1;
    }
    return status;
}

/* Reads one piece. The caller requests the pieces in ascending order, so reads are
 * sequential. */
static int read_piece(struct diff *d, int side, int varid, const struct util_piece *p,
                      void *values)
{
    struct sides *s = d->self;
    const int type = s->file[side].header.vars[varid].type;
    char *to = values;
    for (int64_t done = 0; done < p->n;) {
        int64_t n = util_read(&s->reader[side], s->external, p->n - done);
        if (n <= 0) return -1;
        conv_get(to, (enum conv_type)conv_type_of(type), s->external, type, (size_t)n);
        to += n * cdf_type_size(type);
        done += n;
    }
    return 0;
}

static int compare(struct diff_options *o)
{
    static struct sides s;
    struct diff d = {.tool = TOOL, .options = *o, .nprocs = 1, .self = &s};
    d.read = read_piece;
    d.enter = enter_pair;
    if (util_open(&s.file[0], TOOL, o->path[0]) != 0) return DIFF_TROUBLE;
    int status = DIFF_TROUBLE;
    if (util_open(&s.file[1], TOOL, o->path[1]) == 0) {
        d.header[0] = &s.file[0].header;
        d.header[1] = &s.file[1].header;
        status = diff_run(&d, NULL);
        leave(&s);
        util_classic_close(&s.file[1]);
    }
    util_classic_close(&s.file[0]);
    return status;
}

int main(int argc, char **argv)
{
    static struct diff_options options;
    int status = diff_parse(&options, TOOL, argc, argv);
    if (status == UTIL_ANSWERED) return DIFF_SAME;
    return status != 0 ? DIFF_TROUBLE : compare(&options);
}
