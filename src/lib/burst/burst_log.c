/* Writes logs. A put appends its values to the data log with one pwritev. It stores the
 * entry to a mapped window of the metadata log: such a store needs no system call, but
 * like a write it survives if the process is killed. Last, it writes a commit record that
 * counts the entry. The blocks of a window are reserved before it is mapped, so a full
 * device makes posix_fallocate fail rather than raise a signal.
 *
 * Not all file systems use the blocks that they have reserved: Btrfs allocates new ones
 * when bytes are overwritten, and others fetch pages from a server. There a store could
 * raise SIGBUS. So private memory replaces the mapping, and each store is followed by a
 * write to the file. */
#define _GNU_SOURCE /* mkostemp */
#define XXH_INLINE_ALL
#include "burst_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "base_owner.h"
#include "base_require.h"
#include "base_sum.h"
#include "burst_holder.h"

enum {
    DATA_BEGIN = 8,    /* offset of the first value in the data log, after its magic */
    MOST_PIECES = 1024 /* maximum per system call */
};

void burst_log_init(struct burst_log *l)
{
    memset(l, 0, sizeof *l);
    l->meta_fd = l->data_fd = l->spill.fd = -1;
}

/* ---- creating ---- */

static int set_paths(struct burst_log *l, const char *path)
{
    size_t size = strlen(path) + sizeof ".meta";
    l->meta_path = base_malloc(size);
    l->data_path = base_malloc(size);
    if (l->meta_path == NULL || l->data_path == NULL) return NC_ENOMEM;
    snprintf(l->meta_path, size, "%s.meta", path);
    snprintf(l->data_path, size, "%s.data", path);
    return NC_NOERR;
}

/* Reserves blocks for n bytes, so that stores to them cannot fail. */
static int reserve_blocks(struct burst_log *l, int64_t at, int64_t n)
{
    int rc = EINTR;
    while (rc == EINTR)
        rc = base_can_write_to(at + n) ? posix_fallocate(l->meta_fd, at, n) : EFBIG;
    errno = rc;
    return rc == 0 ? NC_NOERR
                   : base_error_system(NC_EWRITE, "reserving space in", l->meta_path);
}

/* Maps n bytes of the metadata log or, if the file is not mapped, allocates memory whose
 * contents store() writes to the file. Returns NULL on error. */
static unsigned char *map(const struct burst_log *l, int64_t at, size_t n)
{
    int flags = l->mapped ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, l->mapped ? l->meta_fd : -1,
                   l->mapped ? at : 0);
    if (p != MAP_FAILED) return p;
    (void)base_error_system(NC_EFILE, "mapping", l->meta_path);
    return NULL;
}

/* Writes n bytes of memory at `from` to the file, unless the memory is mapped from it. */
static int store(struct burst_log *l, int64_t at, const unsigned char *from, int64_t n)
{
    if (l->mapped) return NC_NOERR;
    int err = base_write_at(l->meta_fd, at, from, n, l->meta_path);
    if (l->error == NC_NOERR) l->error = err;
    return err;
}

static int map_head(struct burst_log *l)
{
    l->mapped = base_fs_can_map(l->meta_fd);
    l->head_size = (size_t)l->header.entry_begin;
    l->head = map(l, 0, l->head_size);
    return l->head == NULL ? NC_EFILE : NC_NOERR;
}

static unsigned char *slot_copy(const struct burst_log *l, int64_t copy)
{
    return l->head + l->header.slots_begin + l->slot * (int64_t)BURST_SLOT_STRIDE +
           copy * BURST_SLOT_BYTES;
}

/* Writes a commit record. Two copies suffice:
 * 1. Only the older copy is overwritten, so a process that is killed leaves at most one
 *    torn copy. Its checksum reveals that, and the other copy has the previous state.
 * 2. The page may reach the device at any time, with each copy in its old or new state.
 *    So a copy must never claim anything about entries that is not true yet, in
 *    particular that they are on the device (burst_log_synced).
 * 3. A state that discards entries is written to both copies before anything relies on it
 *    (write_both). Otherwise a power cut that left only the older copy would bring the
 *    entries back. */
static int write_slot(struct burst_log *l)
{
    base_require(l->slot >= 0 && l->slot < l->header.nslots);
    base_require(l->commit.drained <= l->commit.count);
    base_require(l->commit.synced <= l->commit.count);
    l->turn ^= 1;
    unsigned char *at = slot_copy(l, l->turn);
    atomic_thread_fence(
        memory_order_release); /* entries are stored before the record that counts them */
    burst_encode_slot(&l->commit, l->header.token, at);
    atomic_thread_fence(memory_order_release);
    return store(l, at - l->head, at, BURST_SLOT_BYTES);
}

static int write_both(struct burst_log *l)
{
    int err = write_slot(l);
    return err == NC_NOERR ? write_slot(l) : err;
}

void burst_log_note(struct burst_log *l, struct burst_note note)
{
    if (l->head == NULL) return;
    note.serial = l->note.serial + 1;
    l->note = note;
    atomic_thread_fence(memory_order_release); /* stored before the file changes */
    unsigned char *at = slot_copy(l, BURST_SLOT_COPIES + note.serial % BURST_SLOT_COPIES);
    burst_encode_note(&note, l->header.token, at);
    (void)store(l, at - l->head, at, BURST_SLOT_BYTES);
    atomic_thread_fence(memory_order_seq_cst);
}

/* Initializes a commit record and its notes, which are valid even if no process joins. */
static void start_slot(struct burst_log *l, int64_t rank)
{
    l->commit = (struct burst_slot){.rank = rank};
    (void)write_both(l);
    l->note.serial = 0;
    for (int i = 0; i < BURST_SLOT_COPIES; i++)
        burst_log_note(l, (struct burst_note){.changing = 0});
}

/* Writes and syncs a complete head under a temporary name, and then renames the file. So
 * an incomplete log never exists, not even after a power cut. */
static int write_new_head(struct burst_log *l, const char *temporary)
{
    size_t capacity = sizeof(struct burst_header) + 4096;
    unsigned char *bytes = base_calloc(1, capacity);
    if (bytes == NULL) return NC_ENOMEM;
    size_t length = burst_encode_header(&l->header, bytes, capacity);
    int err = length == 0 ? NC_EBADLOG : NC_NOERR;
    if (err == NC_NOERR) err = base_holds((int64_t)length <= l->header.slots_begin);
    if (err == NC_NOERR) err = base_holds(burst_holder_at(&l->header) > 0);
    if (err == NC_NOERR) err = reserve_blocks(l, 0, l->header.entry_begin);
    if (err == NC_NOERR)
        err = base_write_at(l->meta_fd, 0, bytes, (int64_t)length, temporary);
    if (err == NC_NOERR) err = map_head(l);
    if (err == NC_NOERR) {
        memcpy(l->head, bytes, length);
        for (l->slot = (int)l->header.nslots - 1; l->slot > 0; l->slot--)
            start_slot(l, -1); /* for a process that will join */
        start_slot(l, l->header.rank_id);
        burst_holder_start(l->head, &l->header, l->meta_fd);
        err = store(l, 0, l->head, l->header.entry_begin);
    }
    if (err == NC_NOERR) err = base_sync_data(l->meta_fd, temporary);
    if (err == NC_NOERR && rename(temporary, l->meta_path) != 0)
        err = base_error_system(NC_EFILE, "naming", l->meta_path);
    base_free(bytes);
    return err;
}

static int make_files(struct burst_log *l)
{
    char temporary[PATH_MAX];
    int flags = O_RDWR | O_CREAT | O_EXCL;
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.new", l->meta_path) >=
        sizeof temporary)
        return base_error_set(NC_EFILE, "the path of the log is too long");
    l->meta_fd = base_open(temporary, flags);
    if (l->meta_fd < 0) return base_error_system(NC_EFILE, "creating", temporary);
    base_write_in_place(l->meta_fd);
    int err = NC_NOERR;
    if (base_lock_whole(l->meta_fd, false) == BASE_BUSY)
        err = base_error_system(NC_EFILE, "locking", temporary);
    if (err == NC_NOERR && (l->data_fd = base_open(l->data_path, flags)) < 0)
        err = base_error_system(NC_EFILE, "creating", l->data_path);
    if (err == NC_NOERR)
        err = base_write_at(l->data_fd, 0, "PnetCDF1", DATA_BEGIN, l->data_path);
    if (err == NC_NOERR) err = write_new_head(l, temporary);
    if (err != NC_NOERR && l->data_fd >= 0) unlink(l->data_path);
    if (err != NC_NOERR) unlink(temporary);
    if (err == NC_NOERR) err = base_sync_directory(l->meta_path);
    return err;
}

/* Sets `file` to the device and inode of the file open as `fd`. */
static int identify(int fd, const char *path, int64_t file[2])
{
    struct stat st;
    if (fstat(fd, &st) != 0) return base_error_system(NC_EFILE, "examining", path);
    file[0] = (int64_t)st.st_dev;
    file[1] = (int64_t)st.st_ino;
    return NC_NOERR;
}

static int check_file(int fd, const char *path, const int64_t made[2])
{
    int64_t file[2] = {0, 0};
    int err = identify(fd, path, file);
    if (err != NC_NOERR || (file[0] == made[0] && file[1] == made[1])) return err;
    return base_refuse_other_file(path);
}

int burst_log_create(struct burst_log *l, const char *path, const struct burst_header *h,
                     struct burst_space *space)
{
    burst_log_init(l);
    l->header = *h;
    l->shared = space != NULL;
    l->space = l->shared ? space : &l->own;
    int err = set_paths(l, path);
    if (err == NC_NOERR) err = make_files(l);
    if (err == NC_NOERR) err = identify(l->meta_fd, l->meta_path, l->space->meta_file);
    if (err == NC_NOERR) err = identify(l->data_fd, l->data_path, l->space->data_file);
    if (err != NC_NOERR) {
        burst_log_end(l, l->data_fd >= 0);
        return err;
    }
    atomic_store(&l->space->meta, 0);
    atomic_store(&l->space->data, DATA_BEGIN);
    l->extent = l->extent_end = DATA_BEGIN;
    return NC_NOERR;
}

int burst_log_join(struct burst_log *l, const char *path, const struct burst_header *h,
                   struct burst_space *space, int slot)
{
    unsigned char scratch[sizeof(struct burst_header) + 4096];
    burst_log_init(l);
    l->header = *h;
    l->shared = true;
    l->space = space;
    l->slot = slot;
    int err = set_paths(l, path);
    if (err == NC_NOERR && burst_encode_header(&l->header, scratch, sizeof scratch) == 0)
        err = NC_EBADLOG;
    if (err == NC_NOERR && (l->data_fd = burst_open_own(l->data_path, false)) < 0)
        err = base_error_system(NC_EFILE, "opening", l->data_path);
    if (err == NC_NOERR && (l->meta_fd = burst_open_own(l->meta_path, false)) < 0)
        err = base_error_system(NC_EFILE, "opening", l->meta_path);
    if (err == NC_NOERR) err = check_file(l->data_fd, l->data_path, space->data_file);
    if (err == NC_NOERR) err = check_file(l->meta_fd, l->meta_path, space->meta_file);
    if (err == NC_NOERR && base_lock_whole(l->meta_fd, false) == BASE_BUSY)
        err = base_error_system(NC_EFILE, "locking", l->meta_path);
    if (err == NC_NOERR) err = map_head(l);
    if (err != NC_NOERR) {
        burst_log_end(l, false);
        return err;
    }
    start_slot(l, h->rank_id);
    if (l->error == NC_NOERR) return NC_NOERR;
    err = l->error;
    burst_log_end(l, false);
    return err;
}

/* ---- values ---- */

int64_t burst_log_reserve(struct burst_log *l, int64_t bytes)
{
    if (bytes > l->extent_end - l->extent) {
        int64_t n = l->shared && bytes < BURST_EXTENT ? BURST_EXTENT : bytes;
        int64_t from = atomic_fetch_add(&l->space->data, n);
        if (from != l->extent_end) l->extent = from;
        l->extent_end = from + n;
    }
    int64_t at = l->extent;
    l->extent += bytes;
    return at;
}

int burst_log_spill(struct burst_log *l, const char *beside, int64_t bytes, int64_t *at)
{
    int err = NC_NOERR;
    if (l->spill.fd < 0) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s.kept.XXXXXX", PATH_MAX - 20, beside);
        l->spill.fd = mkostemp(path, O_CLOEXEC);
        if (l->spill.fd < 0) err = base_error_system(NC_EWRITE, "creating", path);
        if (l->spill.fd >= 0 && unlink(path) != 0)
            err = base_error_system(NC_EWRITE, "removing", path);
    }
    *at = BURST_SPILLED + l->spill.size;
    if (err == NC_NOERR) l->spill.size += bytes;
    return err;
}

static void close_spill(struct burst_log *l)
{
    if (l->spill.fd >= 0) close(l->spill.fd);
    l->spill.fd = -1;
    l->spill.size = 0;
}

/* A position in the data log or in the file of burst_log_spill. */
struct place {
    int fd;
    int64_t at;
    const char *name;
};

static struct place place_in_log(const struct burst_log *l, int64_t at)
{
    if (at < BURST_SPILLED) return (struct place){l->data_fd, at, l->data_path};
    return (struct place){l->spill.fd, at - BURST_SPILLED,
                          "values that did not fit into the log"};
}

int burst_log_write(struct burst_log *l, int64_t at, struct iovec *pieces, int n)
{
    struct place p = place_in_log(l, at);
    base_require(at >= BURST_SPILLED ? p.at < l->spill.size
                                     : at >= DATA_BEGIN && at < l->extent);
    return base_write_pieces(p.fd, p.at, pieces, n, p.name);
}

/* ---- entries ---- */

static void unmap_window(struct burst_log *l)
{
    if (l->window.bytes != NULL) munmap(l->window.bytes, (size_t)l->window.size);
    l->window.bytes = NULL;
    l->window.used = l->window.size = 0;
}

/* Maps a new window of one chunk, or of as many chunks as the entry needs. */
static int next_window(struct burst_log *l, int64_t bytes)
{
    int64_t chunk = l->header.chunk, size = (bytes + chunk - 1) / chunk * chunk;
    int64_t at = l->header.entry_begin + atomic_fetch_add(&l->space->meta, size);
    base_require(size > 0 && at >= l->header.entry_begin);
    base_require((at - l->header.entry_begin) % chunk == 0);
    unmap_window(l);
    int err = reserve_blocks(l, at, size);
    if (err != NC_NOERR) return err;
    l->window.bytes = map(l, at, (size_t)size);
    if (l->window.bytes == NULL) return NC_EFILE;
    l->window.at = at;
    l->window.size = size;
    return NC_NOERR;
}

int burst_log_add(struct burst_log *l, const struct burst_entry *e)
{
    base_require(e->rank == l->commit.rank && e->seq >= l->commit.count);
    base_require(e->size ==
                 burst_entry_size(e->ndims * e->nreqs * (e->count != NULL ? 2 : 1) +
                                  (e->stride != NULL ? e->ndims : 0)));
    base_require(e->data_len == 0 ||
                 (e->data_off >= DATA_BEGIN && e->data_len <= l->extent - e->data_off));
    if (l->window.bytes == NULL || e->size > l->window.size - l->window.used) {
        int err = next_window(l, e->size);
        if (err != NC_NOERR) return err;
    }
    base_require(l->window.used >= 0 && e->size <= l->window.size - l->window.used);
    int64_t at = l->window.at + l->window.used;
    unsigned char *bytes = l->window.bytes + l->window.used;
    burst_encode_entry(e, l->header.token, l->commit.generation, at, bytes);
    l->window.used += e->size;
    l->sum_at = at + e->size - (int64_t)sizeof(uint64_t);
    return store(l, at, bytes, e->size);
}

int burst_log_commit(struct burst_log *l, int64_t count)
{
    if (l->error != NC_NOERR) return l->error;
    l->commit.count += count;
    l->used = true;
    int err = write_slot(l);
    if (err != NC_NOERR) l->commit.count -= count;
    return err;
}

/* Inverts the checksum with one 8-byte write, so a kill cannot leave a torn entry. */
int burst_log_strike(struct burst_log *l, int64_t sum_at)
{
    uint64_t sum;
    base_require(sum_at >= l->header.entry_begin && l->space != NULL &&
                 sum_at - l->header.entry_begin < atomic_load(&l->space->meta));
    int err = burst_read_file(l->meta_fd, sum_at, &sum, sizeof sum, l->meta_path);
    if (err != NC_NOERR) return err;
    sum = ~sum;
    return base_write_at(l->meta_fd, sum_at, &sum, sizeof sum, l->meta_path);
}

/* Writes the commit record. If that fails and no entry is left to replay, unlinks the
 * log, which has the same effect. Not in a shared log: other processes may have entries
 * there. */
static void note_commit(struct burst_log *l)
{
    int err = l->gone ? NC_NOERR : write_both(l);
    bool waits = l->shared || l->commit.drained < l->commit.count;
    if (err != NC_NOERR && !waits) l->gone = unlink(l->meta_path) == 0;
    l->head_error = l->gone ? NC_NOERR : err;
}

int burst_log_write_head(struct burst_log *l)
{
    if (l->head_error != NC_NOERR) note_commit(l);
    return l->head_error;
}

void burst_log_drained(struct burst_log *l, int64_t n)
{
    if (l->meta_fd < 0 || n <= l->commit.drained) return;
    l->commit.drained = n;
    note_commit(l);
}

/* Starts the next generation. Its commit record discards earlier entries and errors. */
static void next_generation(struct burst_log *l, uint64_t definitions)
{
    l->commit = (struct burst_slot){.rank = l->commit.rank,
                                    .generation = l->commit.generation + 1,
                                    .definitions = definitions};
    if (!l->gone) l->error = NC_NOERR;
    note_commit(l);
}

void burst_log_define(struct burst_log *l, uint64_t definitions)
{
    if (l->head != NULL && base_holds(l->commit.count == 0) == NC_NOERR)
        (void)next_generation(l, definitions); /* burst_log_commit reports errors */
}

void burst_log_reset(struct burst_log *l)
{
    close_spill(l);
    l->lost = false;
    if (l->meta_fd < 0) return;
    next_generation(l, l->commit.definitions);
    l->extent = l->extent_end = DATA_BEGIN;
    bool reuse =
        !l->shared && l->window.bytes != NULL && l->window.at == l->header.entry_begin;
    l->window.used = 0;
    if (!reuse) unmap_window(l);
    if (l->slot > 0) return; /* the first process resets the shared counters */
    atomic_store(&l->space->data, DATA_BEGIN);
    atomic_store(&l->space->meta, reuse ? l->window.size : 0);
}

int burst_log_sync(struct burst_log *l)
{
    int err = base_sync_data(l->data_fd, l->data_path);
    return err == NC_NOERR ? base_sync_data(l->meta_fd, l->meta_path) : err;
}

/* Must be called after the sync, because the record may reach the device at any time. */
void burst_log_synced(struct burst_log *l)
{
    l->commit.synced = l->commit.count;
    (void)write_both(l); /* after an error the record understates what is synced, which is
                          * safe */
}

int burst_log_sync_head(struct burst_log *l)
{
    int failed = 0;
    int err = burst_log_write_head(l);
    if (l->gone || err != NC_NOERR) return err;
    if (l->head != NULL && !l->mapped) return base_sync_data(l->meta_fd, l->meta_path);
    do
        failed = l->head == NULL ? 0 : msync(l->head, l->head_size, MS_SYNC);
    while (failed && errno == EINTR);
    return failed ? base_error_system(NC_EWRITE, "syncing", l->meta_path) : NC_NOERR;
}

uint64_t burst_boot(void)
{
    char id[64];
    return base_boot(id) ? base_sum(id, strlen(id), 0) : 0;
}

int burst_read_file(int fd, int64_t at, void *bytes, int64_t n, const char *path)
{
    int64_t got = base_read_some(fd, at, bytes, n);
    if (got < 0) return base_error_system(NC_EREAD, "reading", path);
    if (got == n) return NC_NOERR;
    return base_error_set(NC_EBADLOG,
                          "%s ends at byte %lld, but more values are expected", path,
                          (long long)(at + got));
}

static int read_values(const void *log, int64_t at, void *bytes, int64_t n)
{
    struct place p = place_in_log(log, at);
    return burst_read_file(p.fd, p.at, bytes, n, p.name);
}

int burst_log_read(const struct burst_log *l, int64_t at, void *bytes, int64_t n)
{
    if (!l->lost) return read_values(l, at, bytes, n);
    return base_error_set(NC_EBADLOG,
                          "%s: a sync failed, and values that were logged are lost; put "
                          "them again after the dataset has been closed",
                          l->data_path);
}

void burst_log_check(struct burst_log *l, int64_t at, int64_t n, uint64_t sum)
{
    uint64_t found = 0;
    if (l->lost || n == 0) return;
    int err = burst_sum_values(read_values, l, at, n, &found);
    l->lost = err != NC_NOERR || found != sum;
}

int burst_sum_values(burst_value_reader *read, const void *log, int64_t at, int64_t n,
                     uint64_t *sum)
{
    enum { PIECE = 1 << 18 };
    XXH3_state_t state;
    unsigned char *bytes = base_malloc(PIECE);
    int err = bytes == NULL ? NC_ENOMEM : NC_NOERR;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    for (int64_t done = 0, part; err == NC_NOERR && done < n; done += part) {
        part = n - done < PIECE ? n - done : PIECE;
        err = read(log, at + done, bytes, part);
        if (err == NC_NOERR) XXH3_64bits_update(&state, bytes, (size_t)part);
    }
    base_free(bytes);
    *sum = XXH3_64bits_digest(&state);
    return err;
}

/* ---- closing ---- */

void burst_log_end(struct burst_log *l, bool remove)
{
    close_spill(l);
    unmap_window(l);
    if (l->head != NULL) munmap(l->head, l->head_size);
    if (remove && l->meta_fd >= 0) burst_remove(l->meta_path, false);
    if (!remove && l->slot == 0) burst_holder_release(l->meta_fd, &l->header);
    if (l->meta_fd >= 0) close(l->meta_fd);
    if (l->data_fd >= 0) close(l->data_fd);
    base_free(l->meta_path);
    base_free(l->data_path);
    burst_log_init(l);
}
