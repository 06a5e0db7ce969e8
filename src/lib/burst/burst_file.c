/* Where the dataset's file and its logs are. A program may change its directory and give
 * the file another name while it is open: nothing here goes by what the caller said once
 * create or open has returned. */
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
#include "base_number.h"
#include "base_path.h"
#include "burst.h"
#include "burst_holder.h"
#include "file_identity.h"

int burst_find_file(struct burst *b)
{
    const struct dataset *ds = b->base.ds;
    char known[PATH_MAX];
    b->path = base_strdup(realpath(ds->path, known) == NULL ? ds->full : known);
    b->dir = base_path_absolute(ds->hints.burst_dirname);
    return b->path == NULL || b->dir == NULL ? NC_ENOMEM : NC_NOERR;
}

static void open_log_file(struct burst *b)
{
    if (file_again(b->base.ds, &b->file) != NC_NOERR)
        b->file = FILE_NO_DESCRIPTOR; /* no log, no threads */
}

/* The first process of a node passes its descriptor to those that listen, under these
 * names. */
static void pass_file(struct burst *b, const int64_t *names, int nprocs)
{
    for (int rank = 1; rank < nprocs && b->file.fd >= 0; rank++)
        (void)file_descriptor_pass(&b->file, names[rank]);
}

/* Whatever goes wrong between the processes of a node, each of them can open the file. */
void burst_open_file_all(struct burst *b)
{
    struct dataset *ds = b->base.ds;
    const struct node *node = b->node;
    const int rank = node->rank, nprocs = node->nprocs;
    int passed = 0;
    int64_t name = 0, *names = NULL;
    int listens = rank > 0 ? file_descriptor_listen(&name) : -1;
    if (rank == 0) {
        open_log_file(b);
        names = base_calloc((size_t)nprocs, sizeof *names);
        passed = names != NULL;
    }
    (void)MPI_Bcast(&passed, 1, MPI_INT, 0, node->comm);
    if (passed)
        (void)MPI_Gather(&name, 1, MPI_INT64_T, names, 1, MPI_INT64_T, 0, node->comm);
    if (rank == 0 && names != NULL) pass_file(b, names, nprocs);
    if (passed) (void)MPI_Bcast(&passed, 1, MPI_INT, 0, node->comm);
    base_free(names);
    bool taken = listens >= 0 && file_descriptor_take(ds, listens, &b->file);
    if (listens >= 0) (void)close(listens);
    if (rank > 0 && !taken) open_log_file(b);
    if (b->file.fd >= 0 && ds->lent == NULL) ds->lent = &b->file;
    if (b->file.fd >= 0) file_late_begin(&b->late, ds, &b->file);
}

void burst_forget_file(struct burst *b)
{
    if (b->base.ds->lent == &b->file) b->base.ds->lent = NULL;
    file_late_end(&b->late);
    (void)file_descriptor_close(&b->file, b->path);
    base_free(b->path);
    base_free(b->dir);
}

void burst_file_identity(const struct burst *b, struct burst_header *h)
{
    struct stat st;
    h->device = h->inode = h->birth = 0;
    if (b->file.fd < 0 || fstat(b->file.fd, &st) != 0) return;
    h->device = (uint64_t)st.st_dev;
    h->inode = (uint64_t)st.st_ino;
    h->birth = base_fs_birth(b->file.fd);
}

int64_t burst_file_owner(const struct burst *b)
{
    struct stat st;
    return fstat(b->file.fd, &st) == 0 ? (int64_t)st.st_uid : -1;
}

bool burst_file_is(const struct burst *b, const struct burst_header *h, bool same_boot)
{
    struct burst_header now;
    burst_file_identity(b, &now);
    /* Device numbers are a machine's own, and others after a start. */
    return h->inode == 0 ||
           (h->inode == now.inode && (!same_boot || h->device == now.device) &&
            (h->birth == 0 || now.birth == 0 || h->birth == now.birth));
}

bool burst_file_coherent(const struct burst *b)
{
    return b->file.fd >= 0 && base_fs_coherent(b->file.fd);
}

/* ---- has anybody else changed it? ----
 *
 * Each process notes in its log, before it may change the file, that it does so; and when
 * that is over, when the file was changed last (its mtime) and how large it is. Both are
 * stored into mapped memory, or written, in the order of the program, so that they are
 * there whenever it is killed. So in the logs of a job that was killed
 *
 * - no note says `changing`: whatever a process wrote came before its own last note,
 * which has an mtime not older than that. The latest of all notes then is the file's, to
 * the nanosecond, unless somebody else came later. No agreement is needed for this. Where
 * the processes agree behind a change they make together, one of them looks for all.
 * - one says so: it was killed between the note and the next one, in a single write or
 *   soon after it, as the note is renewed while they last. What came much later was not
 *   its own.
 *
 * HDF5 keeps parts of a change to itself, and writes them in an order of its own: a
 * netCDF-4 file whose writer was killed in between may have lost older values without a
 * sign. There a change ends when netCDF-C has been told to write it all (burst_whole),
 * and where a note says `changing` nothing is replayed, unless the user says so.
 *
 * In no case, but after a power cut, is the file older than what a process has seen: such
 * a file was restored. And where only the time tells, the log has to be the very file
 * that was left. One that was copied may have been replayed before, with newer values in
 * the file since.
 *
 * The same holds after a power cut, when the file or the log may be older than the other,
 * and where the file system may keep an mtime back from other nodes. Who replays logs
 * notes in them what it does, as the processes did: it may be killed, too. A file system
 * of the last kind may also move the time when a file is only opened for writing: there
 * the time counts which it had before this opening. */

/* How much later than the last note a transfer of the job may have ended. Clocks of nodes
 * and of file servers differ by less. */
static const int64_t IN_FLIGHT = 120 * (int64_t)1000000000;

bool burst_file_note(const struct burst *b, struct burst_note *note)
{
    struct stat st;
    note->when = base_now(CLOCK_REALTIME);
    if (b->file.fd < 0 || fstat(b->file.fd, &st) != 0) return false;
    note->mtime = base_nanoseconds(st.st_mtim);
    note->size = st.st_size;
    return true;
}

/* Into the log, or one of those that are being replayed. */
static void write_note(struct burst *b, struct burst_note note)
{
    if (b->nsources > 0 && !b->any_file) burst_reader_set_note(b->sources[0], note);
    burst_log_note(&b->log, note);
}

static void note_change(struct burst *b)
{
    struct burst_note now = b->log.note;
    now.changing = 1;
    now.when = base_now(CLOCK_REALTIME);
    write_note(b, now);
}

void burst_change(struct burst *b)
{
    pthread_mutex_lock(&b->noting);
    b->changers++;
    b->halfway = b->base.ds->netcdf4 != 0;
    note_change(b);
    pthread_mutex_unlock(&b->noting);
}

void burst_changed(struct burst *b, bool look)
{
    pthread_mutex_lock(&b->noting);
    struct burst_note now = b->log.note;
    b->look |= look;
    bool last = --b->changers == 0 && b->nsources == 0 && !b->halfway;
    if (last && (!b->look || burst_file_note(b, &now))) {
        now.changing = 0;
        b->look = false;
        write_note(b, now);
    }
    pthread_mutex_unlock(&b->noting);
}

int burst_whole_all(struct burst *b)
{
    if (!b->base.ds->netcdf4) return NC_NOERR;
    int err = driver_call(b->base.lower, sync_all);
    b->halfway = err != NC_NOERR;
    return err;
}

int burst_whole(struct burst *b)
{
    if (!b->halfway || b->base.ds->nprocs > 1) return NC_NOERR;
    int err = driver_call(b->base.lower, sync);
    b->halfway = err != NC_NOERR;
    return err;
}

void burst_change_lasts(struct burst *b)
{
    pthread_mutex_lock(&b->noting);
    if (b->changers > 0 && base_now(CLOCK_REALTIME) - b->log.note.when > IN_FLIGHT / 4)
        note_change(b);
    pthread_mutex_unlock(&b->noting);
}

static int tell_file_changed(const struct burst *b, const char *what)
{
    return base_error_set(
        NC_EBADLOG,
        "%s %s, and what its logs in %s hold may be older: delete them, "
        "or have them replayed by ncmpilog replay -f",
        b->path, what, b->dir);
}

static int tell_file_damaged(const struct burst *b, int what)
{
    return base_error_set(
        NC_EBADLOG,
        "%s while %s: HDF5 may have left it damaged, with older values missing. Look at "
        "it, or restore it, and have its logs in %s replayed by ncmpilog replay -f",
        what & BURST_UNQUIET ? "a process was killed" : "the machine was restarted",
        what & BURST_UNQUIET ? "it was changing the file" : "the file was open", b->dir);
}

int burst_file_unchanged(const struct burst *b, const struct burst_note *last, int what)
{
    struct burst_note now = {0};
    if (!burst_file_note(b, &now))
        return base_error_system(NC_EFILE, "asking for the state of", b->path);
    int64_t latest = last->when > last->mtime ? last->when : last->mtime;
    int64_t before = b->base.ds->modified > 0 ? b->base.ds->modified : now.mtime;
    if (b->base.ds->netcdf4) now.mtime = before; /* HDF5 has written to it by now */
    if (b->base.ds->netcdf4 && (what & (BURST_UNQUIET | BURST_REBOOTED)))
        return tell_file_damaged(b, what);
    bool exact = !(what & (BURST_UNQUIET | BURST_REBOOTED)) && burst_file_coherent(b);
    if (now.mtime < last->mtime && !(what & BURST_REBOOTED))
        return tell_file_changed(
            b, "was changed since its logs were left, to an older state");
    if (exact ? now.mtime != last->mtime || now.size != last->size
              : before > latest + IN_FLIGHT)
        return tell_file_changed(b, base_fs_late(b->file.fd)
                                        ? "was changed since its logs were left, or "
                                          "opened for writing, which shows no different"
                                        : "was changed since its logs were left");
    if (!exact && (what & BURST_COPIED))
        return tell_file_changed(
            b, "may have been changed since its logs were left, of which "
               "some are copies");
    return NC_NOERR;
}
