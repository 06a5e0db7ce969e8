/* The master's lock and moment. */
#include "blob_hold.h"

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
#include "base_owner.h"
#include "base_rights.h"
#include "blob_moment.h"
#include "blob_names.h"
#include "blob_source.h"

_Static_assert((int)CDF_JOINER == (int)BASE_OWNER_BYTES,
               "the page has an owner's record");

/* ---- the page ---- */

static int write_master_page(const struct blob *b, const struct cdf_envelope *e)
{
    unsigned char page[CDF_ENVELOPE];
    cdf_encode_envelope(e, page);
    return base_write_at(b->hold.fd, 0, page, sizeof page, b->base.ds->full);
}

/* The same while the dataset is being opened, when no value changes: logs of a burst
 * buffer that are about to be judged, by the process that comes next, go by the time when
 * it was last modified. That stays, if this user may set it. */
static int write_page_quietly(const struct blob *b, const struct cdf_envelope *e)
{
    struct stat st;
    bool known = fstat(b->hold.fd, &st) == 0;
    int err = write_master_page(b, e);
    if (known) { /* a part of it may have been written */
        const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, st.st_mtim};
        (void)!futimens(b->hold.fd, times);
    }
    return err;
}

/* What the page has of others stays, be they at work beside this opening, or, where no
 * lock kept them out, have a moment of their own there. Reading and writing it takes the
 * lock that a header takes, or one of two changes would be lost. */
typedef void change(const struct blob *b, struct cdf_envelope *page);

typedef int write_it(const struct blob *b, const struct cdf_envelope *page);

static int lock_page(const struct blob *b, struct cdf_envelope *page)
{
    int err = base_lock_header(b->hold.fd, b->base.ds->full);
    if (err != NC_NOERR) return err;
    return blob_source_page(b->hold.fd, b->base.ds->full, page);
}

static void unlock_page(const struct blob *b)
{
    base_lock_drop(b->hold.fd, BASE_LOCK_HEADER);
}

static int change_page_by(const struct blob *b, change *how, write_it *write)
{
    struct cdf_envelope page;
    int err = lock_page(b, &page);
    if (err == NC_NOERR) {
        how(b, &page);
        err = write(b, &page);
    }
    unlock_page(b);
    return err;
}

static int change_page(const struct blob *b, change *how)
{
    return change_page_by(b, how, write_master_page);
}

static bool is_our_page(const struct blob *b, const struct cdf_envelope *page)
{
    return b->makes && page->now.nonce == b->facts.now.nonce;
}

/* ---- the lock ---- */

static int tell_joiner(const struct blob *b, const struct base_owner *o)
{
    char who[160];
    return base_error_set(NC_EFILE, "%s: it is being made one file by %s",
                          b->base.ds->full, base_owner_words(o, who));
}

/* The process that makes one file of it, by its record; NC_NOERR: there is none, or it is
 * known to be dead. */
static int look_for_joiner(const struct blob *b)
{
    struct cdf_envelope page;
    struct base_owner o;
    int err = blob_source_page(b->hold.fd, b->base.ds->full, &page);
    if (err != NC_NOERR || base_is_zero(page.joiner, sizeof page.joiner)) return err;
    base_owner_decode(&o, page.joiner);
    return base_owner_alive(&o) == BASE_DEAD ? NC_NOERR : tell_joiner(b, &o);
}

/* Exclusive if nobody else writes, else shared; *alone has what came of the former.
 * Another opening, which makes its moment, is waited for. */
static int take_lock(const struct blob *b, enum base_locked *alone)
{
    enum { TURNS = 1000 };
    const struct timespec turn = {.tv_nsec = 10000000};
    for (int i = 0; i < TURNS; i++) {
        *alone = base_lock_try(b->hold.fd, BASE_LOCK_PARTS, true);
        if (*alone != BASE_BUSY) return NC_NOERR;
        if (base_lock_try(b->hold.fd, BASE_LOCK_PARTS, false) == BASE_LOCKED)
            return NC_NOERR;
        int err = look_for_joiner(b);
        if (err != NC_NOERR) return err;
        (void)nanosleep(&turn, NULL);
    }
    return base_error_set(NC_EFILE,
                          "%s: another program is opening it for writing, or "
                          "makes one file of it",
                          b->base.ds->full);
}

/* Who waited for a join may have a file that has no name any more. */
static int check_master_name(const struct blob *b)
{
    struct stat held, named;
    const char *path = b->base.ds->full;
    if (fstat(b->hold.fd, &held) != 0) return base_error_system(NC_EFILE, "asking", path);
    if (stat(path, &named) == 0 && held.st_dev == named.st_dev &&
        held.st_ino == named.st_ino)
        return NC_NOERR;
    return base_error_set(NC_EFILE, "%s: another file has taken this name", path);
}

static int open_master(struct blob *b, int flags)
{
    const char *path = b->base.ds->full;
    b->hold.fd = base_open(path, flags);
    return b->hold.fd < 0 ? base_error_system(NC_EFILE, "opening", path) : NC_NOERR;
}

/* ---- begin ---- */

static uint64_t new_nonce(void)
{
    struct base_owner o;
    base_owner_set(&o);
    return o.nonce;
}

void blob_hold_first(struct cdf_envelope *e)
{
    e->stage = CDF_WRITING;
    e->now = (struct cdf_moment){.opening = 1, .nonce = new_nonce()};
}

int blob_hold_create(struct blob *b)
{
    int err = open_master(b, O_RDWR);
    if (err != NC_NOERR) return err;
    if (base_lock_try(b->hold.fd, BASE_LOCK_PARTS, false) == BASE_BUSY)
        err = base_error_set(NC_EFILE, "%s: another program makes one file of it",
                             b->base.ds->full);
    return err == NC_NOERR ? write_master_page(b, &b->facts) : err;
}

/* What a join has left that was killed: nobody knows which values it has. */
static void remove_leftover(const struct blob *b)
{
    char *path = blob_source_joining(b->path, &b->facts);
    if (path != NULL) (void)unlink(path);
    base_free(path);
}

/* Where a moment was begun before and the job killed, no value has changed in it. It is
 * on the device before any subfile has it, or, when the power went, that one would be
 * ahead of its master. */
static int begin_moment(struct blob *b)
{
    struct cdf_envelope *e = &b->facts;
    b->hold.was = *e;
    remove_leftover(b);
    memset(e->joiner, 0, sizeof e->joiner);
    if (e->stage != CDF_BEGINNING) {
        e->before = e->now;
        e->now = (struct cdf_moment){e->before.opening + 1, new_nonce(), 0};
        e->stage = CDF_BEGINNING;
    }
    e->shared = false;
    b->hold.untouched = true;
    int err = write_page_quietly(b, e);
    return err == NC_NOERR ? base_sync_data(b->hold.fd, b->base.ds->full) : err;
}

int blob_hold_open(struct blob *b)
{
    const char *path = b->base.ds->full;
    enum base_locked alone = BASE_BUSY;
    if (!b->base.ds->writable) return blob_source_envelope(path, &b->facts);
    int err = open_master(b, O_RDWR);
    if (err == NC_NOERR) err = take_lock(b, &alone);
    if (err == NC_NOERR) err = check_master_name(b);
    if (err == NC_NOERR) err = blob_source_page(b->hold.fd, path, &b->facts);
    if (err == NC_NOERR && alone == BASE_LOCKLESS) err = look_for_joiner(b);
    return err == NC_NOERR && alone != BASE_BUSY ? begin_moment(b) : err;
}

static void set_writing(const struct blob *b, struct cdf_envelope *page)
{
    if (is_our_page(b, page)) page->stage = CDF_WRITING;
}

int blob_hold_begun(struct blob *b)
{
    int err = change_page_by(b, set_writing, write_page_quietly);
    (void)base_lock_try(b->hold.fd, BASE_LOCK_PARTS, false);
    return err;
}

/* ---- subfiles ---- */

int blob_hold_define(struct cdf_header *h)
{
    int dim, id;
    int err = cdf_def_dim(h, BLOB_MOMENT_NAME, BLOB_MOMENT, &dim);
    return err == NC_NOERR ? cdf_def_var(h, BLOB_MOMENT_NAME, NC_INT64, 1, &dim, &id)
                           : err;
}

/* Of the subfile itself, past what may be staged of it. */
static int move_numbers(struct blob_sub *s, void *numbers, bool put)
{
    union {
        struct access_request r;
        unsigned char room[sizeof(struct access_request) + 2 * sizeof(int64_t)];
    } one = {.r = {.buf = numbers, .type = CONV_LONGLONG}};
    struct access_request *r = &one.r;
    r->varid = blob_moment_var(&s->ds.header);
    r->slab[0] = 0;
    r->slab[1] = BLOB_MOMENT;
    if (r->varid < 0)
        return base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", s->ds.path,
                              BLOB_MOMENT_NAME);
    struct driver *file = s->driver->bottom;
    return put ? driver_call(file, put, &r, 1) : driver_call(file, get, &r, 1);
}

/* The master has a page, but a node with a write-back cache goes on taking the file for
 * as short as it was when the node saw it first: the size is learnt by a descriptor that
 * may write. */
static int read_page_again(const struct blob *b, struct cdf_envelope *page)
{
    const char *path = b->base.ds->full;
    if (!b->base.ds->writable) return blob_source_envelope(path, page);
    int fd = base_open(path, O_RDWR);
    if (fd < 0) return base_error_system(NC_EFILE, "opening", path);
    bool lost = base_fs_goes_around(fd) && !base_fs_learn_size(fd, CDF_ENVELOPE);
    int err = lost ? base_error_system(NC_EREAD, "asking for the size of", path)
                   : blob_source_page(fd, path, page);
    (void)close(fd);
    return err;
}

/* A writer beside this reader may have gone on since the page was read: what the page
 * says now counts, too. */
int blob_hold_check(struct blob *b, struct blob_sub *s)
{
    enum { TRIES = 3 };
    struct cdf_envelope page = b->facts;
    const char *wrong = NULL;
    for (int i = 0; i < TRIES; i++) {
        int64_t numbers[BLOB_MOMENT] = {0};
        int err = move_numbers(s, numbers, false);
        if (err != NC_NOERR) return err;
        if ((wrong = blob_moment_wrong(&page, numbers)) == NULL) return NC_NOERR;
        err = read_page_again(b, &page);
        if (err != NC_NOERR) return err;
    }
    return base_error_set(NC_ENOTNC, "%s: %s", s->ds.path, wrong);
}

static int stamp(const struct blob *b, struct blob_sub *s, uint64_t syncs, bool sync)
{
    int64_t numbers[] = {(int64_t)b->facts.now.opening, (int64_t)b->facts.now.nonce,
                         (int64_t)syncs};
    if (!s->defined) return NC_NOERR;
    int err = move_numbers(s, numbers, true);
    return err == NC_NOERR && sync ? driver_call(s->driver, sync) : err;
}

/* One that is missing is found to be older when it comes back. */
int blob_hold_stamp(struct blob *b, uint64_t syncs, bool sync)
{
    int first = NC_NOERR;
    if (b->own != NULL) return b->rank == 0 ? stamp(b, b->own, syncs, sync) : NC_NOERR;
    for (int64_t i = b->base.ds->rank; i < b->facts.nsubfiles; i += b->base.ds->nprocs) {
        struct blob_sub *s;
        int err = blob_sub_get(b, (int)i, &s);
        if (err == NC_NOERR) err = stamp(b, s, syncs, sync);
        if (err != NC_ENOENT && first == NC_NOERR) first = err;
    }
    return first;
}

/* ---- while it is open ---- */

/* Decompositions that count from here on, and those that do not any more; and subfiles
 * that have headers keep them. */
static void take_change(struct cdf_envelope *page, const struct cdf_envelope *before,
                        const struct cdf_envelope *after)
{
    page->defined = page->defined || after->defined;
    for (size_t i = 0; i < sizeof page->committed; i++) {
        unsigned char was = before->committed[i], is = after->committed[i];
        page->committed[i] = (unsigned char)((page->committed[i] | is) & ~(was & ~is));
    }
}

/* What was written by half is written anew. Only what this changes is changed: another
 * opening may have committed decompositions of its own meanwhile. */
int blob_hold_commit(const struct blob *b, const struct cdf_envelope *before,
                     const struct cdf_envelope *after)
{
    struct cdf_envelope page;
    int err = lock_page(b, &page);
    if (err == NC_ENOTNC) {
        page = *after;
        err = NC_NOERR;
    }
    if (err == NC_NOERR) {
        take_change(&page, before, after);
        page.shared = page.shared || !b->makes;
        err = write_master_page(b, &page);
    }
    unlock_page(b);
    return err;
}

int64_t blob_hold_next_sync(struct blob *b)
{
    struct cdf_envelope page;
    if (b->hold.fd < 0 || !b->makes) return 0;
    bool ours = blob_source_page(b->hold.fd, b->base.ds->full, &page) == NC_NOERR &&
                is_our_page(b, &page);
    return ours ? (int64_t)b->hold.syncs + 1 : 0;
}

static void set_syncs(const struct blob *b, struct cdf_envelope *page)
{
    if (is_our_page(b, page)) page->now.syncs = b->hold.syncs;
}

int blob_hold_synced(struct blob *b, int64_t syncs)
{
    b->hold.syncs = (uint64_t)syncs;
    b->unsynced = true;
    return change_page(b, set_syncs);
}

/* Definitions and maps that others have made meanwhile are not known here: of those at
 * whose work this opening came, and of those who settled something since. */
int blob_hold_join(struct blob *b)
{
    const char *path = b->base.ds->full;
    struct cdf_envelope page;
    struct base_owner me;
    if (base_lock_try(b->hold.fd, BASE_LOCK_PARTS, true) == BASE_BUSY)
        return base_error_set(NC_EFILE,
                              "%s: another program has it open for writing: it stays in "
                              "its subfiles",
                              path);
    int err = lock_page(b, &page);
    if (err == NC_NOERR && (page.shared || !b->makes))
        err = base_error_set(
            NC_EFILE,
            "%s: another program had it open for writing, too, since this one opened it: "
            "it stays in its subfiles, and ncmpijoin makes one file of it",
            path);
    if (err == NC_NOERR) {
        base_owner_set(&me);
        base_owner_encode(&me, page.joiner);
        err = write_master_page(b, &page);
    }
    unlock_page(b);
    return err;
}

int blob_hold_make_file(int model, const char *path)
{
    int fd = base_open(path, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0) return base_error_system(NC_EFILE, "creating", path);
    int err = base_rights_copy(model, fd, path);
    (void)close(fd);
    if (err != NC_NOERR) (void)unlink(path);
    return err;
}

/* ---- end ---- */

static void set_ended(const struct blob *b, struct cdf_envelope *page)
{
    (void)b;
    memset(page->joiner, 0, sizeof page->joiner);
}

static void set_complete(const struct blob *b, struct cdf_envelope *page)
{
    set_ended(b, page);
    page->stage = CDF_COMPLETE;
}

void blob_hold_drop(struct blob *b)
{
    if (b->hold.fd < 0) return;
    if (b->hold.untouched) (void)write_page_quietly(b, &b->hold.was);
    (void)close(b->hold.fd);
    b->hold.fd = -1;
}

/* The opening that made the moment says that all is complete, if it is the last to close.
 */
int blob_hold_end(struct blob *b, bool complete)
{
    int err = NC_NOERR;
    if (b->hold.fd < 0) return NC_NOERR;
    b->hold.untouched = false;
    enum base_locked alone = base_lock_try(b->hold.fd, BASE_LOCK_PARTS, true);
    bool last = alone == BASE_LOCKED || (alone == BASE_LOCKLESS && b->makes);
    write_it *write = b->base.ds->undone ? write_page_quietly : write_master_page;
    change *how = complete && b->makes ? set_complete : set_ended;
    if (last) err = change_page_by(b, how, write);
    blob_hold_drop(b);
    return err;
}
