/* Reads logs: opens and locks the files, maps the metadata, decodes commit records and
 * notes, and iterates over the entries. The input is untrusted, so each entry is
 * validated before use. */
#include "burst_reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_require.h"
#include "burst_log.h"
#include "burst_stream.h"

struct burst_reader {
    char *meta_path, *data_path;
    int meta_fd, data_fd;
    unsigned char *meta;
    size_t meta_size;
    struct burst_header header;
    struct burst_slot *slots; /* commit records; generation is -1 if invalid. In version 0
                               * only the streams' ranks and counts */
    struct burst_note *notes; /* notes of the same processes; serial is 0 if invalid */
    bool *open;    /* only one copy of the record is valid, so it may be old and
                    * uncounted entries may follow */
    int64_t *seen; /* number of entries found for each slot */
    int64_t at;    /* offset of the next entry */
    int64_t nread; /* number of entries read from a stream (version 0) */
    struct burst_stream *streams; /* for version 0, its header.nslots streams, which are
                                   * read one after another */
    int64_t stream;               /* index of the stream that `at` and `nread` refer to */
    int64_t values_end;           /* where in that stream the next values should start */
    void *aligned;                /* 8-byte aligned copy of the last version 0 entry */
    struct burst_claim claim;
};

static int open_files(struct burst_reader *r, const char *meta_path, int how)
{
    size_t length = strlen(meta_path);
    bool anybody = how & BURST_READ_ANYBODYS;
    r->meta_path = base_strdup(meta_path);
    r->data_path = base_strdup(meta_path);
    if (r->meta_path == NULL || r->data_path == NULL) return NC_ENOMEM;
    if (!burst_has_ending(meta_path, ".meta"))
        return base_error_set(NC_EBADLOG,
                              "%s is not a metadata log: its name does not end in .meta",
                              meta_path);
    memcpy(r->data_path + length - 5, ".data", 5);
    r->meta_fd = burst_open_own(meta_path, anybody);
    if (r->meta_fd < 0) return base_error_system(NC_EFILE, "opening", meta_path);
    r->data_fd = burst_open_own(r->data_path, anybody);
    if (r->data_fd >= 0 || errno == ENOENT)
        return NC_NOERR; /* a missing data log is reported when values are read */
    return base_error_system(NC_EFILE, "opening", r->data_path);
}

/* If the file system's caches are incoherent between nodes, a mapping would show cached
 * pages even through a descriptor that bypasses the cache. In that case the log is read
 * into memory instead. */
static int map(struct burst_reader *r)
{
    struct stat st;
    if (fstat(r->meta_fd, &st) != 0)
        return base_error_system(NC_EREAD, "reading", r->meta_path);
    r->meta_size = (size_t)st.st_size;
    if (r->meta_size == 0) return base_error_set(NC_EBADLOG, "%s is empty", r->meta_path);
    bool around = base_fs_bypasses_cache(r->meta_fd);
    int access = around ? PROT_READ | PROT_WRITE : PROT_READ;
    void *p = mmap(NULL, r->meta_size, access, MAP_PRIVATE | (around ? MAP_ANONYMOUS : 0),
                   around ? -1 : r->meta_fd, 0);
    if (p == MAP_FAILED) return base_error_system(NC_EREAD, "mapping", r->meta_path);
    r->meta = p;
    if (!around) return NC_NOERR;
    return base_read_at(r->meta_fd, 0, p, st.st_size, r->meta_path);
}

/* All processes start a new generation once everything is in the file. So a process that
 * was killed before it started the newest generation has nothing to replay. */
static void skip_old_generations(struct burst_reader *r)
{
    int64_t newest = 0;
    for (int64_t i = 0; i < r->header.nslots; i++)
        if (r->slots[i].generation > newest) newest = r->slots[i].generation;
    for (int64_t i = 0; i < r->header.nslots; i++) {
        struct burst_slot *s = &r->slots[i];
        if (s->generation < 0 || s->generation == newest) continue;
        /* Its entries belong to an old generation and no longer count. */
        *s = (struct burst_slot){.rank = s->rank, .generation = newest};
        r->open[i] = false;
    }
}

enum { NOTES_AT = BURST_SLOT_COPIES * BURST_SLOT_BYTES };

static int read_slots(struct burst_reader *r)
{
    const struct burst_header *h = &r->header;
    int64_t bytes = BURST_SLOT_STRIDE, good = 0;
    if (h->nslots < 1 || h->chunk < 64 || h->chunk > INT64_MAX / 2 ||
        h->slots_begin < 0 || h->slots_begin > (int64_t)r->meta_size ||
        h->entry_begin > (int64_t)r->meta_size ||
        h->nslots > (h->entry_begin - h->slots_begin) / bytes)
        return base_error_set(NC_EBADLOG, "%s is shorter than its header implies",
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
            r->notes[i].changing = 1; /* the later copy may be lost */
        good += copies > 0;
        r->open[i] = copies == 1;
        if (copies == 0) r->slots[i].generation = -1;
    }
    skip_old_generations(r);
    if (good == h->nslots) return NC_NOERR;
    return base_error_set(NC_EBADLOG, "%s: the checksum of a commit record is wrong",
                          r->meta_path);
}

static int read_streams(struct burst_reader *r)
{
    int err = burst_find_streams(r->meta, r->meta_size, &r->header, &r->streams,
                                 &r->header.nslots);
    r->header.token = burst_stream_token(&r->header, r->meta_path);
    if (err == NC_NOERR) {
        r->slots = base_calloc((size_t)r->header.nslots, sizeof *r->slots);
        if (r->slots == NULL) return NC_ENOMEM;
        for (int64_t i = 0; i < r->header.nslots; i++)
            r->slots[i] = (struct burst_slot){.rank = r->streams[i].rank,
                                              .count = r->streams[i].num_entries};
    }
    if (err != NC_EBADLOG) return err;
    char text[256];
    snprintf(text, sizeof text, "%s", base_error_detail(err));
    return base_error_set(err, "%s: %s", r->meta_path, text);
}

/* Reads the head after locking, because a writer may have added to it before it ended. */
static int read_log(struct burst_reader *r, int how, enum burst_busy *busy)
{
    bool lock = how & BURST_READ_LOCK;
    r->claim = (struct burst_claim){
        .fd = r->meta_fd, .header = &r->header, .path = r->meta_path};
    enum base_locked locked =
        lock ? burst_claim_lock(&r->claim, r->data_fd, busy) : BASE_LOCKED;
    int err = map(r);
    if (err == NC_NOERR) err = burst_decode_header(&r->header, r->meta, r->meta_size);
    if (lock)
        err = burst_claim_decide(&r->claim, locked, how & BURST_READ_SEIZE, err, busy);
    /* Another reader may have removed the log while this one was waiting for the lock. */
    if (lock && err == NC_NOERR && !base_has_name(r->meta_fd, r->meta_path))
        err = base_error_set(NC_ENOENT, "%s no longer exists", r->meta_path);
    if (err == NC_NOERR) err = r->header.version == 1 ? read_slots(r) : read_streams(r);
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
    if (burst_claim_is_lockless(&r->claim)) burst_holder_release(r->meta_fd, &r->header);
    if (r->meta_fd >= 0) close(r->meta_fd);
    if (r->data_fd >= 0) close(r->data_fd);
    base_free(r->meta_path);
    base_free(r->data_path);
    base_free(r->slots);
    base_free(r->notes);
    base_free(r->seen);
    base_free(r->open);
    base_free(r->streams);
    base_free(r->aligned);
    base_free(r);
}

int burst_reader_check_mine(const struct burst_reader *r)
{
    return burst_claim_check(&r->claim);
}

int burst_reader_remove(struct burst_reader *r)
{
    int err = burst_claim_check(&r->claim);
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
    int err = burst_claim_check(&r->claim);
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

struct burst_counts burst_reader_counts(const struct burst_reader *r)
{
    struct burst_counts n = {0, 0, 0};
    for (int64_t i = 0; i < r->header.nslots; i++) {
        n.count += r->slots[i].count;
        n.drained += r->slots[i].drained;
        if (r->slots[i].generation > n.generation) n.generation = r->slots[i].generation;
    }
    return n;
}

bool burst_reader_fits(const struct burst_reader *r, uint64_t definitions)
{
    for (int64_t i = 0; i < r->header.nslots; i++)
        if (r->slots[i].count > r->slots[i].drained &&
            r->slots[i].definitions != definitions)
            return false;
    return true;
}

int64_t burst_reader_rank(const struct burst_reader *r, int64_t i)
{
    return i < r->header.nslots ? r->slots[i].rank : -1;
}

static void start_stream(struct burst_reader *r, int64_t s)
{
    r->stream = s;
    r->at = r->streams[s].entry_begin;
    r->nread = 0;
    r->values_end = BURST_STREAM_MAGIC;
}

void burst_reader_rewind(struct burst_reader *r)
{
    if (r->header.version == 0) {
        start_stream(r, 0);
        return;
    }
    r->at = r->header.entry_begin;
    memset(r->seen, 0, (size_t)r->header.nslots * sizeof *r->seen);
}

/* ---- entries ---- */

static int bad_entry(const struct burst_reader *r, const char *what)
{
    const struct burst_stream *s = &r->streams[r->stream];
    return base_error_set(NC_EBADLOG, "%s: entry %lld of %lld of process %lld %s",
                          r->meta_path, (long long)r->nread, (long long)s->num_entries,
                          (long long)s->rank, what);
}

static bool copy_entry(const struct burst_reader *r, void *bytes, int64_t n)
{
    return burst_stream_copy(r->meta, r->meta_size, r->header.nslots, r->stream, r->at,
                             bytes, n);
}

/* PnetCDF stores the values of each entry directly after those of the previous entry. */
static bool values_fit(struct burst_reader *r, const struct burst_entry *e)
{
    bool fit = e->data_off >= BURST_STREAM_MAGIC && e->data_off < BURST_STREAM_SIZE &&
               e->data_len <= BURST_STREAM_SIZE - e->data_off &&
               (!r->header.as_written || e->data_off == r->values_end);
    r->values_end = e->data_off + e->data_len;
    return fit;
}

static int next_of_version_0(struct burst_reader *r, struct burst_entry *e, bool *more)
{
    int64_t size = 0;
    *more = false;
    while (r->nread == r->streams[r->stream].num_entries) {
        if (r->stream + 1 == r->header.nslots) return NC_NOERR;
        start_stream(r, r->stream + 1);
    }
    if (!copy_entry(r, &size, sizeof size) || size < (int64_t)sizeof size ||
        size > (int64_t)r->meta_size)
        return bad_entry(r, "is corrupt or missing");
    base_free(r->aligned); /* entries may start at any multiple of 4 */
    r->aligned = base_malloc((size_t)size);
    if (r->aligned == NULL) return NC_ENOMEM;
    if (!copy_entry(r, r->aligned, size) ||
        burst_decode_entry0(e, r->aligned, (size_t)size, r->header.as_written) !=
            NC_NOERR)
        return bad_entry(r, "is corrupt or missing");
    if (!values_fit(r, e)) return bad_entry(r, "has values with invalid offsets");
    e->data_off += r->stream * BURST_STREAM_SIZE;
    e->seq = r->nread++;
    e->rank = r->streams[r->stream].rank;
    r->at += size;
    *more = true;
    return NC_NOERR;
}

/* Returns the slot of the process whose entry may be at r->at; -1 if there is none. */
static int64_t find_slot(const struct burst_reader *r)
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
        int64_t i = find_slot(r);
        if (i >= 0 && burst_decode_entry(e, r->meta + r->at, r->meta_size - (size_t)r->at,
                                         h->token, r->slots[i].generation, r->at)) {
            r->at += e->size;
            if (++r->seen[i] > r->slots[i].drained || all) return NC_NOERR;
        } else { /* the rest of the chunk is unused */
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

/* Checks that each data stream begins with the magic number. */
static int check_values_begin(const struct burst_reader *r)
{
    static const char magic[] = "PnetCDF0";
    char bytes[BURST_STREAM_MAGIC];
    for (int64_t i = 0; i < r->header.nslots; i++) {
        if (r->streams[i].num_entries == 0 && r->data_fd < 0) continue;
        int err = burst_reader_read(r, i * BURST_STREAM_SIZE, bytes, sizeof bytes);
        if (err != NC_NOERR) return err;
        if (memcmp(bytes, magic, sizeof bytes) != 0)
            return base_error_set(
                NC_EBADLOG, "%s: the values of process %lld do not start at byte %lld",
                r->data_path, (long long)r->streams[i].rank,
                (long long)burst_reader_place(r, i * BURST_STREAM_SIZE));
    }
    return NC_NOERR;
}

int burst_reader_complete(const struct burst_reader *r)
{
    if (r->header.version == 0) return check_values_begin(r);
    for (int64_t i = 0; i < r->header.nslots; i++)
        if (r->seen[i] < r->slots[i].count)
            return base_error_set(NC_EBADLOG,
                                  "%s: process %lld wrote %lld entries, of which %lld "
                                  "are corrupt or missing",
                                  r->meta_path, (long long)r->slots[i].rank,
                                  (long long)r->slots[i].count,
                                  (long long)(r->slots[i].count - r->seen[i]));
    return NC_NOERR;
}

/* ---- values ---- */

/* Returns the file offset of the values at `at`. Sets *run to the number of bytes from
 * there that are contiguous in the file. */
static int64_t place_of_values(const struct burst_reader *r, int64_t at, int64_t *run)
{
    *run = INT64_MAX;
    if (r->header.version == 1) return at;
    return burst_stream_place(r->header.nslots, at / BURST_STREAM_SIZE,
                              at % BURST_STREAM_SIZE, run);
}

int64_t burst_reader_place(const struct burst_reader *r, int64_t at)
{
    int64_t run;
    return place_of_values(r, at, &run);
}

int burst_reader_read(const struct burst_reader *r, int64_t at, void *bytes, int64_t n)
{
    unsigned char *to = bytes;
    if (r->data_fd < 0) return base_error_set(NC_EBADLOG, "%s is missing", r->data_path);
    int err = burst_claim_check(&r->claim);
    for (int64_t part; n > 0 && err == NC_NOERR; n -= part) {
        int64_t run, place = place_of_values(r, at, &run);
        part = n < run ? n : run;
        err = burst_read_file(r->data_fd, place, to, part, r->data_path);
        to += part;
        at += part;
    }
    return err;
}

static int read_values(const void *r, int64_t at, void *bytes, int64_t n)
{
    return burst_reader_read(r, at, bytes, n);
}

int burst_reader_check(const struct burst_reader *r, const struct burst_entry *e)
{
    uint64_t sum = 0;
    int err = burst_sum_values(read_values, r, e->data_off, e->data_len, &sum);
    if (err == NC_NOERR && r->header.version == 1 && e->data_len > 0 &&
        sum != e->data_sum)
        err = base_error_set(NC_EBADLOG,
                             "%s: the checksum of %lld bytes at byte %lld is wrong",
                             r->data_path, (long long)e->data_len,
                             (long long)burst_reader_place(r, e->data_off));
    return err;
}

/* ---- what the log records about the file ---- */

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
        if (n->ctime > latest->ctime) latest->ctime = n->ctime;
    }
    return quiet;
}

/* Writes both copies of one of process i's records; `offset` is relative to the start of
 * that process's records. No other process uses the log, and a kill between the two
 * writes leaves a record that counts no fewer entries than before. */
static int write_record(const struct burst_reader *r, int64_t i, int64_t offset,
                        const unsigned char *bytes)
{
    int err = burst_claim_check(&r->claim);
    if (base_reads_only(r->meta_fd)) return NC_NOERR;
    int64_t at = r->header.slots_begin + i * BURST_SLOT_STRIDE + offset;
    base_require(i >= 0 && i < r->header.nslots && offset < BURST_SLOT_STRIDE);
    base_require(at + (int64_t)BURST_SLOT_COPIES * BURST_SLOT_BYTES <=
                 r->header.entry_begin);
    for (int k = 0; k < BURST_SLOT_COPIES && err == NC_NOERR; k++)
        err = base_write_at(r->meta_fd, at + (int64_t)k * BURST_SLOT_BYTES, bytes,
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
        if (err == NC_NOERR) err = write_record(r, i, NOTES_AT, bytes);
    }
    return err;
}

/* Sets the number of entries to 0 in all streams, as PnetCDF does after a flush. */
static int write_no_entries(struct burst_reader *r)
{
    static const int64_t none = 0;
    int err = NC_NOERR;
    if (base_reads_only(r->meta_fd)) return NC_NOERR;
    for (int64_t i = 0; i < r->header.nslots && err == NC_NOERR; i++) {
        int64_t run;
        int64_t at =
            burst_stream_place(r->header.nslots, i, burst_entries_at(&r->header), &run);
        base_require(at >= 0 && at + (int64_t)sizeof none <= (int64_t)r->meta_size);
        err = base_write_at(r->meta_fd, at, &none, sizeof none, r->meta_path);
    }
    return err;
}

static int write_drained_slots(struct burst_reader *r)
{
    unsigned char bytes[BURST_SLOT_BYTES] = {0};
    int err = NC_NOERR;
    for (int64_t i = 0; i < r->header.nslots; i++) {
        base_require(r->slots[i].drained <= r->slots[i].count);
        r->slots[i].drained = r->slots[i].count;
        burst_encode_slot(&r->slots[i], r->header.token, bytes);
        if (err == NC_NOERR) err = write_record(r, i, 0, bytes);
    }
    return err;
}

int burst_reader_drained(struct burst_reader *r)
{
    int err = r->header.version == 0 ? write_no_entries(r) : write_drained_slots(r);
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

/* Counts the intact entries of each process that precede its first damaged one. */
static int count_intact(struct burst_reader *r, int64_t *intact)
{
    struct burst_entry e;
    bool more;
    int err;
    burst_reader_rewind(r);
    while ((err = burst_reader_next(r, true, &e, &more)) == NC_NOERR && more) {
        int64_t i = slot_of_rank(r, e.rank);
        if (i < 0 || e.seq != intact[i]) continue;
        err = e.seq < r->slots[i].drained ? NC_NOERR : burst_reader_check(r, &e);
        if (err == NC_NOERR) intact[i]++;
        if (err != NC_NOERR && err != NC_EBADLOG) break;
    }
    burst_reader_rewind(r);
    return err;
}

int burst_reader_trim(struct burst_reader *r)
{
    if (r->header.version == 0) return NC_NOERR;
    int64_t *intact = base_calloc((size_t)r->header.nslots, sizeof *intact);
    int err = intact == NULL ? NC_ENOMEM : count_intact(r, intact);
    for (int64_t i = 0; err == NC_NOERR && i < r->header.nslots; i++) {
        struct burst_slot *s = &r->slots[i];
        if (intact[i] < s->synced) continue;
        s->count = intact[i];
        if (s->drained > s->count) s->drained = s->count;
        r->open[i] = false;
    }
    base_free(intact);
    return err;
}

bool burst_reader_synced(const struct burst_reader *r)
{
    for (int64_t i = 0; i < r->header.nslots; i++)
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
