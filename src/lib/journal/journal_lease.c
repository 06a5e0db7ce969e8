/* Decides which process may change a dataset's layout, and how others wait for it.
 *
 * All jobs that have the dataset open for writing share its lock. A process that moves
 * data or finishes a redefinition holds the lock exclusively. A process that finds a mark
 * and cannot get the exclusive lock gives up its shared lock before it waits; otherwise
 * two of them would wait for each other.
 *
 * Where a file system has no locks, or each node has its own, the journal's owner record
 * decides. An owner on another host counts as dead only if it has recorded that it gave
 * up, or if the lock is free and nothing has changed for a while. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_number.h"
#include "journal_impl.h"

/* ---- waiting ---- */

struct watch {
    int64_t patience; /* seconds without progress before giving up */
    uint64_t seen;    /* hash of the last observed progress */
    double since;     /* time when `seen` was first observed; 0 if not yet */
    int64_t pause;    /* next wait, in microseconds */
};

static double seconds(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + 1; /* never 0 */
}

static uint64_t hash_dataset_times(const char *path)
{
    struct stat st;
    if (base_fs_stat(path, &st) != 0) return base_hash(&errno, sizeof errno, 0);
    const int64_t known[] = {(int64_t)st.st_ino, (int64_t)st.st_size,
                             (int64_t)st.st_ctim.tv_sec, (int64_t)st.st_ctim.tv_nsec};
    return base_hash(known, sizeof known, 0);
}

/* Returns a hash of the dataset's times and the journal's pages, which change with any
 * progress. It excludes the journal's times, because on some mounts querying them changes
 * them (base_fs_refresh), and a waiting process would see its own change. */
static uint64_t hash_progress(const struct journal *j)
{
    enum { PAGES = JOURNAL_RECORD_PAGE + 1 };
    unsigned char pages[PAGES * JOURNAL_PAGE] = {0};
    const char *why;
    uint64_t hash = hash_dataset_times(j->dataset_path);
    int fd = journal_open_trusted(j->path, O_RDWR, &j->model, &why);
    if (fd < 0) return base_hash(&errno, sizeof errno, hash);
    int64_t n = base_read_some(fd, 0, pages, sizeof pages);
    close(fd);
    return n > 0 ? base_hash(pages, (size_t)n, hash) : hash;
}

/* Returns the number of seconds without progress. */
static double seconds_without_progress(struct watch *w, const struct journal *j)
{
    uint64_t now = hash_progress(j);
    if (w->since == 0 || now != w->seen) w->since = seconds();
    w->seen = now;
    return seconds() - w->since;
}

/* Waits briefly. Returns false once patience has run out. */
static bool wait_for_progress(struct watch *w, const struct journal *j)
{
    enum { SHORTEST = 1000, LONGEST = 100000, SPREAD = 16 };
    if (seconds_without_progress(w, j) >= (double)w->patience) return false;
    if (w->pause < SHORTEST) w->pause = SHORTEST;
    /* Spread the retries of different processes over time. */
    base_sleep_us(w->pause + w->pause / SPREAD * (getpid() % SPREAD));
    if (w->pause < LONGEST) w->pause *= 2;
    return true;
}

/* ---- messages ---- */

/* Reads the owner's record, if any. Sets *movers if a process of the owner's job may
 * still write. */
static bool read_lease(const struct journal *j, struct journal_record *h, bool *movers)
{
    const char *why;
    int fd = journal_open_trusted(j->path, O_RDONLY, &j->model, &why);
    bool known = fd >= 0 && journal_read_record(fd, h);
    *movers = fd >= 0 && base_lock_busy(fd, BASE_LOCK_MOVERS);
    if (fd >= 0) close(fd);
    return known;
}

enum state {
    AT_WORK,  /* a process is moving the dataset's data */
    UNKNOWN,  /* a process on another host may be moving data; there are no locks */
    IN_USE,   /* no process is moving data, but the dataset is open elsewhere */
    ABANDONED /* no process is using the dataset */
};

static enum state state_of(int fd, const struct journal_record *h, bool known,
                           bool movers)
{
    enum base_locked locked = base_lock_test(fd, BASE_LOCK_LAYOUT, false);
    enum base_alive alive = BASE_DEAD;
    if (known && !h->released) alive = base_owner_alive(&h->owner);
    if (locked == BASE_BUSY || alive == BASE_ALIVE) return AT_WORK;
    if (locked == BASE_LOCKLESS && alive == BASE_ELSEWHERE) return UNKNOWN;
    return movers || base_lock_busy(fd, BASE_LOCK_LAYOUT) ? IN_USE : ABANDONED;
}

static const char *describe_use(const struct journal *j, int fd, char text[512])
{
    struct journal_record h;
    char who[160] = "another program";
    bool movers, known = read_lease(j, &h, &movers);
    if (known) (void)base_owner_describe(&h.owner, who);
    switch (state_of(fd, &h, known, movers)) {
    case AT_WORK:
        snprintf(text, 512,
                 known ? "it is being redefined by %s; try again later"
                       : "%s is moving, joining or replaying its data; try again later",
                 who);
        break;
    case UNKNOWN:
        snprintf(
            text, 512,
            "it is being redefined by %s, which cannot be checked from here; if that "
            "process has ended, complete the redefinition with ncvalidator -f -f",
            who);
        break;
    case IN_USE:
        snprintf(text, 512,
                 "a redefinition of this dataset was interrupted (%s), and a program "
                 "that has it open may still write to it; when that program has ended, "
                 "open the dataset for writing, or run ncvalidator -f on it",
                 who);
        break;
    case ABANDONED:
        snprintf(text, 512,
                 "a redefinition of this dataset was interrupted (%s): open it for "
                 "writing, or run ncvalidator -f on it, to complete the redefinition",
                 who);
        break;
    }
    return text;
}

/* If the dataset's status is unknown, only a journal that this user owns is trusted. */
static void describe_dataset(struct journal *j, int fd)
{
    if (fstat(fd, &j->model) != 0) j->model = (struct stat){.st_uid = geteuid()};
}

const char *journal_describe_use(const char *dataset, int fd, char text[512])
{
    struct journal j;
    if (journal_init(&j, dataset) == NC_NOERR) {
        describe_dataset(&j, fd);
        (void)describe_use(&j, fd, text);
    } else {
        snprintf(text, 512, "a redefinition of this dataset has not ended");
    }
    journal_free(&j);
    return text;
}

static int report_busy(const struct journal *j)
{
    char text[512];
    return base_error_set(NC_EFILE, "%s: %s", j->dataset_path,
                          describe_use(j, j->guard, text));
}

/* ---- entering ---- */

/* Fails if another file took the dataset's name while this process waited. */
static int check_dataset_name(const struct journal *j, int fd)
{
    struct stat mine, there;
    if (fstat(fd, &mine) != 0 || stat(j->dataset_path, &there) != 0 ||
        base_same_file(&mine, &there))
        return NC_NOERR;
    return base_refuse_other_file(j->dataset_path);
}

int journal_lock_shared(int guard, const char *dataset, int64_t patience)
{
    struct watch w = {.patience = patience};
    struct journal j;
    if (base_lock_try(guard, BASE_LOCK_LAYOUT, false) != BASE_BUSY) return NC_NOERR;
    int err = journal_init(&j, dataset);
    j.guard = guard;
    describe_dataset(&j, guard);
    while (err == NC_NOERR && journal_lock(&j, false) == BASE_BUSY)
        if (!wait_for_progress(&w, &j)) err = report_busy(&j);
    if (err == NC_NOERR) err = check_dataset_name(&j, guard);
    journal_free(&j);
    return err;
}

/* ---- taking over ---- */

/* Returns whether the dataset begins with a mark, intact or torn. */
static bool is_marked(const struct journal *j)
{
    unsigned char head[JOURNAL_MARK];
    bool torn;
    if (base_read_some(j->file, j->base, head, sizeof head) != sizeof head) return false;
    if (cdf_is_moving(head, sizeof head)) return true;
    return journal_check_head(j->dataset_path, &torn) == NC_NOERR && torn;
}

/* Returns whether the owner and every process that might write on its behalf are gone. An
 * owner that is alive and has not given up counts as active even if the lock is free,
 * because nodes do not always see each other's locks. */
static bool is_owner_gone(const struct journal *j, enum base_locked got, struct watch *w)
{
    enum { STILL = 2 };
    if (base_lock_try(j->fd, BASE_LOCK_MOVERS, true) == BASE_BUSY) return false;
    enum base_alive alive = base_owner_alive(&j->lease.owner);
    if (j->lease.released || alive == BASE_DEAD) return true;
    if (got == BASE_LOCKLESS) return false;
    if (alive == BASE_ALIVE) return base_owner_is_self(&j->lease.owner);
    if (w->patience <= STILL) w->patience = STILL + 1;
    return seconds_without_progress(w, j) >= STILL;
}

/* Without locks, two processes may find a dead owner at the same time. The last one to
 * write its record becomes the owner; the pause gives the other one time to see it. */
static bool is_owner_confirmed(struct journal *j, enum base_locked got)
{
    enum { HALF_A_SECOND = 500000 };
    if (got != BASE_LOCKLESS) return true;
    base_sleep_us(HALF_A_SECOND);
    return journal_check(j) == NC_NOERR;
}

/* Takes over. While the mark is being replaced, the record contains both nonces. Sets
 * *mine if this process became the owner. */
static int take_over(struct journal *j, enum base_locked got, bool *mine)
{
    j->lease = (struct journal_record){.earlier = j->mark_nonce};
    base_owner_set(&j->lease.owner);
    int err = journal_write_record(j);
    j->written = true;
    *mine = err != NC_NOERR || is_owner_confirmed(j, got);
    if (err != NC_NOERR || !*mine) return err;
    err = journal_mark(j);
    j->lease.earlier = 0;
    if (err == NC_NOERR) err = journal_write_record(j);
    (void)base_lock_try(j->fd, BASE_LOCK_MOVERS, false);
    j->claimed = true;
    return err;
}

static void reset_journal(struct journal *j)
{
    if (j->fd >= 0) close(j->fd);
    j->fd = -1;
    j->written = j->lost = j->pending = false;
}

static int check_contents(struct journal *j)
{
    const struct journal_facts *f = &j->facts;
    unsigned char *bytes = base_malloc((size_t)(f->before + f->after + f->fills));
    int err = bytes == NULL ? NC_ENOMEM : journal_read_headers(j, bytes);
    base_free(bytes);
    return err == NC_NOERR ? journal_check_area(j) : err;
}

/* Tries to take over, with the lock if there is one. Sets *done if this process is now
 * the owner. */
static int try_take_over(struct journal *j, enum base_locked got, struct watch *w,
                         bool *done)
{
    const struct journal_facts facts = j->facts;
    int err = journal_find(j);
    if (err == NC_NOERR) err = check_contents(j);
    if (err == NC_NOERR && is_owner_gone(j, got, w)) err = take_over(j, got, done);
    if (err == NC_NOERR && *done) return NC_NOERR;
    /* The redefinition may have ended in the meantime. */
    if (got == BASE_LOCKLESS && !is_marked(j)) err = NC_NOERR;
    reset_journal(j);
    j->facts = facts;
    return err;
}

int journal_acquire(struct journal *j, int64_t patience)
{
    struct watch w = {.patience = patience};
    int err = check_dataset_name(j, j->file);
    for (bool done = false; err == NC_NOERR; err = check_dataset_name(j, j->file)) {
        enum base_locked got = journal_lock(j, true);
        if (got != BASE_BUSY && is_marked(j)) err = try_take_over(j, got, &w, &done);
        if (err != NC_NOERR || done) return err;
        if (j->guard >= 0) base_lock_release(j->guard, BASE_LOCK_LAYOUT);
        if (!is_marked(j) && journal_lock(j, false) != BASE_BUSY) {
            j->state.phase = JOURNAL_NONE;
            return NC_NOERR;
        }
        if (!wait_for_progress(&w, j)) return report_busy(j);
    }
    return err;
}

int journal_take_over(struct journal *j)
{
    int err = journal_find(j);
    if (err == NC_NOERR) err = check_contents(j);
    if (err != NC_NOERR) return err;
    j->lease = (struct journal_record){.earlier = j->mark_nonce};
    base_owner_set(&j->lease.owner);
    j->written = true;
    err = journal_write_record(j);
    if (err != NC_NOERR) return err;
    /* The previous owner may have been active until now. Its last steps are to remove the
     * mark and to check that it is still the owner. So either it sees this process's
     * record, or this process sees no mark. */
    if (!is_marked(j))
        return base_error_set(NC_EFILE, "%s: its redefinition has just ended",
                              j->dataset_path);
    enum journal_head is;
    err = journal_examine_head(j, &is);
    if (err != NC_NOERR || is == JOURNAL_HEAD_MARK || is == JOURNAL_HEAD_TORN) return err;
    return base_error_set(NC_EREAD, "%s: its state cannot be read", j->path);
}
