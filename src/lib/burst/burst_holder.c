/* Decides which process owns a log, by locks or by the record of its holder, and whether
 * a log is a copy. The two records in a log's head have checksums that detect a torn
 * record. */
#include "burst_holder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_number.h"
#include "base_require.h"
#include "base_sum.h"

/* Layout from burst_holder_at on: the file's inode, its creation time, and their
 * checksum; at HOLDER_AT the owner, these bits, and their checksum. */
enum { REPLAYS = 1, RELEASED = 2 };
enum { ORIGIN = 16, HOLDER_AT = 64, HOLDER = BASE_OWNER_BYTES + 8, SUM = 8 };

static void seal_record(unsigned char *bytes, size_t n, uint64_t token)
{
    uint64_t sum = base_sum(bytes, n, token);
    memcpy(bytes + n, &sum, sizeof sum);
}

static bool record_is_sealed(const unsigned char *bytes, size_t n, uint64_t token)
{
    uint64_t sum;
    memcpy(&sum, bytes + n, sizeof sum);
    return sum == base_sum(bytes, n, token);
}

/* ---- the identity of the file ---- */

static bool describe_origin(int fd, uint64_t origin[2])
{
    struct stat st;
    if (fstat(fd, &st) != 0) return false;
    origin[0] = (uint64_t)st.st_ino;
    origin[1] = base_fs_birth(fd);
    return true;
}

bool burst_holder_copied(int fd, const struct burst_header *h)
{
    unsigned char bytes[ORIGIN + SUM];
    uint64_t then[2], now[2];
    int64_t at = burst_holder_at(h);
    if (at == 0 || base_read_some(fd, at, bytes, sizeof bytes) != sizeof bytes ||
        !record_is_sealed(bytes, ORIGIN, h->token) || !base_fs_is_coherent(fd) ||
        !describe_origin(fd, now))
        return false;
    memcpy(then, bytes, sizeof then);
    return then[0] != now[0] || (then[1] != 0 && now[1] != 0 && then[1] != now[1]);
}

int burst_holder_adopt(int fd, const struct burst_header *h, const char *path)
{
    unsigned char bytes[ORIGIN + SUM];
    uint64_t origin[2];
    int64_t at = burst_holder_at(h);
    if (at == 0 || base_reads_only(fd)) return NC_NOERR;
    if (!describe_origin(fd, origin))
        return base_error_system(NC_EFILE, "examining", path);
    memcpy(bytes, origin, sizeof origin);
    seal_record(bytes, ORIGIN, h->token);
    return base_write_at(fd, at, bytes, sizeof bytes, path);
}

/* ---- the holder ---- */

static void encode(const struct burst_holder *holder, uint64_t token,
                   unsigned char bytes[HOLDER + SUM])
{
    const int64_t bits =
        (holder->replays ? REPLAYS : 0) | (holder->released ? RELEASED : 0);
    base_owner_encode(&holder->owner, bytes);
    memcpy(bytes + BASE_OWNER_BYTES, &bits, sizeof bits);
    seal_record(bytes, HOLDER, token);
}

void burst_holder_start(unsigned char *head, const struct burst_header *h, int fd)
{
    struct burst_holder holder = {.replays = false};
    uint64_t origin[2];
    unsigned char *at = head + burst_holder_at(h);
    if (describe_origin(fd, origin)) {
        memcpy(at, origin, sizeof origin);
        seal_record(at, ORIGIN, h->token);
    }
    base_owner_set(&holder.owner);
    encode(&holder, h->token, at + HOLDER_AT);
}

/* Reads the current holder of the log. Returns false if there is no valid record. */
static bool read_holder(int fd, const struct burst_header *h, struct burst_holder *holder)
{
    unsigned char bytes[HOLDER + SUM];
    int64_t bits, at = burst_holder_at(h);
    *holder = (struct burst_holder){.replays = false};
    if (at == 0 ||
        base_read_some(fd, at + HOLDER_AT, bytes, sizeof bytes) != sizeof bytes ||
        !record_is_sealed(bytes, HOLDER, h->token))
        return false;
    base_owner_decode(&holder->owner, bytes);
    memcpy(&bits, bytes + BASE_OWNER_BYTES, sizeof bits);
    holder->replays = (bits & REPLAYS) != 0;
    holder->released = (bits & RELEASED) != 0;
    return true;
}

static int write_holder(int fd, const struct burst_header *h,
                        const struct burst_holder *holder, const char *path)
{
    unsigned char bytes[HOLDER + SUM];
    base_require(burst_holder_at(h) > 0);
    encode(holder, h->token, bytes);
    return base_write_at(fd, burst_holder_at(h) + HOLDER_AT, bytes, sizeof bytes, path);
}

void burst_holder_release(int fd, const struct burst_header *h)
{
    struct burst_holder holder;
    struct base_error_note note;
    if (fd < 0 || !read_holder(fd, h, &holder) || !base_owner_is_self(&holder.owner))
        return;
    holder.released = true;
    base_error_save(&note);
    (void)write_holder(fd, h, &holder, "");
    base_error_restore(&note);
}

static const char *describe_holder(const struct burst_holder *holder, char text[256])
{
    char owner[160];
    snprintf(text, 256, "is being %s by %s", holder->replays ? "replayed" : "written",
             base_owner_describe(&holder->owner, owner));
    return text;
}

/* ---- exclusive access ----
 *
 * 1. A reader locks first the data log and then the metadata log, which the writer keeps
 *    locked while it lives. So a reader knows whether another reader or the writer has
 *    the log.
 * 2. The system releases the locks when their process ends.
 * 3. A holder also stores a record of itself in the log, so that others can name it in
 *    messages.
 * 4. If the file system has no locks, only the record decides. Then, whenever a reader
 *    reads values or writes a note, it checks that the record is still its own: it may
 *    have been stopped, and another reader may have been started to replay the log in its
 *    place. */

static enum base_locked lock_one(int fd)
{
    return fd < 0 ? BASE_LOCKED : base_lock_whole(fd, true);
}

enum base_locked burst_claim_lock(const struct burst_claim *c, int data_fd,
                                  enum burst_busy *busy)
{
    enum base_locked values = lock_one(data_fd);
    *busy = values == BASE_BUSY ? BURST_READ : BURST_FREE;
    if (values == BASE_BUSY) return values;
    enum base_locked entries = lock_one(c->fd);
    if (entries == BASE_BUSY) *busy = BURST_WRITTEN;
    return entries;
}

/* Returns the state according to the record. It is unknown whether a holder on another
 * host is alive. */
static enum burst_busy busy_by_record(const struct burst_holder *holder)
{
    if (holder->released) return BURST_FREE;
    switch (base_owner_alive(&holder->owner)) {
    case BASE_ALIVE:
        return holder->replays ? BURST_READ : BURST_WRITTEN;
    case BASE_ELSEWHERE:
        return BURST_UNSEEN;
    default:
        return BURST_FREE;
    }
}

static int report_busy(const struct burst_claim *c, const struct burst_holder *holder,
                       enum burst_busy busy)
{
    char text[256] = "is in use by another program";
    if (holder != NULL) describe_holder(holder, text);
    return base_error_set(
        NC_EFILE, "%s %s%s", c->path, text,
        busy == BURST_UNSEEN
            ? ", which cannot be checked from here, as the file system has no locks; if "
              "that process has ended, run ncmpilog replay -f"
            : "");
}

/* Writes the record of this process, unless there is no space for it or the log is
 * read-only. Two readers that start at the same time both find no holder. The log belongs
 * to the one that wrote its record last; the other one sees that after a short sleep. */
static int write_claim(struct burst_claim *c)
{
    c->holder = (struct burst_holder){.replays = true};
    if (burst_holder_at(c->header) == 0 || base_reads_only(c->fd)) return NC_NOERR;
    base_owner_set(&c->holder.owner);
    int err = write_holder(c->fd, c->header, &c->holder, c->path);
    if (err != NC_NOERR || !c->lockless) return err;
    err = base_sync_data(c->fd, c->path);
    base_sleep_us(50000);
    return err;
}

bool burst_claim_is_lockless(const struct burst_claim *c)
{
    return c->lockless && c->holder.owner.nonce != 0;
}

int burst_claim_check(const struct burst_claim *c)
{
    struct burst_holder now;
    char text[256];
    if (!burst_claim_is_lockless(c)) return NC_NOERR;
    if (!read_holder(c->fd, c->header, &now))
        return base_error_set(NC_EFILE, "%s: the record of its owner cannot be read",
                              c->path);
    if (now.owner.nonce == c->holder.owner.nonce) return NC_NOERR;
    return base_error_set(
        NC_EFILE, "%s %s, which has taken over the log; this process stops replaying it",
        c->path, describe_holder(&now, text));
}

int burst_claim_decide(struct burst_claim *c, enum base_locked locked, bool seize,
                       int err, enum burst_busy *busy)
{
    struct burst_holder holder;
    bool found = err == NC_NOERR && read_holder(c->fd, c->header, &holder);
    if (locked == BASE_LOCKLESS && found) *busy = busy_by_record(&holder);
    if (*busy == BURST_UNSEEN && seize) *busy = BURST_FREE;
    if (*busy != BURST_FREE) return report_busy(c, found ? &holder : NULL, *busy);
    c->lockless = locked == BASE_LOCKLESS;
    if (err == NC_NOERR) err = write_claim(c);
    return err == NC_NOERR ? burst_claim_check(c) : err;
}
