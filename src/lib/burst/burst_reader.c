/* Reads logs. Input is untrusted: every entry is validated before it is used. */
#include "burst_reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "burst_sum.h"

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "burst_holder.h"
#include "burst_log.h"

struct burst_reader {
    char *meta_path, *data_path;
    int meta_fd, data_fd;
    unsigned char *meta;
    size_t meta_size;
    struct burst_header header;
    struct burst_slot *slots; /* those that hold; the others have generation -1 */
    struct burst_note *notes; /* of the same processes; serial 0: none holds */
    bool *open;               /* of those, only an old copy may hold: there can be more */
    int64_t *seen;            /* entries met, of each slot */
    int64_t at, nread;        /* the next entry, and how many were read */
    void *aligned;            /* a copy of the last entry of version 0 */
    struct burst_holder holder; /* this reader, if it has the log alone; else all zero */
    bool watched;               /* no lock keeps others from taking it over */
};

/* ---- having it alone ----
 *
 * A reader locks the values first and then the entries, which the writer has locked as
 * long as it lives: so each knows whom it met. The locks go with their process. In the
 * log each one also leaves a record of itself (burst_holder.h), which others tell the
 * user about. Where a file system has no locks that record alone decides; there a reader
 * also looks whether it is still its own whenever it reads values or notes something: it
 * may have been stopped, and another one sent to replay the log in its place. */

static enum base_locked lock_one(int fd)
{
    return fd < 0 ? BASE_LOCKED : base_lock_whole(fd, true);
}

static enum base_locked lock_files(const struct burst_reader *r, enum burst_busy *busy)
{
    enum base_locked values = lock_one(r->data_fd);
    *busy = values == BASE_BUSY ? BURST_READ : BURST_FREE;
    if (values == BASE_BUSY) return values;
    enum base_locked entries = lock_one(r->meta_fd);
    if (entries == BASE_BUSY) *busy = BURST_WRITTEN;
    return entries;
}

/* As the record tells it: of a holder that is on another host nothing is known. */
static enum burst_busy busy_by_record(const struct burst_holder *who)
{
    if (who->released) return BURST_FREE;
    switch (base_owner_alive(&who->owner)) {
    case BASE_ALIVE:
        return who->replays ? BURST_READ : BURST_WRITTEN;
    case BASE_ELSEWHERE:
        return BURST_UNSEEN;
    default:
        return BURST_FREE;
    }
}

static int tell_log_busy(const struct burst_reader *r, const struct burst_holder *who,
                         enum burst_busy busy)
{
    char words[256] = "is in use by another program";
    if (who != NULL) burst_holder_words(who, words);
    return base_error_set(
        NC_EFILE, "%s %s%s", r->meta_path, words,
        busy == BURST_UNSEEN ? ", which cannot be seen from here, as the file system has "
                               "no locks: if that has ended, ncmpilog replay -f"
                             : "");
}

/* Two that come at the same time both find no holder; the one that wrote its record later
 * has the log, and the other one sees that after a moment. */
static int take_log(struct burst_reader *r)
{
    static const struct timespec moment = {0, 50000000};
    int err = burst_holder_take(r->meta_fd, &r->header, &r->holder, r->meta_path);
    if (err != NC_NOERR || !r->watched) return err;
    err = base_sync_data(r->meta_fd, r->meta_path);
    (void)nanosleep(&moment, NULL);
    return err;
}

bool burst_reader_watched(const struct burst_reader *r)
{
    return r->watched && r->holder.owner.nonce != 0;
}

int burst_reader_check_mine(const struct burst_reader *r)
{
    struct burst_holder now;
    char words[256];
    if (!burst_reader_watched(r)) return NC_NOERR;
    if (!burst_holder_read(r->meta_fd, &r->header, &now))
        return base_error_set(NC_EFILE, "%s: the record of its holder cannot be read",
                              r->meta_path);
    if (now.owner.nonce == r->holder.owner.nonce) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s %s, which has taken it over: nothing more of it is written "
                          "by this process",
                          r->meta_path, burst_holder_words(&now, words));
}

/* Decides, now that the head is known (or is not: err), whether this reader has the log.
 */
static int decide_holder(struct burst_reader *r, enum base_locked met, bool seize,
                         int err, enum burst_busy *busy)
{
    struct burst_holder who;
    bool known = err == NC_NOERR && burst_holder_read(r->meta_fd, &r->header, &who);
    if (met == BASE_LOCKLESS && known) *busy = busy_by_record(&who);
    if (*busy == BURST_UNSEEN && seize) *busy = BURST_FREE;
    if (*busy != BURST_FREE) return tell_log_busy(r, known ? &who : NULL, *busy);
    r->watched = met == BASE_LOCKLESS;
    if (err == NC_NOERR) err = take_log(r);
    return err == NC_NOERR ? burst_reader_check_mine(r) : err;
}

/* Another reader may have removed it while this one came to the lock. */
static int look_again(const struct burst_reader *r)
{
    struct stat open, named;
    if (fstat(r->meta_fd, &open) != 0 || lstat(r->meta_path, &named) != 0 ||
        open.st_ino != named.st_ino || open.st_dev != named.st_dev)
        return base_error_set(NC_ENOENT, "%s is gone", r->meta_path);
    return NC_NOERR;
}

static int open_files(struct burst_reader *r, const char *meta_path, int how)
{
    size_t length = strlen(meta_path);
    bool anybody = how & BURST_READ_ANYBODYS;
    r->meta_path = base_strdup(meta_path);
    r->data_path = base_strdup(meta_path);
    if (r->meta_path == NULL || r->data_path == NULL) return NC_ENOMEM;
    if (length < 5 || strcmp(meta_path + length - 5, ".meta") != 0)
        return base_error_set(
            NC_EBADLOG, "%s is no metadata log: its name ends otherwise", meta_path);
    memcpy(r->data_path + length - 5, ".data", 5);
    r->meta_fd = burst_open_own(meta_path, anybody);
    if (r->meta_fd < 0) return base_error_system(NC_EFILE, "opening", meta_path);
    r->data_fd = burst_open_own(r->data_path, anybody);
    if (r->data_fd >= 0 || errno == ENOENT) return NC_NOERR; /* missed when it is read */
    return base_error_system(NC_EFILE, "opening", r->data_path);
}

/* Where nodes keep pages for themselves a mapping is of these, whatever the descriptor
 * goes around: then it is memory, and the log is read into it. */
static int map(struct burst_reader *r)
{
    struct stat st;
    if (fstat(r->meta_fd, &st) != 0)
        return base_error_system(NC_EREAD, "reading", r->meta_path);
    r->meta_size = (size_t)st.st_size;
    if (r->meta_size == 0) return base_error_set(NC_EBADLOG, "%s is empty", r->meta_path);
    bool around = base_fs_goes_around(r->meta_fd);
    int access = around ? PROT_READ | PROT_WRITE : PROT_READ;
    void *p = mmap(NULL, r->meta_size, access, MAP_PRIVATE | (around ? MAP_ANONYMOUS : 0),
                   around ? -1 : r->meta_fd, 0);
    if (p == MAP_FAILED) return base_error_system(NC_EREAD, "mapping", r->meta_path);
    r->meta = p;
    if (!around) return NC_NOERR;
    return base_read_at(r->meta_fd, 0, p, st.st_size, r->meta_path);
}

/* Processes start a new generation when everything is in the file, all of them: those
 * that had not come to it yet when they were killed have nothing left to replay. */
static void pass_over_old(struct burst_reader *r)
{
    int64_t newest = 0;
    for (int64_t i = 0; i < r->header.nslots; i++)
        if (r->slots[i].generation > newest) newest = r->slots[i].generation;
    for (int64_t i = 0; i < r->header.nslots; i++) {
        struct burst_slot *s = &r->slots[i];
        if (s->generation < 0 || s->generation == newest) continue;
        /* Of the new generation, so that nobody counts its entries of the old one. */
        *s = (struct burst_slot){.rank = s->rank, .generation = newest};
        r->open[i] = false;
    }
}

enum { NOTES_AT = BURST_SLOT_COPIES * BURST_SLOT_BYTES };

static int read_slots(struct burst_reader *r)
{
    const struct burst_header *h = &r->header;
    int64_t bytes = BURST_SLOT_STRIDE, good = 0;
    if (h->nslots < 1 || h->chunk < 64 || h->slots_begin > (int64_t)r->meta_size ||
        h->entry_begin > (int64_t)r->meta_size ||
        h->nslots > (h->entry_begin - h->slots_begin) / bytes)
        return base_error_set(NC_EBADLOG, "%s is shorter than its header says",
                              r->meta_path);
    r->slots = base_calloc((size_t)h->nslots, sizeof *r->slots);
    r->seen = base_calloc((size_t)h->nslots, sizeof *r->seen);
    r->open = base_calloc((size_t)h->nslots, sizeof *r->open);
    r->notes = base_calloc((size_t)h->nslots, sizeof *r->notes);
    if (r->slots == NULL || r->seen == NULL || r->open == NULL || r->notes == NULL)
        return NC_ENOMEM;
    for (int64_t i = 0; i < h->nslots; i++) {
        const unsigned char *at = r->meta + h->slots_begin + i * bytes;
        int copies = burst_decode_slot(at, h->token, &r->slots[i]);
        if (burst_decode_note(at + NOTES_AT, h->token, &r->notes[i]) < 2)
            r->notes[i].changing = 1; /* the later one may be lost */
        good += copies > 0;
        r->open[i] = copies == 1;
        if (copies == 0) r->slots[i].generation = -1;
    }
    pass_over_old(r);
    if (good == h->nslots) return NC_NOERR;
    return base_error_set(NC_EBADLOG, "%s: the checksum of a commit record is wrong",
                          r->meta_path);
}

/* The head is read behind the lock: a writer that still lived before it may have added to
 * the log. */
static int read_log(struct burst_reader *r, int how, enum burst_busy *busy)
{
    bool lock = how & BURST_READ_LOCK;
    enum base_locked met = lock ? lock_files(r, busy) : BASE_LOCKED;
    int err = map(r);
    if (err == NC_NOERR) err = burst_decode_header(&r->header, r->meta, r->meta_size);
    if (lock) err = decide_holder(r, met, how & BURST_READ_SEIZE, err, busy);
    if (lock && err == NC_NOERR) err = look_again(r);
    if (err == NC_NOERR && r->header.version == 1) err = read_slots(r);
    return err;
}

int burst_reader_open(const char *meta_path, int how, struct burst_reader **out,
                      enum burst_busy *busy)
{
    enum burst_busy unused;
    struct burst_reader *r = base_calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL) return NC_ENOMEM;
    r->meta_fd = r->data_fd = -1;
    if (busy == NULL) busy = &unused;
    *busy = BURST_FREE;
    int err = open_files(r, meta_path, how);
    if (err == NC_NOERR) err = read_log(r, how, busy);
    if (err != NC_NOERR) {
        burst_reader_close(r);
        return err;
    }
    burst_reader_rewind(r);
    *out = r;
    return NC_NOERR;
}

void burst_reader_close(struct burst_reader *r)
{
    if (r == NULL) return;
    if (r->meta != NULL) munmap(r->meta, r->meta_size);
    if (burst_reader_watched(r)) burst_holder_release(r->meta_fd, &r->header);
    if (r->meta_fd >= 0) close(r->meta_fd);
    if (r->data_fd >= 0) close(r->data_fd);
    base_free(r->meta_path);
    base_free(r->data_path);
    base_free(r->slots);
    base_free(r->notes);
    base_free(r->seen);
    base_free(r->open);
    base_free(r->aligned);
    base_free(r);
}

int burst_reader_remove(struct burst_reader *r)
{
    int err = burst_reader_check_mine(r);
    if (err == NC_NOERR) burst_remove(r->meta_path, true);
    return err;
}

bool burst_reader_copied(const struct burst_reader *r)
{
    return burst_holder_copied(r->meta_fd, &r->header);
}

int burst_reader_adopt(struct burst_reader *r)
{
    if (!burst_reader_copied(r)) return NC_NOERR;
    int err = burst_reader_check_mine(r);
    return err == NC_NOERR ? burst_holder_adopt(r->meta_fd, &r->header, r->meta_path)
                           : err;
}

const struct burst_header *burst_reader_header(const struct burst_reader *r)
{
    return &r->header;
}

const char *burst_reader_path(const struct burst_reader *r)
{
    return r->meta_path;
}

void burst_reader_counts(const struct burst_reader *r, int64_t *count, int64_t *drained,
                         int64_t *generation)
{
    *count = r->header.version == 0 ? r->header.num_entries : 0;
    *drained = *generation = 0;
    if (r->header.version == 0) return;
    for (int64_t i = 0; i < r->header.nslots; i++) {
        *count += r->slots[i].count;
        *drained += r->slots[i].drained;
        if (r->slots[i].generation > *generation) *generation = r->slots[i].generation;
    }
}

bool burst_reader_fits(const struct burst_reader *r, uint64_t definitions)
{
    for (int64_t i = 0; r->header.version == 1 && i < r->header.nslots; i++)
        if (r->slots[i].count > r->slots[i].drained &&
            r->slots[i].definitions != definitions)
            return false;
    return true;
}

int64_t burst_reader_rank(const struct burst_reader *r, int64_t i)
{
    if (r->header.version == 0) return i == 0 ? r->header.rank_id : -1;
    return i < r->header.nslots ? r->slots[i].rank : -1;
}

void burst_reader_rewind(struct burst_reader *r)
{
    r->at = r->header.entry_begin;
    r->nread = 0;
    for (int64_t i = 0; r->header.version == 1 && i < r->header.nslots; i++)
        r->seen[i] = 0;
}

/* ---- entries ---- */

static int next_of_version_0(struct burst_reader *r, struct burst_entry *e, bool *more)
{
    int64_t size = 0;
    *more = false;
    if (r->nread == r->header.num_entries) return NC_NOERR;
    int64_t rest = (int64_t)r->meta_size - r->at;
    if (rest >= (int64_t)sizeof size) memcpy(&size, r->meta + r->at, sizeof size);
    if (rest < (int64_t)sizeof size || size < (int64_t)sizeof size || size > rest)
        return base_error_set(NC_EBADLOG, "%s: entry %lld of %lld is broken or missing",
                              r->meta_path, (long long)r->nread,
                              (long long)r->header.num_entries);
    base_free(r->aligned); /* names may leave entries at any multiple of 4 */
    r->aligned = base_malloc((size_t)size);
    if (r->aligned == NULL) return NC_ENOMEM;
    memcpy(r->aligned, r->meta + r->at, (size_t)size);
    int err = burst_decode_entry0(e, r->aligned, (size_t)size);
    if (err != NC_NOERR) return err;
    e->seq = r->nread++;
    e->rank = r->header.rank_id;
    r->at += size;
    *more = true;
    return NC_NOERR;
}

/* The slot of the process whose entry may be at r->at; -1 if there is none. */
static int64_t slot_here(const struct burst_reader *r)
{
    int64_t rank = burst_entry_rank(r->meta + r->at, r->meta_size - (size_t)r->at);
    for (int64_t i = 0; rank >= 0 && i < r->header.nslots; i++)
        if (r->slots[i].rank == rank && (r->open[i] || r->seen[i] < r->slots[i].count))
            return i;
    return -1;
}

static int next_of_version_1(struct burst_reader *r, bool all, struct burst_entry *e,
                             bool *more)
{
    const struct burst_header *h = &r->header;
    *more = true;
    while (r->at < (int64_t)r->meta_size) {
        int64_t i = slot_here(r);
        if (i >= 0 && burst_decode_entry(e, r->meta + r->at, r->meta_size - (size_t)r->at,
                                         h->token, r->slots[i].generation, r->at)) {
            r->at += e->size;
            r->nread++;
            if (++r->seen[i] > r->slots[i].drained || all) return NC_NOERR;
        } else { /* the rest of a chunk is nobody's */
            r->at = h->entry_begin + ((r->at - h->entry_begin) / h->chunk + 1) * h->chunk;
        }
    }
    *more = false;
    return NC_NOERR;
}

int burst_reader_next(struct burst_reader *r, bool all, struct burst_entry *e, bool *more)
{
    if (r->header.version == 0) return next_of_version_0(r, e, more);
    return next_of_version_1(r, all, e, more);
}

int burst_reader_complete(const struct burst_reader *r)
{
    if (r->header.version == 0) return NC_NOERR;
    for (int64_t i = 0; i < r->header.nslots; i++)
        if (r->seen[i] < r->slots[i].count)
            return base_error_set(
                NC_EBADLOG,
                "%s: of process %lld's %lld entries %lld are broken or missing",
                r->meta_path, (long long)r->slots[i].rank, (long long)r->slots[i].count,
                (long long)(r->slots[i].count - r->seen[i]));
    return NC_NOERR;
}

/* ---- values ---- */

int burst_reader_read(const struct burst_reader *r, int64_t at, void *bytes, int64_t n)
{
    if (r->data_fd < 0) return base_error_set(NC_EBADLOG, "%s is missing", r->data_path);
    int err = burst_reader_check_mine(r);
    if (err != NC_NOERR) return err;
    return burst_read_file(r->data_fd, at, bytes, n, r->data_path);
}

int burst_reader_check(const struct burst_reader *r, const struct burst_entry *e)
{
    enum { PIECE = 1 << 18 };
    XXH3_state_t state;
    unsigned char *bytes = base_malloc(PIECE);
    int err = bytes == NULL ? NC_ENOMEM : NC_NOERR;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    for (int64_t at = 0; err == NC_NOERR && at < e->data_len; at += PIECE) {
        int64_t n = e->data_len - at < PIECE ? e->data_len - at : PIECE;
        err = burst_reader_read(r, e->data_off + at, bytes, n);
        if (err == NC_NOERR) XXH3_64bits_update(&state, bytes, (size_t)n);
    }
    base_free(bytes);
    if (err == NC_NOERR && r->header.version == 1 && e->data_len > 0 &&
        XXH3_64bits_digest(&state) != e->data_sum)
        err =
            base_error_set(NC_EBADLOG, "%s: the checksum of %lld bytes at %lld is wrong",
                           r->data_path, (long long)e->data_len, (long long)e->data_off);
    return err;
}

/* ---- what the log says of the file ---- */

bool burst_reader_note(const struct burst_reader *r, struct burst_note *latest)
{
    bool quiet = true;
    *latest = (struct burst_note){0};
    for (int64_t i = 0; r->header.version == 1 && i < r->header.nslots; i++) {
        const struct burst_note *n = &r->notes[i];
        if (n->changing) quiet = false;
        if (n->when > latest->when) latest->when = n->when;
        if (n->mtime > latest->mtime) latest->mtime = n->mtime;
        if (n->size > latest->size) latest->size = n->size;
    }
    return quiet;
}

/* Only this reader has the log: whatever way it is left, it counts no less than it did.
 */
static int write_log_head(const struct burst_reader *r, int64_t at,
                          const unsigned char *bytes, int copies)
{
    int err = burst_reader_check_mine(r);
    if (base_reads_only(r->meta_fd)) return NC_NOERR;
    for (int i = 0; i < copies && err == NC_NOERR; i++)
        err = base_write_at(r->meta_fd, at + (int64_t)i * BURST_SLOT_BYTES, bytes,
                            BURST_SLOT_BYTES, r->meta_path);
    return err;
}

int burst_reader_set_note(struct burst_reader *r, struct burst_note note)
{
    unsigned char bytes[BURST_SLOT_BYTES] = {0};
    int err = NC_NOERR;
    for (int64_t i = 0; r->header.version == 1 && i < r->header.nslots; i++) {
        note.serial = r->notes[i].serial + 1;
        r->notes[i] = note;
        burst_encode_note(&note, r->header.token, bytes);
        if (err == NC_NOERR)
            err = write_log_head(r,
                                 r->header.slots_begin + i * BURST_SLOT_STRIDE + NOTES_AT,
                                 bytes, BURST_SLOT_COPIES);
    }
    return err;
}

int burst_reader_drained(struct burst_reader *r)
{
    unsigned char bytes[BURST_SLOT_BYTES] = {0};
    int err = NC_NOERR;
    for (int64_t i = 0; r->header.version == 1 && i < r->header.nslots; i++) {
        r->slots[i].drained = r->slots[i].count;
        burst_encode_slot(&r->slots[i], r->header.token, bytes);
        if (err == NC_NOERR)
            err = write_log_head(r, r->header.slots_begin + i * BURST_SLOT_STRIDE, bytes,
                                 BURST_SLOT_COPIES);
    }
    return err == NC_NOERR ? base_sync_data(r->meta_fd, r->meta_path) : err;
}

/* ---- after a power cut ---- */

bool burst_reader_rebooted(const struct burst_reader *r)
{
    uint64_t now = burst_boot();
    return r->header.boot != 0 && now != 0 && r->header.boot != now;
}

static int64_t slot_of_rank(const struct burst_reader *r, int64_t rank)
{
    for (int64_t i = 0; i < r->header.nslots; i++)
        if (r->slots[i].rank == rank) return i;
    return -1;
}

/* How many of each process's entries are whole, from the first. */
static int count_whole(struct burst_reader *r, int64_t *whole)
{
    struct burst_entry e;
    bool more;
    int err;
    burst_reader_rewind(r);
    while ((err = burst_reader_next(r, true, &e, &more)) == NC_NOERR && more) {
        int64_t i = slot_of_rank(r, e.rank);
        if (i < 0 || e.seq != whole[i]) continue;
        err = e.seq < r->slots[i].drained ? NC_NOERR : burst_reader_check(r, &e);
        if (err == NC_NOERR) whole[i]++;
        if (err != NC_NOERR && err != NC_EBADLOG) break;
    }
    burst_reader_rewind(r);
    return err;
}

int burst_reader_trim(struct burst_reader *r)
{
    if (r->header.version == 0) return NC_NOERR;
    int64_t *whole = base_calloc((size_t)r->header.nslots, sizeof *whole);
    int err = whole == NULL ? NC_ENOMEM : count_whole(r, whole);
    for (int64_t i = 0; err == NC_NOERR && i < r->header.nslots; i++) {
        struct burst_slot *s = &r->slots[i];
        if (whole[i] < s->synced) continue;
        s->count = whole[i];
        if (s->drained > s->count) s->drained = s->count;
        r->open[i] = false;
    }
    base_free(whole);
    return err;
}

bool burst_reader_synced(const struct burst_reader *r)
{
    for (int64_t i = 0; r->header.version == 1 && i < r->header.nslots; i++)
        if (r->slots[i].synced > r->slots[i].drained) return true;
    return false;
}

void burst_reader_forget(struct burst_reader *r)
{
    for (int64_t i = 0; r->header.version == 1 && i < r->header.nslots; i++) {
        r->slots[i].count = r->slots[i].drained = r->slots[i].synced = 0;
        r->open[i] = false;
    }
}
