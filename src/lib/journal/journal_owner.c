/* One at a time: who may change a dataset's layout, and how others wait for it.
 *
 * An opening for writing holds the dataset's lock together with the others. One that
 * moves data, or finishes what another one began, holds it alone. A process that finds a
 * mark and cannot have the lock alone gives up the shared one before it waits, or two of
 * them would wait for each other.
 *
 * What the lock cannot tell the journal's holder does: where a file system has no locks,
 * or where they are each node's own. There a holder on another host counts as dead only
 * if the lock is free and nothing has gone on for a while, or it has said that it gave
 * up. */
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
#include "journal_impl.h"

static const int64_t HOLDER_AT = JOURNAL_HOLDER_PAGE * (int64_t)JOURNAL_PAGE;

/* ---- the holder's page ---- */

int journal_write_holder(struct journal *j)
{
    unsigned char page[JOURNAL_PAGE];
    journal_encode_holder(&j->holder, page);
    int err = base_write_at(j->fd, HOLDER_AT, page, sizeof page, j->path);
    return err == NC_NOERR ? base_sync_data(j->fd, j->path) : err;
}

static bool read_holder(int fd, struct journal_holder *h)
{
    unsigned char page[JOURNAL_PAGE];
    return base_fs_refresh(fd) && /* another one writes it */
           base_read_some(fd, HOLDER_AT, page, sizeof page) == sizeof page &&
           journal_decode_holder(h, page);
}

static int tell_lost(struct journal *j, const struct journal_holder *by)
{
    char who[160] = "another process";
    j->lost = j->pending = true;
    if (by != NULL) (void)base_owner_words(&by->owner, who);
    return base_error_set(NC_EFILE,
                          "%s: its redefinition was taken over by %s; nothing more is "
                          "written here, open the dataset anew",
                          j->of, who);
}

int journal_check(struct journal *j)
{
    struct journal_holder now;
    struct stat st;
    if (j->fd < 0) return j->lost ? tell_lost(j, NULL) : NC_NOERR;
    if (fstat(j->fd, &st) != 0) return base_error_system(NC_EFILE, "looking at", j->path);
    if (j->lost || st.st_nlink == 0) return tell_lost(j, NULL);
    if (!j->written) return NC_NOERR; /* it is being made */
    if (!read_holder(j->fd, &now))
        return base_error_set(NC_EREAD, "%s: the record of its owner cannot be read",
                              j->path);
    return now.owner.nonce == j->holder.owner.nonce ? NC_NOERR : tell_lost(j, &now);
}

static int join_once(struct journal *j)
{
    const char *why;
    if (stat(j->of, &j->model) != 0) j->model = (struct stat){.st_uid = geteuid()};
    j->fd = journal_open_trusted(j->path, O_RDWR, &j->model, &why);
    if (j->fd < 0) return base_error_set(NC_EFILE, "%s: %s", j->path, why);
    j->written = true;
    /* Nobody has it alone while the first process has the dataset's lock. */
    (void)base_lock_try(j->fd, BASE_LOCK_MOVERS, false);
    return journal_check(j);
}

/* A node may still know the journal that was there before by that name. */
int journal_join(struct journal *j)
{
    int turn = 0, err = j->fd >= 0 ? NC_NOERR : join_once(j);
    while (err != NC_NOERR && base_fs_await_name(j->path, &turn)) {
        if (j->fd >= 0) (void)close(j->fd);
        j->lost = j->pending = false;
        err = join_once(j);
    }
    return err;
}

/* ---- waiting ---- */

struct watch {
    int64_t patience; /* seconds that nothing may go on */
    uint64_t seen;    /* how things were, hashed */
    double since;     /* so they have been from then on; 0: nobody has looked */
    int64_t pause;    /* of the next wait, in nanoseconds */
};

static double seconds(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + 1; /* never 0 */
}

static uint64_t look_at_dataset_times(const char *path)
{
    struct stat st;
    if (base_fs_stat(path, &st) != 0) return base_hash(&errno, sizeof errno, 0);
    const int64_t known[] = {(int64_t)st.st_ino, (int64_t)st.st_size,
                             (int64_t)st.st_mtim.tv_sec, (int64_t)st.st_mtim.tv_nsec};
    return base_hash(known, sizeof known, 0);
}

/* How far things are: when the dataset was written to, and what the journal says. When
 * that was written to tells nothing: asking for it moves its times on some mounts
 * (base_fs_refresh), and who waits, and asks each time, would wait for itself. */
static uint64_t look_at_progress(const struct journal *j)
{
    enum { PAGES = JOURNAL_HOLDER_PAGE + 1 };
    unsigned char pages[PAGES * JOURNAL_PAGE] = {0};
    const char *why;
    uint64_t hash = look_at_dataset_times(j->of);
    int fd = journal_open_trusted(j->path, O_RDWR, &j->model, &why);
    if (fd < 0) return base_hash(&errno, sizeof errno, hash);
    int64_t n = base_read_some(fd, 0, pages, sizeof pages);
    close(fd);
    return n > 0 ? base_hash(pages, (size_t)n, hash) : hash;
}

/* For how long nothing has gone on. */
static double stood_still(struct watch *w, const struct journal *j)
{
    uint64_t now = look_at_progress(j);
    if (w->since == 0 || now != w->seen) w->since = seconds();
    w->seen = now;
    return seconds() - w->since;
}

static void nap(int64_t nanoseconds)
{
    struct timespec pause = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    (void)nanosleep(&pause, NULL);
}

/* Waits a little. False: there is no point in waiting any longer. */
static bool wait_on(struct watch *w, const struct journal *j)
{
    enum { SHORTEST = 1000000, LONGEST = 100000000, SPREAD = 16 };
    if (stood_still(w, j) >= (double)w->patience) return false;
    if (w->pause < SHORTEST) w->pause = SHORTEST;
    nap(w->pause + w->pause / SPREAD * (getpid() % SPREAD)); /* not all at once */
    if (w->pause < LONGEST) w->pause *= 2;
    return true;
}

/* ---- words ---- */

/* False: it is not known. *movers: a process of its job may still write. */
static bool look_up_holder(const struct journal *j, struct journal_holder *h,
                           bool *movers)
{
    const char *why;
    int fd = journal_open_trusted(j->path, O_RDONLY, &j->model, &why);
    bool known = fd >= 0 && read_holder(fd, h);
    *movers = fd >= 0 && base_lock_busy(fd, BASE_LOCK_MOVERS);
    if (fd >= 0) close(fd);
    return known;
}

enum state {
    AT_WORK,  /* one moves its data */
    UNKNOWN,  /* one may: it ran on another host, and there are no locks */
    IN_USE,   /* nobody does, but the dataset is open elsewhere */
    LEFT_OVER /* nobody does */
};

static enum state state_of(int fd, const struct journal_holder *h, bool known,
                           bool movers)
{
    enum base_locked locked = base_lock_look(fd, BASE_LOCK_LAYOUT, false);
    enum base_alive alive = BASE_DEAD;
    if (known && !h->released) alive = base_owner_alive(&h->owner);
    if (locked == BASE_BUSY || alive == BASE_ALIVE) return AT_WORK;
    if (locked == BASE_LOCKLESS && alive == BASE_ELSEWHERE) return UNKNOWN;
    return movers || base_lock_busy(fd, BASE_LOCK_LAYOUT) ? IN_USE : LEFT_OVER;
}

static const char *words_of(const struct journal *j, int fd, char text[512])
{
    struct journal_holder h;
    char who[160] = "another program";
    bool movers, known = look_up_holder(j, &h, &movers);
    if (known) (void)base_owner_words(&h.owner, who);
    switch (state_of(fd, &h, known, movers)) {
    case AT_WORK:
        snprintf(text, 512,
                 known ? "it is being redefined by %s; try again later"
                       : "%s has it to itself, to move, join or replay its "
                         "data; try again later",
                 who);
        break;
    case UNKNOWN:
        snprintf(
            text, 512,
            "it is being redefined by %s, which cannot be seen from here; if that is "
            "gone, ncvalidator -f -f brings the redefinition to an end",
            who);
        break;
    case IN_USE:
        snprintf(
            text, 512,
            "a redefinition of this dataset was interrupted (%s), and a program that "
            "has it open may still write to it; when that has ended, open it for "
            "writing, or run ncvalidator -f on it",
            who);
        break;
    case LEFT_OVER:
        snprintf(text, 512,
                 "a redefinition of this dataset was interrupted (%s): open it for "
                 "writing, or run ncvalidator -f on it, to bring it to an end",
                 who);
        break;
    }
    return text;
}

/* Where nothing is known of the dataset, no other user's journal is trusted. */
static void look_at_dataset(struct journal *j, int fd)
{
    if (fstat(fd, &j->model) != 0) j->model = (struct stat){.st_uid = geteuid()};
}

const char *journal_words(const char *dataset, int fd, char text[512])
{
    struct journal j;
    if (journal_init(&j, dataset) == NC_NOERR) {
        look_at_dataset(&j, fd);
        (void)words_of(&j, fd, text);
    } else {
        snprintf(text, 512, "a redefinition of this dataset has not ended");
    }
    journal_free(&j);
    return text;
}

static int tell_busy(const struct journal *j)
{
    char text[512];
    return base_error_set(NC_EFILE, "%s: %s", j->of, words_of(j, j->guard, text));
}

/* ---- locks ---- */

static enum base_locked lock_layout(const struct journal *j, bool alone)
{
    return j->guard < 0 ? BASE_LOCKLESS
                        : base_lock_try(j->guard, BASE_LOCK_LAYOUT, alone);
}

/* The dataset may have been replaced while this process waited. */
static int check_dataset_name(const struct journal *j, int fd)
{
    struct stat mine, there;
    if (fstat(fd, &mine) != 0 || stat(j->of, &there) != 0 ||
        (mine.st_ino == there.st_ino && mine.st_dev == there.st_dev))
        return NC_NOERR;
    return base_error_set(NC_EFILE, "%s: another file has taken this name", j->of);
}

int journal_enter(int guard, const char *dataset, int64_t patience)
{
    struct watch w = {.patience = patience};
    struct journal j;
    if (base_lock_try(guard, BASE_LOCK_LAYOUT, false) != BASE_BUSY) return NC_NOERR;
    int err = journal_init(&j, dataset);
    j.guard = guard;
    look_at_dataset(&j, guard);
    while (err == NC_NOERR && lock_layout(&j, false) == BASE_BUSY)
        if (!wait_on(&w, &j)) err = tell_busy(&j);
    if (err == NC_NOERR) err = check_dataset_name(&j, guard);
    journal_free(&j);
    return err;
}

int journal_claim(struct journal *j)
{
    if (lock_layout(j, true) == BASE_BUSY)
        return base_error_set(NC_EFILE,
                              "%s: cannot redefine: another program, or another opening "
                              "in this one, has it open for writing",
                              j->of);
    base_owner_set(&j->holder.owner);
    j->claimed = true;
    return NC_NOERR;
}

void journal_release(struct journal *j)
{
    if (!j->claimed) return;
    if (j->fd >= 0 && !j->ended && j->written && journal_check(j) == NC_NOERR) {
        j->holder.released = true;
        (void)journal_write_holder(j);
    }
    (void)lock_layout(j, false);
    j->claimed = false;
}

/* ---- taking over ---- */

static bool is_marked(const struct journal *j)
{
    unsigned char mark[JOURNAL_MARK];
    return base_read_some(j->file, j->base, mark, sizeof mark) == sizeof mark &&
           journal_decode_mark(mark) != 0;
}

/* Is the holder gone, and with it all who might write on its behalf? One that lives and
 * has not said that it gave up counts as at work even where the lock is free: not all who
 * have the file see the same locks, perhaps. */
static bool is_left(const struct journal *j, enum base_locked got, struct watch *w)
{
    enum { STILL = 2 };
    if (base_lock_try(j->fd, BASE_LOCK_MOVERS, true) == BASE_BUSY) return false;
    enum base_alive alive = base_owner_alive(&j->holder.owner);
    if (j->holder.released || alive == BASE_DEAD) return true;
    if (got == BASE_LOCKLESS) return false;
    if (alive == BASE_ALIVE) return base_owner_is_me(&j->holder.owner);
    if (w->patience <= STILL) w->patience = STILL + 1;
    return stood_still(w, j) >= STILL;
}

/* Where there are no locks two may find a dead holder at the same time: the one who wrote
 * last has it, once the other can have seen that. */
static bool is_settled(struct journal *j, enum base_locked got)
{
    enum { HALF_A_SECOND = 500000000 };
    if (got != BASE_LOCKLESS) return true;
    nap(HALF_A_SECOND);
    return journal_check(j) == NC_NOERR;
}

/* The journal says both names while the mark changes. *mine: it is this process's. */
static int take_over(struct journal *j, enum base_locked got, bool *mine)
{
    j->holder = (struct journal_holder){.earlier = j->named};
    base_owner_set(&j->holder.owner);
    int err = journal_write_holder(j);
    j->written = true;
    *mine = err != NC_NOERR || is_settled(j, got);
    if (err != NC_NOERR || !*mine) return err;
    err = journal_mark(j);
    j->holder.earlier = 0;
    if (err == NC_NOERR) err = journal_write_holder(j);
    (void)base_lock_try(j->fd, BASE_LOCK_MOVERS, false);
    j->claimed = true;
    return err;
}

static void forget(struct journal *j)
{
    if (j->fd >= 0) close(j->fd);
    j->fd = -1;
    j->written = j->lost = j->pending = false;
}

/* Before anything is changed. */
static int check_headers(struct journal *j)
{
    const struct journal_facts *f = &j->facts;
    unsigned char *bytes = base_malloc((size_t)(f->before + f->after + f->fills));
    int err = bytes == NULL ? NC_ENOMEM : journal_read_headers(j, bytes);
    base_free(bytes);
    return err;
}

/* With the lock, or where there is none. *done: it is this process's now. */
static int try_alone(struct journal *j, enum base_locked got, struct watch *w, bool *done)
{
    const struct journal_facts facts = j->facts;
    int err = journal_find(j);
    if (err == NC_NOERR) err = check_headers(j);
    if (err == NC_NOERR && is_left(j, got, w)) err = take_over(j, got, done);
    if (err == NC_NOERR && *done) return NC_NOERR;
    /* It may have come to its end meanwhile. */
    if (got == BASE_LOCKLESS && !is_marked(j)) err = NC_NOERR;
    forget(j);
    j->facts = facts;
    return err;
}

int journal_take(struct journal *j, int64_t patience)
{
    struct watch w = {.patience = patience};
    int err = check_dataset_name(j, j->file);
    for (bool done = false; err == NC_NOERR; err = check_dataset_name(j, j->file)) {
        enum base_locked got = lock_layout(j, true);
        if (got != BASE_BUSY && is_marked(j)) err = try_alone(j, got, &w, &done);
        if (err != NC_NOERR || done) return err;
        if (j->guard >= 0) base_lock_drop(j->guard, BASE_LOCK_LAYOUT);
        if (!is_marked(j) && lock_layout(j, false) != BASE_BUSY) {
            j->state.phase = JOURNAL_NONE;
            return NC_NOERR;
        }
        if (!wait_on(&w, j)) return tell_busy(j);
    }
    return err;
}

int journal_steal(struct journal *j)
{
    int err = journal_find(j);
    if (err != NC_NOERR) return err;
    j->holder = (struct journal_holder){.earlier = j->named};
    base_owner_set(&j->holder.owner);
    j->written = true;
    err = journal_write_holder(j);
    if (err != NC_NOERR) return err;
    /* It went on until now. Its last act is to take the mark away and to look whether it
     * still is the holder: one of both sees the other. */
    if (!is_marked(j))
        return base_error_set(NC_EFILE, "%s: its redefinition has just ended", j->of);
    if (journal_read_state(j)) return NC_NOERR;
    return base_error_set(NC_EREAD, "%s: its state cannot be read", j->path);
}
