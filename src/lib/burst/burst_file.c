/* Manages the paths and identities of the dataset's file and its logs.
 *
 * A program may change its working directory or rename the file while the file is open.
 * So create and open store absolute paths and a descriptor of the file, which one process
 * of each node opens and passes to the others; later calls use only these. A log stores
 * the identity of the file, a digest of its definitions, and notes of the file's size and
 * times, from which a replay learns whether anything else has changed the file since. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_number.h"
#include "base_owner.h"
#include "base_path.h"
#include "base_sum.h"
#include "burst_file.h"
#include "file_identity.h"

int burst_file_find_paths(struct burst_file *f)
{
    const struct dataset *ds = f->ds;
    char real[PATH_MAX];
    f->path = base_strdup(realpath(ds->path, real) == NULL ? ds->full_path : real);
    f->dir = base_path_absolute(ds->hints.burst_dirname);
    return f->path == NULL || f->dir == NULL ? NC_ENOMEM : NC_NOERR;
}

void burst_file_log_prefix(const struct burst_file *f, char *prefix, size_t size)
{
    const char *base = strrchr(f->path, '/');
    base = base == NULL ? f->path : base + 1;
    snprintf(prefix, size, "%.100s.%016llx.", base,
             (unsigned long long)base_hash(f->path, strlen(f->path), 0));
}

static void open_log_file(struct burst_file *f)
{
    if (file_open_again(f->ds, &f->handle) != NC_NOERR)
        f->handle = FILE_NO_DESCRIPTOR; /* no log, no threads */
}

/* The node's first process opens the file and passes the descriptor to the other
 * processes, which listen under these names. A process that does not receive it opens the
 * file itself. */
void burst_file_open_all(struct burst_file *f, const struct node *node)
{
    struct dataset *ds = f->ds;
    const int rank = node->rank, nprocs = node->nprocs;
    int passed = 0;
    int64_t name = 0, *names = NULL;
    int listens = rank > 0 ? file_descriptor_listen(&name) : -1;
    if (rank == 0) {
        open_log_file(f);
        names = base_calloc((size_t)nprocs, sizeof *names);
        passed = names != NULL;
    }
    (void)MPI_Bcast(&passed, 1, MPI_INT, 0, node->comm);
    if (passed)
        (void)MPI_Gather(&name, 1, MPI_INT64_T, names, 1, MPI_INT64_T, 0, node->comm);
    for (int i = 1; names != NULL && i < nprocs && f->handle.fd >= 0; i++)
        (void)file_descriptor_pass(&f->handle, names[i]);
    if (passed) (void)MPI_Bcast(&passed, 1, MPI_INT, 0, node->comm);
    base_free(names);
    bool received = listens >= 0 && file_descriptor_take(ds, listens, &f->handle);
    if (listens >= 0) (void)close(listens);
    if (rank > 0 && !received) open_log_file(f);
    if (f->handle.fd >= 0 && ds->shared_descriptor == NULL)
        ds->shared_descriptor = &f->handle;
    if (f->handle.fd >= 0) file_coherence_begin(&f->coherence, ds, &f->handle);
}

void burst_file_close(struct burst_file *f)
{
    if (f->ds->shared_descriptor == &f->handle) f->ds->shared_descriptor = NULL;
    file_coherence_end(&f->coherence);
    (void)file_descriptor_close(&f->handle, f->path);
    base_free(f->path);
    base_free(f->dir);
}

/* Returns a hash of the file's creation time and of its id, which changes if a dataset is
 * created in the same file. Together they distinguish the dataset from earlier and later
 * ones with the same inode. */
static uint64_t birth_of(int fd)
{
    const uint64_t both[] = {base_fs_birth(fd), base_fs_id(fd, BASE_FS_DATASET)};
    return both[1] == 0 ? both[0] : base_hash(both, sizeof both, 0);
}

uint64_t burst_file_birth(const struct burst_file *f)
{
    if (f->handle.fd < 0) return 0;
    if (base_fs_id(f->handle.fd, BASE_FS_DATASET) == 0)
        (void)base_fs_set_id(f->handle.fd, BASE_FS_DATASET, base_owner_new_nonce());
    return birth_of(f->handle.fd);
}

void burst_file_identity(const struct burst_file *f, struct burst_header *h)
{
    struct stat st;
    h->device = h->inode = h->birth = 0;
    if (f->handle.fd < 0 || fstat(f->handle.fd, &st) != 0) return;
    h->device = (uint64_t)st.st_dev;
    h->inode = (uint64_t)st.st_ino;
    h->birth = birth_of(f->handle.fd);
}

int64_t burst_file_owner(const struct burst_file *f)
{
    struct stat st;
    return fstat(f->handle.fd, &st) == 0 ? (int64_t)st.st_uid : -1;
}

bool burst_file_is(const struct burst_file *f, const struct burst_header *h,
                   bool same_boot)
{
    struct burst_header now;
    burst_file_identity(f, &now);
    /* Device numbers are local to a machine and change when it restarts. */
    return h->inode == 0 ||
           (h->inode == now.inode && (!same_boot || h->device == now.device) &&
            (h->birth == 0 || now.birth == 0 || h->birth == now.birth));
}

bool burst_file_coherent(const struct burst_file *f)
{
    return f->handle.fd >= 0 && base_fs_is_coherent(f->handle.fd);
}

/* Omits the begins of variables in a netCDF-4 file, which netCDF-C does not report. */
uint64_t burst_definitions(const struct dataset *ds)
{
    const struct cdf_header *h = &ds->header;
    uint64_t sum = base_sum(&h->format, sizeof h->format, 0);
    for (int i = 0; i < h->ndims; i++)
        sum = base_sum(&h->dims[i].length, sizeof h->dims[i].length, sum);
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        const int64_t of_var[] = {v->type, v->ndims, ds->netcdf4 ? 0 : v->begin};
        sum = base_sum(of_var, sizeof of_var, sum);
        sum = base_sum(v->dimids, (size_t)v->ndims * sizeof v->dimids[0], sum);
    }
    return sum;
}

/* ---- detecting changes by other programs ----
 *
 * Before a process changes the file, it writes a note to its log that it is doing so.
 * Afterwards it writes a note with the file's size and times (st_mtim and st_ctim). Both
 * notes are stored to mapped memory or written with a system call, in program order, so a
 * kill cannot lose or reorder them. The logs of a killed job show one of two cases:
 *
 * - No note has `changing` set. Every process wrote all its values before its last note,
 *   so the times in that note are at least as new. The latest times in all notes then
 *   equal the file's times, to the nanosecond, unless another program changed the file
 *   later. This needs no agreement. If the processes agree anyway after a collective
 *   change, only one of them reads the file's times.
 * - A note has `changing` set. The process was killed between this note and the next one:
 *   during a write or soon after it, because the note is renewed during long changes. A
 *   much later change was made by another program.
 *
 * st_mtim is not enough: rsync, cp -p and touch -r set it to any value, and some stores
 * to mapped memory do not change it. st_ctim changes with every change of the file's
 * bytes and cannot be set; it also changes with the file's permissions, links and name.
 * It is not compared in cases where the library itself changes it without changing a
 * value: HDF5 writes to a file when it opens it, and opening a subfiled dataset for
 * writing writes to its first page.
 *
 * HDF5 delays parts of a change and writes them in its own order. A netCDF-4 file whose
 * writer was killed in between may have lost older values without any sign of it. So a
 * change to such a file ends only after netCDF-C has written all of it
 * (burst_flush_change). If a note has `changing` set, the logs are replayed only at the
 * user's request.
 *
 * Except after a power cut, the file is never older than a process's last view of it,
 * unless it was restored from a copy. If only the times can show a change, the log must
 * be the very file that the job left: a copy may be one of a log that was replayed
 * before, and the file may have got newer values since.
 *
 * The same applies after a power cut, when either the file or the log may be the older
 * one, and on file systems that may report times to other nodes with a delay. A process
 * that replays logs writes notes to them, as their writers did, since it may also be
 * killed. File systems with such delays may also change the times when a file is merely
 * opened for writing; there, the times from before this opening are compared. */

/* Every transfer of the job must have ended within this time (in nanoseconds) after the
 * last note. The clocks of nodes and file servers must differ by less than that. */
static const int64_t IN_FLIGHT = 120 * (int64_t)1000000000;

bool burst_file_get_note(const struct burst_file *f, struct burst_note *note)
{
    struct stat st;
    bool stable = !f->ds->netcdf4 && f->ds->base == 0; /* the ctime can be compared */
    note->when = base_now(CLOCK_REALTIME);
    if (f->handle.fd < 0 || fstat(f->handle.fd, &st) != 0) return false;
    note->mtime = base_nanoseconds(st.st_mtim);
    note->ctime = stable ? base_nanoseconds(st.st_ctim) : 0;
    note->size = st.st_size;
    return true;
}

/* Writes a note to this process's log and to a log that is being replayed, if any. */
static void write_note(struct burst_file *f, struct burst_note note)
{
    if (f->replayed != NULL) burst_reader_set_note(f->replayed, note);
    burst_log_note(f->log, note);
}

static void note_change(struct burst_file *f)
{
    struct burst_note now = f->log->note;
    now.changing = 1;
    now.when = base_now(CLOCK_REALTIME);
    write_note(f, now);
}

void burst_begin_change(struct burst_file *f)
{
    pthread_mutex_lock(&f->lock);
    f->changers++;
    f->buffered = f->ds->netcdf4 != 0;
    note_change(f);
    pthread_mutex_unlock(&f->lock);
}

void burst_end_change(struct burst_file *f, bool look)
{
    pthread_mutex_lock(&f->lock);
    struct burst_note now = f->log->note;
    (void)base_holds(f->changers > 0);
    f->must_stat |= look;
    bool last = --f->changers == 0 && !f->replaying && !f->buffered;
    if (last && (!f->must_stat || burst_file_get_note(f, &now))) {
        now.changing = 0;
        f->must_stat = false;
        write_note(f, now);
    }
    pthread_mutex_unlock(&f->lock);
}

int burst_flush_change_all(struct burst_file *f, struct driver *lower)
{
    if (!f->ds->netcdf4) return NC_NOERR;
    int err = driver_call(lower, sync_all);
    f->buffered = err != NC_NOERR;
    return err;
}

int burst_flush_change(struct burst_file *f, struct driver *lower)
{
    if (!f->buffered || f->ds->nprocs > 1) return NC_NOERR;
    int err = driver_call(lower, sync);
    f->buffered = err != NC_NOERR;
    return err;
}

void burst_renew_change(struct burst_file *f)
{
    pthread_mutex_lock(&f->lock);
    if (f->changers > 0 && base_now(CLOCK_REALTIME) - f->log->note.when > IN_FLIGHT / 4)
        note_change(f);
    pthread_mutex_unlock(&f->lock);
}

static int report_file_changed(const struct burst_file *f, const char *what)
{
    return base_error_set(
        NC_EBADLOG,
        "%s %s, so the values in its logs in %s may be older than those in the file; "
        "delete the logs, or replay them with ncmpilog replay -f",
        f->path, what, f->dir);
}

static int report_file_damaged(const struct burst_file *f, int what)
{
    return base_error_set(
        NC_EBADLOG,
        "%s while %s, so HDF5 may have left the file damaged or with older values; check "
        "or restore the file, and then replay its logs in %s with ncmpilog replay -f",
        what & BURST_UNQUIET ? "a process was killed" : "the machine was restarted",
        what & BURST_UNQUIET ? "it was changing the file" : "the file was open", f->dir);
}

static int64_t latest_time(const struct burst_note *n)
{
    int64_t t = n->when > n->mtime ? n->when : n->mtime;
    return t > n->ctime ? t : n->ctime;
}

void burst_file_set_token(const struct burst_file *f, uint64_t from, uint64_t to)
{
    if (f->handle.fd < 0) return;
    if (base_fs_id(f->handle.fd, BASE_FS_LOGS) == from)
        (void)base_fs_set_id(f->handle.fd, BASE_FS_LOGS, to);
}

int burst_file_check_unchanged(const struct burst_file *f, uint64_t token,
                               const struct burst_note *last, int what)
{
    const struct dataset *ds = f->ds;
    struct burst_note now = {0}, before;
    if (!burst_file_get_note(f, &now))
        return base_error_system(NC_EFILE, "examining", f->path);
    before = now;
    if (ds->identity.modified > 0) before.mtime = ds->identity.modified;
    if (ds->identity.changed > 0) before.ctime = ds->identity.changed;
    if (ds->netcdf4) now.mtime = before.mtime; /* HDF5 has written to it */
    if (ds->netcdf4 && (what & (BURST_UNQUIET | BURST_REBOOTED)))
        return report_file_damaged(f, what);
    if (last->ctime == 0) now.ctime = before.ctime = 0; /* the logs do not record it */

    bool exact = !(what & (BURST_UNQUIET | BURST_REBOOTED)) && burst_file_coherent(f);
    int64_t limit = latest_time(last) + IN_FLIGHT;
    if (now.mtime < last->mtime && !(what & BURST_REBOOTED))
        return report_file_changed(
            f, "was replaced by an older version after its logs were written");
    if (exact ? now.mtime != last->mtime || now.size != last->size : before.mtime > limit)
        return report_file_changed(
            f,
            base_fs_may_be_stale(f->handle.fd)
                ? "was changed, or only opened for writing, after its logs were written"
                : "was changed after its logs were written");
    if (exact ? now.ctime != last->ctime : before.ctime > limit)
        return report_file_changed(
            f, "has its old modification time, but was changed after its logs were "
               "written: it was restored or renamed, or its permissions were changed");
    if (!exact && (what & BURST_COPIED))
        return report_file_changed(f,
                                   "may have been changed after its logs were written, "
                                   "and some of the logs are copies");
    bool moved = before.mtime != last->mtime || before.ctime != last->ctime ||
                 now.size != last->size;
    /* Any other opening removes the token of these logs before it writes to the file. */
    bool shared = base_fs_id(f->handle.fd, BASE_FS_DATASET) != 0 &&
                  base_fs_id(f->handle.fd, BASE_FS_LOGS) != token;
    if (!exact && !(what & BURST_REBOOTED) && moved && shared)
        return report_file_changed(f, "may have been changed by another program while a "
                                      "process of the job was changing it");
    return NC_NOERR;
}
