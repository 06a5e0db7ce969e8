/* The files that are staged: which they are, whether they have changed, and their bytes.
 */
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

/* ---- which files they are ---- */

/* Times of a file come from a clock that may stand still for seconds: a second change
 * within them leaves the time as it is. */
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

/* Numbers that were read between two looks at the same even version are of one identity:
 * all of these are in one order that all processes see, and who changes a number has
 * made the version odd before. */
struct stage_identity stage_part_identity(struct stage_part *p)
{
    enum { TRIES = 1000 }; /* who changes it may have been killed */
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

void stage_part_identify(struct stage_part *p, const struct stage_identity *now)
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

/* -1: there is no regular file of that name that could be opened. */
static int open_by_name(struct stage *s, int number)
{
    char *path = s->parts.path(s->parts.who, number - 1);
    int fd = path == NULL ? -1 : base_open_regular(path, O_RDONLY);
    base_free(path);
    return fd;
}

void stage_source_look(struct stage *s, int number, struct stage_identity *now)
{
    int fd = open_by_name(s, number);
    (void)stage_source_identify(fd, 0, now);
    if (fd >= 0) (void)close(fd);
}

/* ---- opening ---- */

/* Is it what nodes have staged, and can it be read as they do? One that changed before it
 * was used has not been looked at by syncs; others may have blocks of it. */
static int admit(struct stage *s, const struct stage_source *source, const char *path)
{
    struct stage_identity now;
    int fd = source->file.fd;
    if (s->ds->hints.file_io != BASE_FILE_IO_POSIX && !base_fs_coherent(fd))
        return base_error_set(NC_EFILE, "%s: its file system is read through MPI-IO",
                              path);
    if (s->shared == NULL || source->part == 0) return NC_NOERR;
    struct stage_part *p = stage_part_of(s->shared, source->part);
    atomic_store(&p->used, 1);
    struct stage_identity known = stage_part_identity(p);
    if (stage_source_identify(fd, 0, &now) && now.inode == known.inode &&
        (is_same(now, known) || !known.quiet))
        return NC_NOERR;
    return base_error_set(NC_EFILE, "%s: it is not the file that is staged", path);
}

static bool is_gone(const struct stage *s, int part)
{
    return s->shared != NULL && part > 0 &&
           stage_part_identity(stage_part_of(s->shared, part)).inode == 0;
}

void stage_source_end(struct stage_reader *r)
{
    struct dataset *ds = r->base.ds;
    if (ds->lent == &r->source.file) ds->lent = NULL;
    if (!r->source.borrowed) (void)file_descriptor_close(&r->source.file, ds->path);
    r->source.file = FILE_NO_DESCRIPTOR;
}

int stage_source_open(struct stage_reader *r)
{
    struct stage_source *source = &r->source;
    struct dataset *ds = r->base.ds;
    const char *path = ds->path;
    if (is_gone(r->stage, source->part))
        return base_error_set(NC_EFILE, "%s: it is another file by now", path);
    if (source->file.fd >= 0) return NC_NOERR;
    /* There may be hundreds of files: none takes more descriptors than without a stage.
     */
    source->borrowed = source->part > 0 && ds->lent != NULL;
    int err = NC_NOERR;
    if (source->borrowed)
        source->file = (struct file_descriptor){.fd = ds->lent->fd, .errors = -1};
    else
        err = file_again(ds, &source->file);
    if (err == NC_NOERR) err = admit(r->stage, source, path);
    if (err != NC_NOERR)
        stage_source_end(r);
    else if (ds->lent == NULL) /* what is not staged comes from the same file */
        ds->lent = &source->file;
    return err;
}

bool stage_source_open_part(struct stage *s, struct stage_source *source)
{
    if (source->part == 0) {
        source->file = s->own.source.file;
        return true;
    }
    if (is_gone(s, source->part)) return false;
    source->file.fd = open_by_name(s, source->part);
    if (source->file.fd < 0) return false;
    if (admit(s, source, "a part of the dataset") == NC_NOERR) return true;
    stage_source_close(source);
    return false;
}

void stage_source_close(struct stage_source *source)
{
    if (source->part > 0) (void)file_descriptor_close(&source->file, "");
    source->file = FILE_NO_DESCRIPTOR;
}

/* ---- whether they have changed ---- */

static void give_source_up(struct stage *s)
{
    stage_table_break(s->table);
    s->ds->stats.stage_fallbacks++;
}

/* What was staged is forgotten before the new identity can be seen: at worst another
 * process forgets once more. What other nodes may still write to the same staged file
 * cannot be forgotten, if they are at it. Where another file has taken a name, processes
 * may have the old one open: it is not staged any more as long as they do. False: nothing
 * is new. */
static bool renew(struct stage *s, struct stage_part *p, struct stage_identity now,
                  bool again)
{
    struct stage_identity known = stage_part_identity(p);
    bool same = is_same(known, now);
    if (same && (known.quiet || now.inode == 0)) return false;
    atomic_store(&s->shared->stamp, 0);
    stage_table_forget(s->table);
    if (!same) s->ds->stats.stage_stale++;
    if (!again && s->shared->mirror) give_source_up(s);
    if (!again && now.inode != known.inode) memset(&now, 0, sizeof now);
    stage_part_identify(p, &now);
    return true;
}

/* The dataset's own file is looked at unless others have all values; they are if they
 * were used, or as `others` tells. */
static void check_source(struct stage *s, const struct stage_identity *others)
{
    struct stage_identity now;
    struct stage_shared *all = s->shared;
    if (s->table == NULL || stage_table_broken(s->table)) return;
    bool own = !s->parts.all, changed = false;
    if (own && (stage_source_open(&s->own) != NC_NOERR ||
                !stage_source_identify(s->own.source.file.fd, s->ds->base, &now))) {
        give_source_up(s);
        return;
    }
    if (own) changed = renew(s, stage_part_of(all, 0), now, others != NULL);
    for (int i = 1; i < all->nparts; i++) {
        struct stage_part *p = stage_part_of(all, i);
        if (others == NULL && (!atomic_load(&p->used) || is_gone(s, i))) continue;
        if (others == NULL) stage_source_look(s, i, &now);
        if (renew(s, p, others == NULL ? now : others[i], others != NULL)) changed = true;
    }
    if (!changed || stage_table_broken(s->table)) return;
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

void stage_pace_count(struct stage_pace *p, int64_t bytes, int64_t since)
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
    stage_pace_count(&s->near, done, since);
    memset((char *)bytes + done, 0, (size_t)(n - done));
    return NC_NOERR;
}
