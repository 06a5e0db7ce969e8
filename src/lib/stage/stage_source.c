/* Identifies and opens the files to stage, detects changes, and reads bytes. Blocks are
 * valid for one identity of their file. When it changes, all blocks are invalidated
 * before the new identity is published. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_number.h"
#include "file_identity.h"
#include "stage.h"

/* ---- identity ---- */

/* Returns whether a time is so old that another change to the file would alter it. File
 * times come from a clock that may not advance for seconds. */
static bool is_quiet(time_t modified)
{
    enum { MOMENT = 10 };
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) == 0 && modified < now.tv_sec - MOMENT;
}

uint64_t stage_source_stamp(uint64_t before, const struct stage_identity *now,
                            int64_t block)
{
    if (before == 0 || (now->inode != 0 && !now->quiet)) return 0;
    return base_hash(now, sizeof *now, base_hash(&block, sizeof block, before)) | 1;
}

bool stage_source_identify(int fd, int64_t base, struct stage_identity *now)
{
    enum { RECORDS_AT = 4 };
    unsigned char records[8] = {0};
    struct stat st;
    memset(now, 0, sizeof *now);
    if (fd < 0 || fstat(fd, &st) != 0 ||
        base_read_some(fd, base + RECORDS_AT, records, sizeof records) < 0)
        return false;
    *now = (struct stage_identity){.inode = (int64_t)st.st_ino,
                                   .size = (int64_t)st.st_size,
                                   .modified = {st.st_mtim.tv_sec, st.st_mtim.tv_nsec},
                                   .changed = {st.st_ctim.tv_sec, st.st_ctim.tv_nsec},
                                   .quiet = is_quiet(st.st_mtim.tv_sec) &&
                                            is_quiet(st.st_ctim.tv_sec)};
    for (size_t i = 0; i < sizeof records; i++)
        now->records[i / 4] = now->records[i / 4] << 8 | records[i];
    return true;
}

/* If the version is even and unchanged, the fields belong to one identity: all accesses
 * are sequentially consistent, and a writer first makes the version odd. */
struct stage_identity stage_part_identity(struct stage_part *p)
{
    enum { TRIES = 1000 }; /* bounded, because the writer may have been killed */
    int64_t numbers[STAGE_NUMBERS];
    struct stage_identity found;
    for (int tries = 0; tries < TRIES; tries++) {
        int64_t version = atomic_load(&p->version);
        for (int i = 0; i < STAGE_NUMBERS; i++)
            numbers[i] = atomic_load(&p->identity[i]);
        if (version % 2 == 0 && atomic_load(&p->version) == version) {
            memcpy(&found, numbers, sizeof found);
            return found;
        }
        (void)sched_yield();
    }
    return (struct stage_identity){.inode = 0};
}

void stage_part_set_identity(struct stage_part *p, const struct stage_identity *now)
{
    int64_t numbers[STAGE_NUMBERS];
    memcpy(numbers, now, sizeof numbers);
    atomic_fetch_add(&p->version, 1);
    for (int i = 0; i < STAGE_NUMBERS; i++)
        atomic_store(&p->identity[i], numbers[i]);
    atomic_fetch_add(&p->version, 1);
}

static bool is_same(struct stage_identity a, struct stage_identity b)
{
    a.quiet = b.quiet;
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Opens a file by name. Returns -1 if it cannot be opened or is not a regular file. */
static int open_by_name(struct stage *s, int number)
{
    char *path = s->parts.path(s->parts.arg, number - 1);
    int fd = path == NULL ? -1 : base_open_regular(path, O_RDONLY);
    base_free(path);
    return fd;
}

void stage_source_get_identity(struct stage *s, int number, struct stage_identity *now)
{
    int fd = open_by_name(s, number);
    (void)stage_source_identify(fd, 0, now);
    if (fd >= 0) (void)close(fd);
}

/* ---- opening ---- */

/* Checks that a file can be read through a descriptor and is the one that was staged:
 * syncs check it only after its first use, and other nodes may have staged its blocks. */
static int check_readable(struct stage *s, const struct stage_source *source,
                          const char *path)
{
    struct stage_identity now;
    int fd = source->file.fd;
    if (s->ds->hints.file_io != HINTS_FILE_IO_POSIX && !base_fs_is_coherent(fd))
        return base_error_set(
            NC_EFILE, "%s: not staged, as its file system is read through MPI-IO", path);
    if (s->shared == NULL || source->part == 0) return NC_NOERR;
    struct stage_part *p = stage_part_of(s->shared, source->part);
    atomic_store(&p->used, 1);
    struct stage_identity known = stage_part_identity(p);
    if (stage_source_identify(fd, 0, &now) && now.inode == known.inode &&
        (is_same(now, known) || !known.quiet))
        return NC_NOERR;
    return base_error_set(NC_EFILE, "%s is not the file that was staged", path);
}

static bool has_no_identity(const struct stage *s, int part)
{
    return s->shared != NULL && part > 0 &&
           stage_part_identity(stage_part_of(s->shared, part)).inode == 0;
}

void stage_source_end(struct stage_reader *r)
{
    struct dataset *ds = r->base.ds;
    if (ds->shared_descriptor == &r->source.file) ds->shared_descriptor = NULL;
    if (!r->source.borrowed) (void)file_descriptor_close(&r->source.file, ds->path);
    r->source.file = FILE_NO_DESCRIPTOR;
}

int stage_source_open(struct stage_reader *r)
{
    struct stage_source *source = &r->source;
    struct dataset *ds = r->base.ds;
    const char *path = ds->path;
    if (has_no_identity(r->stage, source->part))
        return base_error_set(NC_EFILE, "%s was replaced by another file", path);
    if (source->file.fd >= 0) return NC_NOERR;
    /* Borrows a descriptor: there may be hundreds of files, and staging should not need
     * more descriptors than ordinary reads. */
    source->borrowed = source->part > 0 && ds->shared_descriptor != NULL;
    int err = NC_NOERR;
    if (source->borrowed)
        source->file =
            (struct file_descriptor){.fd = ds->shared_descriptor->fd, .errors = -1};
    else
        err = file_open_again(ds, &source->file);
    if (err == NC_NOERR) err = check_readable(r->stage, source, path);
    if (err != NC_NOERR)
        stage_source_end(r);
    else if (ds->shared_descriptor == NULL) /* unstaged reads use the same descriptor */
        ds->shared_descriptor = &source->file;
    return err;
}

bool stage_source_open_part(struct stage *s, struct stage_source *source)
{
    if (source->part == 0) {
        source->file = s->own.source.file;
        return true;
    }
    if (has_no_identity(s, source->part)) return false;
    source->file.fd = open_by_name(s, source->part);
    if (source->file.fd < 0) return false;
    if (check_readable(s, source, "a part of the dataset") == NC_NOERR) return true;
    stage_source_close(source);
    return false;
}

void stage_source_close(struct stage_source *source)
{
    if (source->part > 0) (void)file_descriptor_close(&source->file, "");
    source->file = FILE_NO_DESCRIPTOR;
}

/* ---- changes ---- */

static void disable_stage(struct stage *s)
{
    stage_table_disable(s->table);
    s->ds->stats.stage_fallbacks++;
}

/* Compares a file with its known identity, and invalidates all blocks if it has changed.
 * Returns whether it has.
 * 1. Blocks are invalidated before the new identity is visible. At worst another process
 *    invalidates them again.
 * 2. Other nodes may still write old blocks to a mirror. This cannot be prevented, so
 *    this node stops staging.
 * 3. If another file now has the name, some processes may still have the old file open,
 *    so neither file is staged while the dataset is open. */
static bool update_identity(struct stage *s, struct stage_part *p,
                            struct stage_identity now, bool again)
{
    struct stage_identity known = stage_part_identity(p);
    bool same = is_same(known, now);
    if (same && (known.quiet || now.inode == 0)) return false;
    atomic_store(&s->shared->stamp, 0);
    stage_table_invalidate(s->table);
    if (!same) s->ds->stats.stage_stale++;
    if (!again && s->shared->mirror) disable_stage(s);
    if (!again && now.inode != known.inode) memset(&now, 0, sizeof now);
    stage_part_set_identity(p, &now);
    return true;
}

/* Checks the dataset's own file, unless the other files contain all values. Also checks
 * the other files used so far, or all of them if `others` contains their identities. */
static void check_source(struct stage *s, const struct stage_identity *others)
{
    struct stage_identity now;
    struct stage_shared *all = s->shared;
    if (s->table == NULL || stage_table_is_disabled(s->table)) return;
    bool own = !s->parts.all, changed = false;
    if (own && (stage_source_open(&s->own) != NC_NOERR ||
                !stage_source_identify(s->own.source.file.fd, s->ds->base, &now))) {
        disable_stage(s);
        return;
    }
    if (own) changed = update_identity(s, stage_part_of(all, 0), now, others != NULL);
    for (int i = 1; i < all->nparts; i++) {
        struct stage_part *p = stage_part_of(all, i);
        if (others == NULL && (!atomic_load(&p->used) || has_no_identity(s, i))) continue;
        if (others == NULL) stage_source_get_identity(s, i, &now);
        if (update_identity(s, p, others == NULL ? now : others[i], others != NULL))
            changed = true;
    }
    if (!changed || stage_table_is_disabled(s->table)) return;
    uint64_t stamp = 1;
    for (int64_t i = 0; i < all->nparts; i++) {
        now = stage_part_identity(stage_part_of(all, i));
        stamp = stage_source_stamp(stamp, &now, all->block);
    }
    atomic_store(&all->stamp, stamp);
}

void stage_source_check(struct stage *s)
{
    check_source(s, NULL);
}

void stage_source_check_again(struct stage *s, const struct stage_identity *now)
{
    check_source(s, now);
}

/* ---- bytes ---- */

int64_t stage_now(void)
{
    return base_now(CLOCK_MONOTONIC);
}

void stage_speed_add(struct stage_speed *p, int64_t bytes, int64_t since)
{
    atomic_fetch_add(&p->bytes, bytes);
    atomic_fetch_add(&p->ns, stage_now() - since);
}

int stage_source_read(struct stage *s, const struct stage_source *source, int64_t at,
                      void *bytes, int64_t n)
{
    int64_t since = stage_now();
    atomic_fetch_add(&s->counts.source_reads, 1);
    int64_t done = base_read_some(source->file.fd, at, bytes, n);
    if (done < 0) return base_error_system(NC_EREAD, "reading", s->ds->path);
    atomic_fetch_add(&s->counts.source_bytes, done);
    stage_speed_add(&s->file_speed, done, since);
    memset((char *)bytes + done, 0, (size_t)(n - done));
    return NC_NOERR;
}

/* ---- readiness ---- */

bool stage_is_usable(const struct stage *s)
{
    return s->table != NULL && s->file >= 0 && s->view.own != NULL && s->tile != NULL &&
           !stage_table_is_disabled(s->table);
}

bool stage_try_open(struct stage_reader *r)
{
    return stage_is_usable(r->stage) && stage_source_open(r) == NC_NOERR;
}
