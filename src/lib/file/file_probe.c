/* Tests whether a mount does what file_coherence relies on: after one node has written
 * and synced, another node that revalidates its cache reads the new bytes and sees the
 * new size. On some mounts that size never becomes visible: a node with a write-back
 * cache uses its own size, and GlusterFS with shards the size that its client first
 * received. The file system type does not reveal this, so the test uses a temporary file
 * next to the dataset:
 * 1. Process 0 writes a page, and syncs.
 * 2. A process on another node reads it, changes one byte, and syncs. Now both nodes have
 *    cached the page and a size.
 * 3. Process 0 changes another byte of the page, extends the file, and syncs.
 * 4. Both check that they see all of these changes. A node that does not see the new size
 *    sets it and checks again.
 *
 * Each process caches the result for each mount, but process 0's result counts. */
#include "file_probe.h"

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

/* ---- cached result ---- */

static struct {
    pthread_mutex_t lock;
    int64_t device;
    enum file_probe known;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum file_probe file_probe_known(const struct dataset *ds)
{
    (void)pthread_mutex_lock(&last.lock);
    enum file_probe known =
        last.device == ds->identity.device ? last.known : FILE_UNTRIED;
    (void)pthread_mutex_unlock(&last.lock);
    return known;
}

/* Each process has its own cache, because device numbers differ between hosts. */
static void remember(const struct dataset *ds, enum file_probe result)
{
    struct stat st;
    if (stat(ds->full_path, &st) != 0) return;
    (void)pthread_mutex_lock(&last.lock);
    last.device = (int64_t)st.st_dev;
    last.known = result;
    (void)pthread_mutex_unlock(&last.lock);
}

/* ---- the test ---- */

enum { PAGE = 4096, SECOND_AT = 10, FIRST_AT = 20, MORE = 100 };

/* State of one of the two processes that run the test. */
struct probe_state {
    char path[PATH_MAX];
    int fd;
    bool done;           /* all steps so far succeeded */
    bool size_was_stale; /* the size was visible only after this process set it */
};

static void write_probe(struct probe_state *t, int64_t at, char value, int64_t n)
{
    char bytes[PAGE];
    memset(bytes, value, sizeof bytes);
    t->done = t->done && t->fd >= 0 &&
              base_write_at(t->fd, at, bytes, n, t->path) == NC_NOERR &&
              base_sync_data(t->fd, t->path) == NC_NOERR;
}

/* Reads n bytes and checks that the file size is exactly n. */
static bool read_probe(struct probe_state *t, char *bytes, int64_t n)
{
    struct stat st;
    bool whole = base_fs_refresh(t->fd);
    t->size_was_stale |= fstat(t->fd, &st) == 0 && st.st_size < n;
    return base_fs_set_known_size(t->fd, n) && whole &&
           base_read_some(t->fd, 0, bytes, n) == n && fstat(t->fd, &st) == 0 &&
           st.st_size == n;
}

static void begin_first(struct probe_state *t)
{
    t->fd = base_open(t->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    write_probe(t, 0, 'a', PAGE);
}

/* Returns whether this may be the file that the first process created: it is empty, or
 * contains only bytes of the page that the first process writes. Otherwise another
 * program has created a file with the same name. */
static bool is_file_of_first(int fd)
{
    char page[PAGE];
    struct stat st;
    if (fstat(fd, &st) != 0 || (st.st_size != 0 && st.st_size != PAGE)) return false;
    int64_t n = base_read_some(fd, 0, page, PAGE);
    for (int64_t i = 0; i < n; i++)
        if (page[i] != 'a') return false;
    return n >= 0;
}

/* Opens the file and recognizes it by its bytes, because inode numbers may differ between
 * nodes. Never writes to any other file. */
static void begin_second(struct probe_state *t)
{
    char page[PAGE];
    t->fd = base_open_regular(t->path, O_RDWR | O_NOFOLLOW);
    t->done = t->fd >= 0 && is_file_of_first(t->fd) && read_probe(t, page, PAGE) &&
              is_file_of_first(t->fd);
    write_probe(t, SECOND_AT, 'b', 1);
}

static void write_first_again(struct probe_state *t)
{
    write_probe(t, FIRST_AT, 'c', 1);
    write_probe(t, PAGE, 'd', MORE);
}

static bool check_both_writes(struct probe_state *t)
{
    char bytes[PAGE + MORE];
    return read_probe(t, bytes, sizeof bytes) && bytes[SECOND_AT] == 'b' &&
           bytes[FIRST_AT] == 'c' && bytes[PAGE + MORE - 1] == 'd';
}

/* Ends a step: a barrier over all processes. */
static int next_all(struct dataset *ds)
{
    return dataset_agree_all(ds, NC_NOERR, NULL, NULL, 0);
}

static void end_probe(struct probe_state *t, bool first)
{
    if (t->fd < 0) return;
    (void)close(t->fd);
    if (first) (void)unlink(t->path);
}

/* Runs the steps. *result remains FILE_UNTRIED if any step could not be performed. */
static int make_probe_all(struct dataset *ds, struct probe_state *t, bool second,
                          enum file_probe *result)
{
    bool first = ds->rank == 0, right = true;
    if (first) begin_first(t);
    int err = next_all(ds);
    if (second) begin_second(t);
    int agreed = next_all(ds);
    if (first) write_first_again(t);
    if (err == NC_NOERR) err = agreed;
    agreed = next_all(ds);
    if (err == NC_NOERR) err = agreed;
    if (t->done && (first || second)) right = check_both_writes(t);

    enum { UNDONE, FOUND, NVALUES };
    int64_t all[NVALUES] = {[UNDONE] = !t->done,
                            [FOUND] = !right              ? FILE_WRONG
                                      : t->size_was_stale ? FILE_OWN_SIZE
                                                          : FILE_RIGHT};
    agreed = dataset_agree_all(ds, NC_NOERR, NULL, all, NVALUES);
    end_probe(t, first);
    if (err == NC_NOERR) err = agreed;
    if (err == NC_NOERR && !all[UNDONE]) *result = (enum file_probe)all[FOUND];
    return err;
}

int file_probe_all(struct dataset *ds, enum file_probe *result)
{
    enum { SECOND, NAME, NVALUES };
    struct probe_state t = {.fd = -1, .done = true};
    int64_t all[NVALUES] = {[SECOND] = INT64_MIN};
    if (base_mpi_host() != ds->identity.host) all[SECOND] = -ds->rank;
    if (ds->rank == 0) all[NAME] = base_now(CLOCK_REALTIME);
    int err = dataset_agree_all(ds, NC_NOERR, NULL, all, NVALUES);
    if (err != NC_NOERR || all[SECOND] == INT64_MIN) return err;

    snprintf(t.path, sizeof t.path, "%s.trial-%llx", ds->full_path,
             (unsigned long long)all[NAME]);
    struct base_error_note note;
    base_error_save(&note);
    err = make_probe_all(ds, &t, ds->rank == -all[SECOND], result);
    base_error_restore(&note); /* a test that could not be run is not an error */
    if (*result != FILE_UNTRIED) remember(ds, *result);
    return err;
}
