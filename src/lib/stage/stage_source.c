/* The file that is staged: which one it is, whether it has changed, and its bytes. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_names.h"
#include "driver_file.h"
#include "stage.h"

int stage_source_open(struct stage *s)
{
    struct driver_dataset *ds = s->base.ds;
    struct driver_descriptor d;
    if (s->source.fd >= 0) return NC_NOERR;
    int err = driver_file_again(ds, &d);
    if (err != NC_NOERR) return err;
    if (ds->hints.file_io != BASE_FILE_IO_POSIX && !base_fs_coherent(d.fd)) {
        (void)driver_descriptor_close(&d, ds->path);
        return base_error_set(NC_EFILE, "%s: its file system is read through MPI-IO",
                              ds->path);
    }
    s->source = d;
    return NC_NOERR;
}

/* Times of a file come from a clock that may stand still for seconds: a second change
 * within them leaves the time as it is. */
static bool is_quiet(const struct timespec *modified)
{
    enum { MOMENT = 10 };
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) == 0 &&
           modified->tv_sec < now.tv_sec - MOMENT;
}

uint64_t stage_source_stamp(const struct stage_identity *now, int64_t block)
{
    const int64_t numbers[] = {now->inode,
                               now->size,
                               now->modified.tv_sec,
                               now->modified.tv_nsec,
                               now->changed.tv_sec,
                               now->changed.tv_nsec,
                               block};
    uint64_t stamp = base_hash(now->records, sizeof now->records,
                               base_hash(numbers, sizeof numbers, 0));
    return now->quiet ? stamp | 1 : 0;
}

bool stage_source_identify(struct stage *s, struct stage_identity *now)
{
    enum { RECORDS_AT = 4 };
    struct stat st;
    memset(now, 0, sizeof *now);
    if (s->source.fd < 0 || fstat(s->source.fd, &st) != 0) return false;
    now->device = (int64_t)st.st_dev;
    now->inode = (int64_t)st.st_ino;
    now->size = (int64_t)st.st_size;
    now->modified = st.st_mtim;
    now->changed = st.st_ctim;
    now->quiet = is_quiet(&st.st_mtim) && is_quiet(&st.st_ctim);
    return pread(s->source.fd, now->records, sizeof now->records, RECORDS_AT) >= 0;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_same(const struct stage_identity *a, const struct stage_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           same_time(&a->modified, &b->modified) && same_time(&a->changed, &b->changed) &&
           memcmp(a->records, b->records, sizeof a->records) == 0;
}

static void give_up(struct stage *s)
{
    stage_table_break(s->table);
    s->base.ds->stats.stage_fallbacks++;
}

/* What was staged is forgotten before the new identity can be seen: at worst another
 * process forgets once more. What other nodes may still write to the same file cannot be
 * forgotten, if they are at it. */
static void look_again(struct stage *s, bool alone)
{
    struct stage_identity now, *known = &s->shared->identity;
    if (stage_table_broken(s->table)) return;
    if (stage_source_open(s) != NC_NOERR || !stage_source_identify(s, &now)) {
        give_up(s);
        return;
    }
    if (known->quiet && is_same(known, &now)) return;
    atomic_store(&s->shared->stamp, 0);
    stage_table_forget(s->table);
    if (!is_same(known, &now)) s->base.ds->stats.stage_stale++;
    if (alone && s->shared->mirror) {
        give_up(s);
        return;
    }
    *known = now;
    atomic_store(&s->shared->stamp, stage_source_stamp(&now, s->shared->block));
}

void stage_source_check(struct stage *s)
{
    look_again(s, true);
}

void stage_source_renew(struct stage *s)
{
    look_again(s, false);
}

int64_t stage_now(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void stage_pace_count(struct stage_pace *p, int64_t bytes, int64_t since)
{
    atomic_fetch_add(&p->bytes, bytes);
    atomic_fetch_add(&p->ns, stage_now() - since);
}

int stage_source_read(struct stage *s, int64_t at, void *bytes, int64_t n)
{
    int64_t done = 0, since = stage_now();
    atomic_fetch_add(&s->counts.source_reads, 1);
    while (done < n) {
        ssize_t got = pread(s->source.fd, (char *)bytes + done, (size_t)(n - done),
                            (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return base_error_system(NC_EREAD, "reading", s->base.ds->path);
        if (got == 0) break;
        done += got;
    }
    atomic_fetch_add(&s->counts.source_bytes, done);
    stage_pace_count(&s->near, done, since);
    memset((char *)bytes + done, 0, (size_t)(n - done));
    return NC_NOERR;
}
