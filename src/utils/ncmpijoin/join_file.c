/* Joins the dataset into one file, by the functions that a close with the hint
 * nc_blob_join calls (blob_join.c). The dataset is opened for reading. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api_dataset.h"
#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_share.h"
#include "blob.h"
#include "join.h"
#include "pnetcdf.h"
#include "util_blob.h"
#include "util_message.h"

/* Returns 0 if no process has an error. Otherwise prints the message of one process,
 * which several of them may have, and returns -1. */
static int report_all(const struct join *j, int err)
{
    const char *detail = base_error_detail(err);
    bool has = detail[0] != '\0' && strcmp(detail, DATASET_REPORTED_ELSEWHERE) != 0;
    int first = err == NC_NOERR ? 2 * j->nprocs : has ? j->rank : j->nprocs;
    int worst[2] = {first, err};
    MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    first = worst[0];
    if (first == j->rank)
        util_message(JOIN_TOOL, NULL, -1, "%s", detail);
    else if (first == j->nprocs && j->rank == 0)
        util_message(JOIN_TOOL, j->options.from, -1, "%s", base_error_text(worst[1]));
    return first == 2 * j->nprocs ? 0 : -1;
}

/* Allows a descriptor for each subfile. Ignores the hints in the environment, which are
 * meant for other programs. */
static void prepare(const struct join *j)
{
    const rlim_t need = (rlim_t)util_blob_count(&j->in) + 256;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < need) {
        limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    (void)unsetenv("PNETCDF_HINTS");
    (void)unsetenv("PNETCDF_HINTS_FILE");
}

static int open_all(const struct join *j, int *ncid, struct blob **b)
{
    const char *from = j->options.from;
    struct api_dataset *d;
    char path[PATH_MAX + 3];
    prepare(j);
    /* A prefix that ends with a colon belongs to the name here. */
    snprintf(path, sizeof path, "%s%s",
             from[0] == '/' || strchr(from, ':') == NULL ? "" : "./", from);
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, ncid);
    bool is_open = err == NC_NOERR;
    *b = is_open && api_find(*ncid, &d) == NC_NOERR ? blob_of_driver(d->top) : NULL;
    int status = report_all(j, is_open && *b == NULL ? NC_EINTERNAL : err);
    if (status != 0 && is_open) (void)ncmpi_close(*ncid);
    return status;
}

static void show_progress(void *arg, int64_t done, int64_t all)
{
    struct join *j = arg;
    j->progress.total = all;
    util_progress_at(&j->progress, done);
}

/* ---- the check ---- */

static int complain(const char *path, int64_t at, const char *what)
{
    util_message(JOIN_TOOL, path, at, "%s", what);
    return -1;
}

/* The joined file is compared if an option requests it, and also if the dataset may lack
 * values: the library gets zeros for values beyond the end of a file, but
 * util_classic_read detects that a file was truncated. */
static bool must_compare(const struct join *j)
{
    return j->options.check || !util_blob_is_complete(&j->in) ||
           j->in.size < cdf_file_size(&j->in.header);
}

/* Compares n bytes of the joined file, open as fd, with the dataset. `bytes` has space
 * for twice as many. */
static int compare_piece(const struct join *j, int fd, int64_t at, char *bytes, int64_t n)
{
    const struct join_options *o = &j->options;
    int64_t i = 0, got = util_classic_read(&j->in, at, bytes, (size_t)n);
    if (got < 0) return complain(o->from, -1, util_classic_why(&j->in));
    if (got < n)
        return complain(o->from, j->in.base + at + got,
                        "the file ends before the end of its data");
    /* The first page of the dataset may count more records than the header. */
    if (at == 0)
        (void)cdf_encode_numrecs(j->in.header.format, j->in.header.numrecs,
                                 (unsigned char *)bytes + 4);
    if (base_read_at(fd, at, bytes + n, n, o->to) != NC_NOERR)
        return complain(NULL, -1, base_error_detail(NC_EREAD));
    if (memcmp(bytes, bytes + n, (size_t)n) == 0) return 0;
    while (bytes[i] == bytes[n + i])
        i++;
    return complain(o->to, at + i, "the bytes read differ from those of the dataset");
}

/* Compares a share of the joined file. A process compares the next one's share, because
 * it might read its own from its cache. */
static int compare_share(struct join *j, const struct blob *b)
{
    enum { PIECE = 4 << 20 };
    int64_t whole = cdf_file_size(&j->in.header), n;
    int64_t size = j->in.size > whole ? j->in.size : whole;
    int64_t pieces = (size + PIECE - 1) / PIECE, share = (j->rank + 1) % j->nprocs;
    int64_t first = base_share_begin(pieces, j->nprocs, share) * PIECE;
    int64_t end = base_share_begin(pieces, j->nprocs, share + 1) * PIECE;
    char *path = util_blob_joining(&j->in, j->options.to);
    char *bytes = base_malloc(2 * (size_t)PIECE);
    int status = 0, fd = path == NULL ? -1 : base_open(path, O_RDONLY | O_NOFOLLOW);
    if (fd < 0 || bytes == NULL)
        status = complain(j->options.to, -1, strerror(errno));
    else if (!blob_join_is_file(b, fd))
        status = complain(path, -1, "it was replaced by another file");
    if (end > size) end = size;
    for (int64_t at = first; at < end && status == 0; at += n) {
        n = end - at < PIECE ? end - at : PIECE;
        status = compare_piece(j, fd, at, bytes, n);
        if (j->rank == 0) show_progress(j, at + n - first, end - first);
    }
    if (fd >= 0) (void)close(fd);
    base_free(bytes);
    base_free(path);
    return status;
}

/* ---- the file ---- */

static int check_target(const struct join *j)
{
    const char *why = util_blob_refuses(&j->in, j->options.to, j->options.force);
    if (why == NULL) return 0;
    util_message(JOIN_TOOL, j->options.to, -1, "%s", why);
    return -1;
}

/* Renames the file, unless it is not good, the dataset has changed, or OUT may not be
 * replaced: it may have been created in the meantime. */
static int finish(const struct join *j, struct blob *b, bool good)
{
    bool may = good && join_is_held(j) == 0 && check_target(j) == 0;
    int err = blob_join_finish(b, may ? NC_NOERR : NC_EFILE);
    if (may && err != NC_NOERR) return complain(NULL, -1, base_error_detail(err));
    return may ? 0 : -1;
}

static int fill_file_all(struct join *j, struct blob *b)
{
    util_progress_start(&j->progress, JOIN_TOOL, 1);
    int err = blob_join_end_all(b, NC_NOERR), status = report_all(j, err);
    if (status == 0) {
        int differs = join_agree_all(must_compare(j) ? compare_share(j, b) : 0);
        status = join_agree_all(j->rank == 0 ? finish(j, b, differs == 0) : 0);
    }
    util_progress_end(&j->progress);
    return status;
}

int join_file_all(struct join *j)
{
    const struct blob_join_options options = {.to = j->options.to,
                                              .lease = j->lease,
                                              .report =
                                                  j->rank == 0 ? show_progress : NULL,
                                              .arg = j};
    struct blob *b;
    int ncid, status = join_agree_all(j->rank == 0 ? check_target(j) : 0);
    if (status != 0 || open_all(j, &ncid, &b) != 0) return -1;
    status = report_all(j, blob_join_begin_all(b, &options));
    if (status == 0) status = fill_file_all(j, b);
    blob_join_free(b);
    (void)ncmpi_close(ncid);
    return status;
}
