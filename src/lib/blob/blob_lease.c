/* Acquires, checks and releases the lease on a dataset in subfiles (see blob_lease.h). */
#include "blob_lease.h"

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
#include "base_number.h"
#include "base_require.h"
#include "subfile_digest.h"

_Static_assert((int)CDF_OWNER == (int)BASE_OWNER_BYTES,
               "CDF_OWNER must equal BASE_OWNER_BYTES");

/* ---- the record ---- */

/* Reports which process is using the dataset. Returns NC_EFILE. */
static int report_owner(const char *path, const struct cdf_superblock *page,
                        const char *advice)
{
    static const char *const what[] = {"being joined into one file", "open for writing",
                                       "being compacted", "being deleted"};
    const size_t purposes = sizeof what / sizeof what[0];
    struct base_owner o;
    char who[160];
    base_owner_decode(&o, page->owner);
    return base_error_set(NC_EFILE, "%s is %s by %s; %s", path,
                          (size_t)page->purpose < purposes ? what[page->purpose]
                                                           : "in use",
                          base_owner_describe(&o, who), advice);
}

/* Returns whether the record names an owner that is not known to be dead. */
static bool has_living_owner(const unsigned char *record)
{
    struct base_owner o;
    base_owner_decode(&o, record);
    return !base_is_zero(record, BASE_OWNER_BYTES) && base_owner_alive(&o) != BASE_DEAD;
}

typedef enum base_locked lock_function(int fd, enum base_lock_place place,
                                       bool exclusive);

/* Locks the master, or checks whether it could be locked. If another process has the
 * lock, waits until the page names a living owner or the lock is free: that process may
 * not have written its record yet, or may have cleared it and be about to release the
 * lock. */
static int lock_master(int fd, const char *path, lock_function *lock,
                       enum base_locked *locked)
{
    enum { TRIES = 200 };
    struct cdf_superblock page;
    for (int i = 0; i < TRIES; i++) {
        *locked = lock(fd, BASE_LOCK_PARTS, true);
        if (*locked != BASE_BUSY) return NC_NOERR;
        int err = subfile_read_page(fd, path, &page);
        if (err == NC_NOERR && has_living_owner(page.owner))
            return report_owner(path, &page, "try again when that process has finished");
        base_sleep_us(5000);
    }
    return base_error_set(
        NC_EFILE,
        "%s: another job has it open for writing, or is joining, compacting or deleting "
        "it; try again when that job has finished",
        path);
}

/* ---- taking over ---- */

/* Returns whether the master remains unchanged for two seconds. On some mounts,
 * refreshing a file's cached attributes changes its modification time (base_fs_refresh).
 * So the times are compared before each refresh, and read again after it. */
static bool is_unchanged(const struct blob_lease *l)
{
    enum { TURNS = 20 };
    struct stat then = {0}, now;
    uint64_t before = 0, hash = 0;
    for (int i = 0; i <= TURNS; i++, before = hash) {
        unsigned char page[CDF_SUPERBLOCK] = {0};
        if (i > 0) base_sleep_us(100000);
        if (base_fs_stat(l->path, &now) != 0) return false;
        bool same = base_same_file(&now, &then) && now.st_size == then.st_size &&
                    base_nanoseconds(now.st_mtim) == base_nanoseconds(then.st_mtim);
        int64_t n =
            base_fs_refresh(l->fd) ? base_read_some(l->fd, 0, page, sizeof page) : -1;
        hash = base_hash(page, sizeof page, (uint64_t)n);
        if (n < 0 || base_fs_stat(l->path, &then) != 0) return false;
        if (i > 0 && (!same || hash != before)) return false;
    }
    return true;
}

/* Checks whether the record may be replaced. Caller must hold the lock, unless the file
 * system has no locks. */
static int check_record(const struct blob_lease *l, const struct cdf_superblock *page)
{
    struct base_owner o;
    if (base_is_zero(page->owner, sizeof page->owner)) return NC_NOERR;
    base_owner_decode(&o, page->owner);
    enum base_alive alive = base_owner_alive(&o);
    bool mine = l->locked && base_owner_is_self(&o); /* left by this process */
    if (alive == BASE_ALIVE && !mine)
        return report_owner(l->path, page, "try again when that process has finished");
    if (alive == BASE_ELSEWHERE && !l->locked)
        return report_owner(
            l->path, page,
            "the file system has no locks, so this host cannot check whether that "
            "process has ended; if it has, open the dataset for writing on that host");
    if (alive == BASE_ELSEWHERE && !is_unchanged(l))
        return report_owner(l->path, page, "it was modified a few seconds ago");
    /* The processes of a killed job do not all end at the same time. */
    for (int i = 0; i < 40 && base_lock_busy(l->fd, BASE_LOCK_WRITERS); i++)
        base_sleep_us(50000);
    if (base_lock_busy(l->fd, BASE_LOCK_WRITERS))
        return report_owner(l->path, page,
                            "that process has ended, but other processes of its job may "
                            "still be writing");
    return NC_NOERR;
}

/* Writes the page with this job's record, and checks that the record stays. Without
 * locks, other processes may have found the same dead owner and may overwrite the record,
 * so waits before the check. */
static int write_first_record(struct blob_lease *l, const struct cdf_superblock *page,
                              bool quietly)
{
    int err = blob_lease_write(l, page, quietly);
    if (err == NC_NOERR && !l->locked) base_sleep_us(500000);
    return err == NC_NOERR ? blob_lease_check(l) : err;
}

/* ---- acquiring ---- */

struct blob_lease *blob_lease_share(const char *path, const unsigned char *record)
{
    struct blob_lease *l = base_calloc(1, sizeof *l);
    if (l == NULL) return NULL;
    memcpy(l->record, record, sizeof l->record);
    l->fd = -1;
    l->path = base_strdup(path);
    if (l->path != NULL) return l;
    base_free(l);
    return NULL;
}

static void free_lease(struct blob_lease *l)
{
    /* A child process may have inherited the descriptor, so closing it may not unlock. */
    if (l->fd >= 0)
        base_lock_release(l->fd, l->owner ? BASE_LOCK_PARTS : BASE_LOCK_WRITERS);
    if (l->fd >= 0) (void)close(l->fd);
    base_free(l->path);
    base_free(l);
}

/* Reads the first page. Sets *is to whether the file has one; a file that is just being
 * created does not. */
static int read_master_page(int fd, const char *path, bool *is,
                            struct cdf_superblock *page)
{
    unsigned char first[8];
    int64_t n = base_fs_refresh(fd) ? base_read_some(fd, 0, first, sizeof first) : -1;
    if (n < 0) return base_error_system(NC_EREAD, "reading", path);
    *is = cdf_is_superblock(first, (size_t)n);
    return *is ? subfile_read_page(fd, path, page) : NC_NOERR;
}

/* Returns whether the locked file still has its name and is the one that the caller has
 * open. It may have been replaced before the lock was acquired. */
static bool is_named(const struct blob_lease *l, int fd)
{
    struct stat locked, named, open;
    return fstat(l->fd, &locked) == 0 && stat(l->path, &named) == 0 &&
           base_same_file(&locked, &named) &&
           (fd < 0 || (fstat(fd, &open) == 0 && base_same_file(&locked, &open)));
}

static int acquire_lease(struct blob_lease *l, int fd, bool anew, bool *has)
{
    struct cdf_superblock page;
    bool is = false;
    l->fd = base_open(l->path, O_RDWR);
    if (l->fd < 0) return base_error_system(NC_EFILE, "opening", l->path);
    enum base_locked locked;
    int err = lock_master(l->fd, l->path, base_lock_try, &locked);
    l->locked = locked == BASE_LOCKED;
    if (err == NC_NOERR && !is_named(l, fd)) err = base_refuse_other_file(l->path);
    if (err == NC_NOERR) err = read_master_page(l->fd, l->path, &is, &page);
    *has = is || anew;
    if (err != NC_NOERR || !is) return err;
    err = check_record(l, &page);
    if (err != NC_NOERR) return err;
    memcpy(l->before, page.owner, sizeof l->before);
    l->purpose_before = page.purpose;
    return write_first_record(l, &page, true);
}

int blob_lease_acquire(const char *path, int fd, enum cdf_purpose purpose, bool anew,
                       struct blob_lease **lease)
{
    struct base_owner me;
    unsigned char record[BASE_OWNER_BYTES];
    bool has = false;
    *lease = NULL;
    base_owner_set(&me);
    base_owner_encode(&me, record);
    struct blob_lease *l = blob_lease_share(path, record);
    if (l == NULL) return NC_ENOMEM;
    l->purpose = purpose;
    l->owner = true;
    int err = acquire_lease(l, fd, anew, &has);
    if (err == NC_NOERR && has)
        *lease = l;
    else
        free_lease(l);
    return err;
}

int blob_lease_look(const char *path)
{
    struct cdf_superblock page;
    struct blob_lease l = {.path = (char *)path, .fd = base_open(path, O_RDONLY)};
    bool is = false;
    if (l.fd < 0) return base_error_system(NC_EFILE, "opening", path);
    enum base_locked locked;
    int err = lock_master(l.fd, path, base_lock_test, &locked);
    l.locked = locked == BASE_LOCKED;
    if (err == NC_NOERR) err = read_master_page(l.fd, path, &is, &page);
    if (err == NC_NOERR && is) err = check_record(&l, &page);
    (void)close(l.fd);
    return err;
}

bool blob_lease_is_held(int fd)
{
    unsigned char record[BASE_OWNER_BYTES] = {0};
    enum base_locked locked = base_lock_test(fd, BASE_LOCK_PARTS, true);
    if (locked != BASE_LOCKLESS) return locked == BASE_BUSY;
    return base_read_some(fd, CDF_OWNER_AT, record, sizeof record) > 0 &&
           has_living_owner(record);
}

/* ---- verifying ---- */

static int report_lost(struct blob_lease *l, const unsigned char *record)
{
    struct base_owner o;
    char who[160] = "another job";
    l->lost = true;
    if (!base_is_zero(record, BASE_OWNER_BYTES)) {
        base_owner_decode(&o, record);
        (void)base_owner_describe(&o, who);
    }
    return base_error_set(
        NC_EFILE,
        "%s: this job has lost its lease on it to %s, and can no longer "
        "write to it; close the dataset and open it again",
        l->path, who);
}

/* Opens the master when a process that shares the lease writes for the first time.
 * Retries, because on some mounts the name appears late. */
static int open_shared(struct blob_lease *l)
{
    int turn = 0;
    while ((l->fd = base_open(l->path, O_RDWR)) < 0)
        if (!base_fs_await_name(l->path, &turn))
            return base_error_system(NC_EFILE, "opening", l->path);
    /* A node with a write-back cache may have cached a smaller size, so that the record
     * would be missing. */
    if (base_fs_bypasses_cache(l->fd) && !base_fs_set_known_size(l->fd, CDF_SUPERBLOCK)) {
        int err = base_error_system(NC_EREAD, "getting the size of", l->path);
        (void)close(l->fd);
        l->fd = -1;
        return err;
    }
    (void)base_lock_try(l->fd, BASE_LOCK_WRITERS, false);
    return NC_NOERR;
}

int blob_lease_check(struct blob_lease *l)
{
    unsigned char record[BASE_OWNER_BYTES] = {0};
    if (l->lost) return report_lost(l, record);
    int err = l->fd < 0 ? open_shared(l) : NC_NOERR;
    if (err != NC_NOERR) return err;
    int64_t n = base_fs_refresh(l->fd)
                    ? base_read_some(l->fd, CDF_OWNER_AT, record, sizeof record)
                    : -1;
    if (n < 0) return base_error_system(NC_EREAD, "reading", l->path);
    if (memcmp(record, l->record, sizeof record) != 0) return report_lost(l, record);
    l->checked = base_now(CLOCK_MONOTONIC) + 1; /* so that it is never 0 */
    return NC_NOERR;
}

int blob_lease_check_soon(struct blob_lease *l)
{
    const int64_t most = 100000000; /* 0.1 s */
    bool fresh = !l->lost && base_now(CLOCK_MONOTONIC) - l->checked < most;
    return fresh && l->checked != 0 ? NC_NOERR : blob_lease_check(l);
}

/* ---- the page ---- */

static int write_record_page(struct blob_lease *l, const struct cdf_superblock *page,
                             bool quietly)
{
    unsigned char bytes[CDF_SUPERBLOCK];
    struct stat st;
    bool known = quietly && fstat(l->fd, &st) == 0;
    cdf_encode_superblock(page, bytes);
    int err = base_write_at(l->fd, 0, bytes, sizeof bytes, l->path);
    if (known) { /* restored even after an error, because a part may have been written */
        const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, st.st_mtim};
        (void)!futimens(l->fd, times);
    }
    return err;
}

int blob_lease_write(struct blob_lease *l, const struct cdf_superblock *page,
                     bool quietly)
{
    struct cdf_superblock mine = *page;
    base_require(l->owner && l->fd >= 0);
    int err = l->checked != 0 ? blob_lease_check(l) : NC_NOERR;
    if (err != NC_NOERR) return err;
    memcpy(mine.owner, l->record, sizeof mine.owner);
    mine.purpose = l->purpose;
    return write_record_page(l, &mine, quietly);
}

int blob_lease_begin(struct blob_lease *l, const struct cdf_superblock *page)
{
    l->checked = 0; /* emptying the file has removed the record */
    return write_first_record(l, page, false);
}

int blob_lease_renew(struct blob_lease *l, enum cdf_purpose purpose)
{
    struct cdf_superblock page;
    int err = blob_lease_check(l);
    if (err == NC_NOERR) err = subfile_read_page(l->fd, l->path, &page);
    l->purpose = purpose;
    return err == NC_NOERR ? blob_lease_write(l, &page, true) : err;
}

/* ---- releasing ---- */

int blob_lease_release(struct blob_lease *l, const struct cdf_superblock *page,
                       bool quietly)
{
    struct cdf_superblock last;
    int err = NC_NOERR;
    if (l == NULL) return NC_NOERR;
    if (l->owner && l->checked != 0 && !l->lost) {
        err = blob_lease_check(l);
        if (err == NC_NOERR && page == NULL)
            err = subfile_read_page(l->fd, l->path, &last);
        if (page == NULL) {
            memcpy(last.owner, l->before, sizeof last.owner);
            last.purpose = l->purpose_before;
        } else {
            last = *page;
            memset(last.owner, 0, sizeof last.owner);
            last.purpose = CDF_JOINS;
        }
        if (err == NC_NOERR) err = write_record_page(l, &last, quietly);
    }
    free_lease(l);
    return err;
}
