/* Does a mount keep what file_late relies on: what one node has written and synced,
 * another one gets once it has asked again, sizes too? Some never do: a write-back cache
 * takes the node's own size for the file's, GlusterFS' shards what its client once heard.
 * No type tells, so it is tried, with a file beside the dataset which is gone afterwards:
 *
 * 1. process 0 writes a page, and syncs;
 * 2. one on another node reads it, writes a byte of it, and syncs: by now both nodes have
 *    the page, and a size;
 * 3. process 0 writes another byte of the page, makes the file longer, and syncs;
 * 4. both look for all of that, if need be once more when they are told the size.
 *
 * Once for each mount, as the first process of those that open a file remembers. */
#include "file_trial.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_fs.h"
#include "base_io.h"
#include "base_mpi.h"
#include "base_number.h"

/* ---- what is remembered ---- */

static struct {
    pthread_mutex_t lock;
    int64_t device;
    enum file_trial known;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum file_trial file_trial_known(const struct dataset *ds)
{
    (void)pthread_mutex_lock(&last.lock);
    enum file_trial known = last.device == ds->device ? last.known : FILE_UNTRIED;
    (void)pthread_mutex_unlock(&last.lock);
    return known;
}

/* Each for itself: a host has numbers of its own for devices. */
static void remember(const struct dataset *ds, enum file_trial result)
{
    struct stat st;
    if (stat(ds->full, &st) != 0) return;
    (void)pthread_mutex_lock(&last.lock);
    last.device = (int64_t)st.st_dev;
    last.known = result;
    (void)pthread_mutex_unlock(&last.lock);
}

/* ---- the trial ---- */

enum { PAGE = 4096, SECOND_AT = 10, FIRST_AT = 20, MORE = 100 };

/* One of the two processes, and its file. */
struct trial {
    char path[PATH_MAX];
    int fd;
    bool done;     /* all that it had to do until now */
    bool short_of; /* the file's size was not seen before it was told */
};

static void write_trial(struct trial *t, int64_t at, char value, int64_t n)
{
    char bytes[PAGE];
    memset(bytes, value, sizeof bytes);
    t->done = t->done && t->fd >= 0 &&
              base_write_at(t->fd, at, bytes, n, t->path) == NC_NOERR &&
              base_sync_data(t->fd, t->path) == NC_NOERR;
}

/* Of so many bytes that the file should have. */
static bool read_trial(struct trial *t, char *bytes, int64_t n)
{
    struct stat st;
    bool whole = base_fs_refresh(t->fd);
    t->short_of |= fstat(t->fd, &st) == 0 && st.st_size < n;
    return base_fs_learn_size(t->fd, n) && whole &&
           base_read_some(t->fd, 0, bytes, n) == n && fstat(t->fd, &st) == 0 &&
           st.st_size == n;
}

static void begin_first(struct trial *t)
{
    t->fd = base_open(t->path, O_RDWR | O_CREAT | O_EXCL);
    write_trial(t, 0, 'a', PAGE);
}

static void begin_second(struct trial *t)
{
    char page[PAGE];
    t->fd = base_open(t->path, O_RDWR);
    t->done = t->fd >= 0 && read_trial(t, page, PAGE);
    write_trial(t, SECOND_AT, 'b', 1);
}

static void go_on_first(struct trial *t)
{
    write_trial(t, FIRST_AT, 'c', 1);
    write_trial(t, PAGE, 'd', MORE);
}

static bool sees_both(struct trial *t)
{
    char bytes[PAGE + MORE];
    return read_trial(t, bytes, sizeof bytes) && bytes[SECOND_AT] == 'b' &&
           bytes[FIRST_AT] == 'c' && bytes[PAGE + MORE - 1] == 'd';
}

/* What stands between two steps. */
static int next_all(struct dataset *ds)
{
    return dataset_agree_all(ds, NC_NOERR, NULL, NULL, 0);
}

static void end_trial(struct trial *t, bool first)
{
    if (t->fd < 0) return;
    (void)close(t->fd);
    if (first) (void)unlink(t->path);
}

/* The steps; *result stays FILE_UNTRIED where they could not all be made. */
static int make_trial_all(struct dataset *ds, struct trial *t, bool second,
                          enum file_trial *result)
{
    bool first = ds->rank == 0, right = true;
    if (first) begin_first(t);
    int err = next_all(ds);
    if (second) begin_second(t);
    int told = next_all(ds);
    if (first) go_on_first(t);
    if (err == NC_NOERR) err = told;
    told = next_all(ds);
    if (err == NC_NOERR) err = told;
    if (t->done && (first || second)) right = sees_both(t);

    enum { UNDONE, FOUND, NVALUES };
    int64_t all[NVALUES] = {[UNDONE] = !t->done,
                            [FOUND] = !right        ? FILE_WRONG
                                      : t->short_of ? FILE_OWN_SIZE
                                                    : FILE_RIGHT};
    told = dataset_agree_all(ds, NC_NOERR, NULL, all, NVALUES);
    end_trial(t, first);
    if (err == NC_NOERR) err = told;
    if (err == NC_NOERR && !all[UNDONE]) *result = (enum file_trial)all[FOUND];
    return err;
}

int file_trial_all(struct dataset *ds, enum file_trial *result)
{
    enum { SECOND, NAME, NVALUES };
    struct trial t = {.fd = -1, .done = true};
    int64_t all[NVALUES] = {[SECOND] = INT64_MIN};
    if (base_mpi_host() != ds->host) all[SECOND] = -ds->rank;
    if (ds->rank == 0) all[NAME] = base_now(CLOCK_REALTIME);
    int err = dataset_agree_all(ds, NC_NOERR, NULL, all, NVALUES);
    if (err != NC_NOERR || all[SECOND] == INT64_MIN) return err;

    snprintf(t.path, sizeof t.path, "%s.trial-%llx", ds->full,
             (unsigned long long)all[NAME]);
    struct base_error_note note;
    base_error_keep(&note);
    err = make_trial_all(ds, &t, ds->rank == -all[SECOND], result);
    base_error_restore(&note); /* what could not be tried is no error */
    if (*result != FILE_UNTRIED) remember(ds, *result);
    return err;
}
