/* The bytes of the one file, dealt out to the processes in shares that lie together: a
 * process needs few maps at a time then. */
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_share.h"
#include "join.h"
#include "util_message.h"

/* Where the share of a process begins: at a piece. */
static int64_t share_begin(const struct join *j, int rank)
{
    int64_t pieces = (j->size + JOIN_PIECE - 1) / JOIN_PIECE;
    int64_t at = base_share_begin(pieces, j->nprocs, rank) * JOIN_PIECE;
    return at < j->size ? at : j->size;
}

static int read_dataset(struct join *j, int64_t at, int64_t n)
{
    int64_t got = util_classic_read(&j->in, at, j->bytes, (size_t)n);
    if (got == n) return 0;
    if (got < 0)
        util_message(JOIN_TOOL, j->options.from, -1, "%s", util_classic_why(&j->in));
    else
        util_message(JOIN_TOOL, j->options.from, j->in.base + at + got,
                     "the file ends before its data do");
    return -1;
}

static int complain(int err)
{
    util_message(JOIN_TOOL, NULL, -1, "%s", base_error_detail(err));
    return -1;
}

/* The file has been made as long as it is: where nothing is written there are zeros. */
static int write_piece(struct join *j, int64_t at, int64_t n)
{
    enum { BLOCK = 1 << 16 };
    int err = NC_NOERR;
    for (int64_t done = 0, m; done < n && err == NC_NOERR; done += m) {
        m = n - done < BLOCK ? n - done : BLOCK;
        if (base_is_zero(j->bytes + done, m)) continue;
        int64_t end = done + m;
        while (end < n &&
               !base_is_zero(j->bytes + end, n - end < BLOCK ? n - end : BLOCK))
            end += n - end < BLOCK ? n - end : BLOCK;
        m = end - done;
        err = base_write_at(j->out, at + done, j->bytes + done, m, j->temporary);
    }
    return err == NC_NOERR ? 0 : complain(err);
}

static int compare_piece(struct join *j, int64_t at, int64_t n)
{
    int err = base_read_at(j->out, at, j->others, n, j->temporary);
    if (err != NC_NOERR) return complain(err);
    if (memcmp(j->bytes, j->others, (size_t)n) == 0) return 0;
    int64_t i = 0;
    while (j->bytes[i] == j->others[i])
        i++;
    util_message(JOIN_TOOL, j->options.to, at + i,
                 "what was read is not what had been written");
    return -1;
}

static int each_piece(struct join *j, int share,
                      int step(struct join *, int64_t, int64_t))
{
    int64_t end = share_begin(j, share + 1);
    int status = 0;
    for (int64_t at = share_begin(j, share), n; at < end && status == 0; at += n) {
        n = end - at < JOIN_PIECE ? end - at : JOIN_PIECE;
        status = read_dataset(j, at, n);
        if (status == 0) status = step(j, at, n);
        j->done += n;
        util_progress_at(&j->progress, j->done);
    }
    return status;
}

int join_write(struct join *j)
{
    int64_t own = share_begin(j, j->rank + 1) - share_begin(j, j->rank);
    if (j->rank == 0)
        util_progress_start(&j->progress, JOIN_TOOL, own * (j->options.check ? 2 : 1));
    if (each_piece(j, j->rank, write_piece) != 0) return -1;
    int err = base_sync_data(j->out, j->temporary);
    return err == NC_NOERR ? 0 : complain(err);
}

/* Another's: what this process wrote might come out of its own memory. */
int join_compare(struct join *j)
{
    return each_piece(j, (j->rank + 1) % j->nprocs, compare_piece);
}
