/* Manages a journal's ownership: the owner's record, its claim to the dataset's layout,
 * and the check before each write that no other process has taken over. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "journal_impl.h"

static const int64_t LEASE_OFFSET = JOURNAL_RECORD_PAGE * (int64_t)JOURNAL_PAGE;

int journal_write_record(struct journal *j)
{
    unsigned char page[JOURNAL_PAGE];
    base_require(!j->lost);
    base_require(j->lease.owner.nonce != 0);
    journal_encode_record(&j->lease, page);
    int err = base_write_at(j->fd, LEASE_OFFSET, page, sizeof page, j->path);
    return err == NC_NOERR ? base_sync_data(j->fd, j->path) : err;
}

bool journal_read_record(int fd, struct journal_record *h)
{
    unsigned char page[JOURNAL_PAGE];
    return base_fs_refresh(fd) && /* another process may have written it moments ago */
           base_read_some(fd, LEASE_OFFSET, page, sizeof page) == sizeof page &&
           journal_decode_record(h, page);
}

static int report_journal_lost(struct journal *j, const struct journal_record *by)
{
    char who[160] = "another process";
    j->lost = j->pending = true;
    if (by != NULL) (void)base_owner_describe(&by->owner, who);
    return base_error_set(
        NC_EFILE,
        "%s: %s has taken over its redefinition, and this process can no "
        "longer write to it; close the dataset and open it again",
        j->dataset_path, who);
}

int journal_check(struct journal *j)
{
    struct journal_record now;
    struct stat st;
    if (base_violations() != j->violations) return base_refuse_after_violation();
    if (j->fd < 0) return j->lost ? report_journal_lost(j, NULL) : NC_NOERR;
    if (fstat(j->fd, &st) != 0) return base_error_system(NC_EFILE, "examining", j->path);
    if (j->lost || st.st_nlink == 0) return report_journal_lost(j, NULL);
    if (!j->written) return NC_NOERR; /* not created yet, so there is no record */
    if (!journal_read_record(j->fd, &now))
        return base_error_set(NC_EREAD, "%s: the record of its owner cannot be read",
                              j->path);
    return now.owner.nonce == j->lease.owner.nonce ? NC_NOERR
                                                   : report_journal_lost(j, &now);
}

static int join_once(struct journal *j)
{
    const char *why;
    if (stat(j->dataset_path, &j->model) != 0)
        j->model = (struct stat){.st_uid = geteuid()};
    j->fd = journal_open_trusted(j->path, O_RDWR, &j->model, &why);
    if (j->fd < 0) return base_error_set(NC_EFILE, "%s: %s", j->path, why);
    j->written = true;
    /* Cannot fail: no process locks the journal exclusively while the job's first process
     * has the dataset's lock. */
    (void)base_lock_try(j->fd, BASE_LOCK_MOVERS, false);
    return journal_check(j);
}

/* Retry, because the node may still have cached an earlier journal with that name. */
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

int journal_mark(struct journal *j)
{
    unsigned char mark[JOURNAL_MARK];
    int err = journal_check(j);
    if (err != NC_NOERR) return err;
    base_require(j->written);
    base_require(j->state.phase != JOURNAL_NONE);
    uint64_t name = j->lease.owner.nonce + (uint64_t)j->state.serial;
    journal_encode_mark(j->head[3], name, mark);
    err = base_write_at(j->file, j->base, mark, sizeof mark, j->dataset_path);
    j->marked |= err == NC_NOERR;
    return err;
}

/* ---- the claim ---- */

enum base_locked journal_lock(const struct journal *j, bool alone)
{
    return j->guard < 0 ? BASE_LOCKLESS
                        : base_lock_try(j->guard, BASE_LOCK_LAYOUT, alone);
}

int journal_claim(struct journal *j)
{
    if (journal_lock(j, true) == BASE_BUSY)
        return base_error_set(NC_EFILE,
                              "%s: cannot redefine: another program, or another open "
                              "dataset in this program, has it open for writing",
                              j->dataset_path);
    base_owner_set(&j->lease.owner);
    j->claimed = true;
    return NC_NOERR;
}

void journal_release(struct journal *j)
{
    if (!j->claimed) return;
    if (j->fd >= 0 && !j->ended && j->written && journal_check(j) == NC_NOERR) {
        j->lease.released = true;
        (void)journal_write_record(j);
    }
    (void)journal_lock(j, false);
    j->claimed = false;
}

void journal_free(struct journal *j)
{
    journal_release(j);
    if (j->fd >= 0) close(j->fd);
    if (j->file >= 0) close(j->file);
    base_free(j->path);
    base_free(j->dataset_path);
    *j = (struct journal){.fd = -1, .file = -1, .guard = -1};
}
