/* The writer. Values go to the data log with one pwritev; the entry is stored into a
 * mapped window of the metadata log, which is as safe from a killed process as a write
 * is, and costs no system call. Its blocks are reserved first, so that a full device is
 * an error of posix_fallocate and never a signal.
 *
 * Not all file systems keep what they have reserved for that: Btrfs takes new blocks when
 * bytes are stored a second time, and others have their pages from a server. There a
 * store may end the program by SIGBUS, and what is stored in memory is written, too. */
#define _GNU_SOURCE /* mkostemp */
#include "burst_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "base_owner.h"
#include "base_sum.h"
#include "burst_holder.h"

enum {
    DATA_BEGIN = 8,    /* of the data log: behind its magic */
    MOST_PIECES = 1024 /* of one system call */
};

void burst_log_init(struct burst_log *l)
{
    memset(l, 0, sizeof *l);
    l->meta_fd = l->data_fd = l->kept_fd = -1;
}

/* ---- making ---- */

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

/* Reserves the blocks: what is stored there later cannot fail. */
static int reserve_blocks(struct burst_log *l, int64_t at, int64_t n)
{
    int rc;
    do
        rc = posix_fallocate(l->meta_fd, at, n);
    while (rc == EINTR);
    errno = rc;
    return rc == 0 ? NC_NOERR
                   : base_error_system(NC_EWRITE, "reserving room in", l->meta_path);
}

/* n bytes of the metadata log, or of memory that is written there; NULL, with words. */
static unsigned char *map(const struct burst_log *l, int64_t at, size_t n)
{
    int flags = l->mapped ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, l->mapped ? l->meta_fd : -1,
                   l->mapped ? at : 0);
    if (p != MAP_FAILED) return p;
    (void)base_error_system(NC_EFILE, "mapping", l->meta_path);
    return NULL;
}

/* What was put into memory at `from` is in the file. */
static int store(struct burst_log *l, int64_t at, const unsigned char *from, int64_t n)
{
    if (l->mapped) return NC_NOERR;
    int err = base_write_at(l->meta_fd, at, from, n, l->meta_path);
    if (l->error == NC_NOERR) l->error = err;
    return err;
}

static int map_head(struct burst_log *l)
{
    l->mapped = base_fs_maps(l->meta_fd);
    l->head_size = (size_t)l->header.entry_begin;
    l->head = map(l, 0, l->head_size);
    return l->head == NULL ? NC_EFILE : NC_NOERR;
}

static unsigned char *slot_copy(const struct burst_log *l, int64_t copy)
{
    return l->head + l->header.slots_begin + l->slot * (int64_t)BURST_SLOT_STRIDE +
           copy * BURST_SLOT_BYTES;
}

/* The copies take turns, and two of them suffice: one is written at a time, and always
 * the older one, so that a process that is killed leaves one half written at most. Its
 * checksum shows that, and the other one is whole and says what held before. The page may
 * go to the device at any time, with either copy in either state: so no copy says what is
 * not true yet of the entries before it, nor that they are on the device before they are
 * (burst_log_synced). What does away with entries is in both copies before it is relied
 * on (write_both): else the older one, if it alone came through a power cut, would bring
 * them back. */
static int write_slot(struct burst_log *l)
{
    l->turn ^= 1;
    unsigned char *at = slot_copy(l, l->turn);
    atomic_thread_fence(memory_order_release); /* the entries before what counts them */
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
    atomic_thread_fence(memory_order_release); /* it is there before the file changes */
    unsigned char *at = slot_copy(l, BURST_SLOT_COPIES + note.serial % BURST_SLOT_COPIES);
    burst_encode_note(&note, l->header.token, at);
    (void)store(l, at - l->head, at, BURST_SLOT_BYTES);
    atomic_thread_fence(memory_order_seq_cst);
}

/* Who has not joined has not changed the file either. */
static void start_slot(struct burst_log *l, int64_t rank)
{
    l->commit = (struct burst_slot){.rank = rank};
    (void)write_both(l);
    l->note.serial = 0;
    for (int i = 0; i < BURST_SLOT_COPIES; i++)
        burst_log_note(l, (struct burst_note){.changing = 0});
}

/* Ours, and those of processes that will join. */
static void start_slots(struct burst_log *l)
{
    for (l->slot = (int)l->header.nslots - 1; l->slot > 0; l->slot--)
        start_slot(l, -1);
    start_slot(l, l->header.rank_id);
}

/* A complete log under another name first, on the device: there is never half of one,
 * not after a power cut either. */
static int write_new_head(struct burst_log *l, const char *temporary)
{
    size_t room = sizeof(struct burst_header) + 4096;
    unsigned char *bytes = base_calloc(1, room);
    if (bytes == NULL) return NC_ENOMEM;
    size_t length = burst_encode_header(&l->header, bytes, room);
    int err = length == 0 ? NC_EBADLOG : NC_NOERR;
    if (err == NC_NOERR) err = reserve_blocks(l, 0, l->header.entry_begin);
    if (err == NC_NOERR)
        err = base_write_at(l->meta_fd, 0, bytes, (int64_t)length, temporary);
    if (err == NC_NOERR) err = map_head(l);
    if (err == NC_NOERR) {
        memcpy(l->head, bytes, length);
        start_slots(l);
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
        return base_error_set(NC_EFILE, "a log's path is too long");
    l->meta_fd = base_open(temporary, flags);
    if (l->meta_fd < 0) return base_error_system(NC_EFILE, "making", temporary);
    base_write_in_place(l->meta_fd);
    int err = NC_NOERR;
    if (base_lock_whole(l->meta_fd, false) == BASE_BUSY)
        err = base_error_system(NC_EFILE, "locking", temporary);
    if (err == NC_NOERR && (l->data_fd = base_open(l->data_path, flags)) < 0)
        err = base_error_system(NC_EFILE, "making", l->data_path);
    if (err == NC_NOERR)
        err = base_write_at(l->data_fd, 0, "PnetCDF1", DATA_BEGIN, l->data_path);
    if (err == NC_NOERR) err = write_new_head(l, temporary);
    if (err != NC_NOERR && l->data_fd >= 0) unlink(l->data_path);
    if (err != NC_NOERR) unlink(temporary);
    if (err == NC_NOERR) err = base_sync_directory(l->meta_path);
    return err;
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

/* Nobody finds it by the name it has for a moment. */
static int open_kept(const char *beside, int *fd)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s.kept.XXXXXX", PATH_MAX - 20, beside);
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0) return base_error_system(NC_EWRITE, "making", path);
    return unlink(path) == 0 ? NC_NOERR : base_error_system(NC_EWRITE, "removing", path);
}

int burst_log_keep(struct burst_log *l, const char *beside, int64_t bytes, int64_t *at)
{
    int err = l->kept_fd < 0 ? open_kept(beside, &l->kept_fd) : NC_NOERR;
    *at = BURST_KEPT + l->kept;
    if (err == NC_NOERR) l->kept += bytes;
    return err;
}

static void forget_kept(struct burst_log *l)
{
    if (l->kept_fd >= 0) close(l->kept_fd);
    l->kept_fd = -1;
    l->kept = 0;
}

/* Values lie in the data log, or are kept elsewhere: where, and what that is called. */
struct place {
    int fd;
    int64_t at;
    const char *name;
};

static struct place place_in_log(const struct burst_log *l, int64_t at)
{
    if (at < BURST_KEPT) return (struct place){l->data_fd, at, l->data_path};
    return (struct place){l->kept_fd, at - BURST_KEPT,
                          "values that the log did not take"};
}

int burst_log_write(struct burst_log *l, int64_t at, struct iovec *pieces, int n)
{
    struct place p = place_in_log(l, at);
    return base_write_pieces(p.fd, p.at, pieces, n, p.name);
}

/* ---- entries ---- */

static void unmap_window(struct burst_log *l)
{
    if (l->window != NULL) munmap(l->window, (size_t)l->window_size);
    l->window = NULL;
    l->window_used = l->window_size = 0;
}

/* A new window, of one chunk or as many as the entry needs. */
static int next_window(struct burst_log *l, int64_t bytes)
{
    int64_t chunk = l->header.chunk, size = (bytes + chunk - 1) / chunk * chunk;
    int64_t at = l->header.entry_begin + atomic_fetch_add(&l->space->meta, size);
    unmap_window(l);
    int err = reserve_blocks(l, at, size);
    if (err != NC_NOERR) return err;
    l->window = map(l, at, (size_t)size);
    if (l->window == NULL) return NC_EFILE;
    l->window_at = at;
    l->window_size = size;
    return NC_NOERR;
}

int burst_log_add(struct burst_log *l, const struct burst_entry *e)
{
    if (l->window == NULL || e->size > l->window_size - l->window_used) {
        int err = next_window(l, e->size);
        if (err != NC_NOERR) return err;
    }
    int64_t at = l->window_at + l->window_used;
    unsigned char *bytes = l->window + l->window_used;
    burst_encode_entry(e, l->header.token, l->commit.generation, at, bytes);
    l->window_used += e->size;
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

/* One store of 8 bytes, so that the entry is whole whenever the process is killed. */
int burst_log_strike(struct burst_log *l, int64_t sum_at)
{
    uint64_t sum;
    int err = burst_read_file(l->meta_fd, sum_at, &sum, sizeof sum, l->meta_path);
    if (err != NC_NOERR) return err;
    sum = ~sum;
    return base_write_at(l->meta_fd, sum_at, &sum, sizeof sum, l->meta_path);
}

/* What cannot be noted in a log in which nothing waits need not be once nobody finds the
 * log: there is nothing to be replayed. Others may wait in one that is shared. */
static void note_commit(struct burst_log *l)
{
    int err = l->gone ? NC_NOERR : write_both(l);
    bool waits = l->shared || l->commit.drained < l->commit.count;
    if (err != NC_NOERR && !waits) l->gone = unlink(l->meta_path) == 0;
    l->unnoted = l->gone ? NC_NOERR : err;
}

int burst_log_noted(struct burst_log *l)
{
    if (l->unnoted != NC_NOERR) note_commit(l);
    return l->unnoted;
}

void burst_log_drained(struct burst_log *l, int64_t n)
{
    if (l->meta_fd < 0 || n <= l->commit.drained) return;
    l->commit.drained = n;
    note_commit(l);
}

/* Where it is noted, all that was logged before is forgotten, failures with it. */
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
    if (l->head != NULL)
        (void)next_generation(l, definitions); /* the next commit tells */
}

void burst_log_reset(struct burst_log *l)
{
    forget_kept(l);
    if (l->meta_fd < 0) return;
    next_generation(l, l->commit.definitions);
    l->extent = l->extent_end = DATA_BEGIN;
    bool keep = !l->shared && l->window != NULL && l->window_at == l->header.entry_begin;
    l->window_used = 0;
    if (!keep) unmap_window(l);
    if (l->slot > 0) return; /* the first process does it for all */
    atomic_store(&l->space->data, DATA_BEGIN);
    atomic_store(&l->space->meta, keep ? l->window_size : 0);
}

int burst_log_sync(struct burst_log *l)
{
    int err = base_sync_data(l->data_fd, l->data_path);
    return err == NC_NOERR ? base_sync_data(l->meta_fd, l->meta_path) : err;
}

/* Only noted once it is true: the record may reach the device at any time. */
void burst_log_synced(struct burst_log *l)
{
    l->commit.synced = l->commit.count;
    (void)write_both(l); /* else it is known to have less than it has */
}

int burst_log_sync_head(struct burst_log *l)
{
    int failed = 0;
    int err = burst_log_noted(l);
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
    return base_error_set(NC_EBADLOG, "%s ends at byte %lld, values are missing", path,
                          (long long)(at + got));
}

int burst_log_read(const struct burst_log *l, int64_t at, void *bytes, int64_t n)
{
    struct place p = place_in_log(l, at);
    return burst_read_file(p.fd, p.at, bytes, n, p.name);
}

/* ---- the end ---- */

void burst_log_end(struct burst_log *l, bool remove)
{
    forget_kept(l);
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
