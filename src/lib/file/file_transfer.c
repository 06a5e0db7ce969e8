/* Reads, writes, resizes and syncs the file. A single transfer stays under 2^30 bytes,
 * because larger counts are unreliable on some systems.
 *
 * A process that reads after an agreement sees what others wrote before the agreement:
 * - Descriptors: write() has returned before the agreement, and read() begins after it.
 *   base_fs_is_coherent returns whether that suffices. If not, base_fs_bypass_cache
 *   bypasses the node's page cache; on mounts that need more, file_coherence does the
 *   rest.
 * - MPI-IO handles opened by one process each: MPI-IO's driver for the file system
 *   ensures this, as it does for processes that open the file together and use it
 *   independently. (For NFS, ROMIO locks what it reads and writes, which empties the
 *   client's cache.)
 *
 * Offsets are relative to the dataset, which begins at byte ds->base of the file. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mpi.h"
#include "trace_record.h"

enum { PIECE = 1 << 30 };

/* ---- transfers ---- */

/* Count a call that read or wrote n bytes. */
static void count_read(struct file *f, int64_t n)
{
    f->ds->stats.file_reads++;
    f->ds->stats.file_read_bytes += n;
}

static void count_write(struct file *f, int64_t n)
{
    f->ds->stats.file_writes++;
    f->ds->stats.file_written_bytes += n;
}

/* Returns the number of bytes transferred, at most n. */
static int64_t bytes_transferred(MPI_Status *status, int64_t n)
{
    int count;
    if (MPI_Get_count(status, MPI_BYTE, &count) != MPI_SUCCESS || count == MPI_UNDEFINED)
        return 0;
    return count < n ? count : n;
}

/* Returns the error code for a failed or short transfer. ROMIO has one error class for
 * nearly all errors, and Open MPI has none, but errno, which was 0 before the call, now
 * has the system's code. */
static int write_code(void)
{
    return errno == ENOSPC ? NC_ENO_SPACE : errno == EDQUOT ? NC_EQUOTA : NC_EWRITE;
}

static int check_written(int mpi, MPI_Status *status, int64_t n)
{
    int saved = errno, code = write_code();
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, code, "writing");
    int64_t done = bytes_transferred(status, n);
    if (done == n) return NC_NOERR;
    return base_error_set(code, "only %lld of %lld bytes were written%s%s",
                          (long long)done, (long long)n, saved == 0 ? "" : ": ",
                          saved == 0 ? "" : strerror(saved));
}

/* Reports that this node sees a wrong file size: its kernel or the server assumes that
 * the file ends where this node's own writes end, so the node cannot read beyond that. */
static int report_stale_size(const struct file *f, int64_t size)
{
    char name[BASE_FS_NAME];
    base_fs_name(f->own.fd, name);
    return base_error_set(
        NC_EREAD,
        "%s: this node sees only %lld of %lld bytes: its mount (%s) does not notice when "
        "other nodes extend the file. Mount it without a write-back cache (GlusterFS: "
        "without shards), or use one node",
        f->ds->full_path, (long long)size, (long long)file_expected_end(f), name);
}

/* Handles a read of zero bytes at `offset`. Either the file ends there, and zeros are
 * read, or MPI-IO failed without reporting an error (Open MPI), or other processes have
 * just extended the file. In the last case sets *again, but only if *size has changed. */
static int read_nothing(struct file *f, int64_t offset, int64_t *size, bool *again)
{
    int64_t before = *size;
    int err = file_size(f, size);
    *again = err == NC_NOERR && offset < *size && *size != before;
    if (err != NC_NOERR || *again) return err;
    if (f->bypasses_cache && offset < file_expected_end(f))
        return report_stale_size(f, *size);
    if (offset >= *size) return NC_NOERR;
    return base_error_set(NC_EREAD, "a read at byte %lld of %lld returned no data",
                          (long long)offset, (long long)*size);
}

/* Reads up to n bytes in one call. *done is 0 at the end of the file, or if MPI-IO fails
 * without reporting an error. */
static int read_piece(struct file *f, int64_t offset, void *bytes, int64_t n,
                      int64_t *done)
{
    if (f->own.fd >= 0) {
        file_coherence_check(&f->coherence);
        do
            *done = pread(f->own.fd, bytes, (size_t)n, (off_t)(f->ds->base + offset));
        while (*done < 0 && errno == EINTR);
        if (*done < 0) return base_error_system(NC_EREAD, "reading", f->ds->full_path);
    } else {
        MPI_Status status;
        int mpi = MPI_File_read_at(f->own_handle, f->ds->base + offset, bytes, (int)n,
                                   MPI_BYTE, &status);
        if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EREAD, "reading");
        *done = bytes_transferred(&status, n);
    }
    count_read(f, *done);
    return NC_NOERR;
}

int file_read(struct file *f, int64_t offset, void *bytes, int64_t n)
{
    unsigned char *p = bytes;
    int64_t size = -1;
    int err = n > 0 ? file_ready(f) : NC_NOERR;
    while (n > 0 && err == NC_NOERR) {
        bool again = false;
        int64_t done = 0;
        struct trace_span span = trace_begin(f->ds->trace);
        err = read_piece(f, offset, p, n < PIECE ? n : PIECE, &done);
        trace_end_at(f->ds->trace, TRACE_READ, span, offset, done);
        if (err == NC_NOERR && done == 0) {
            if (f->own.fd < 0 || f->bypasses_cache)
                err = read_nothing(f, offset, &size, &again);
            if (err == NC_NOERR && !again) memset(p, 0, (size_t)n);
            if (!again) break;
        }
        p += done;
        offset += done;
        n -= done;
    }
    return err;
}

/* Writes the last byte through the page cache, so that the kernel updates the size from
 * the written data. If that fails, nothing is truncated. The kernel does not read the
 * page for this, and sends only this byte. Does nothing on a mount that writes pages
 * back, which would delay the byte, or if the page cache cannot be used. */
static bool extend_through_cache(struct file *f, int64_t end, const void *last)
{
    char path[64];
    if (f->own_size) return true;
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->own.fd);
    if (f->cached_fd < 0) f->cached_fd = open(path, O_RDWR | O_CLOEXEC);
    return f->cached_fd < 0 || pwrite(f->cached_fd, last, 1, (off_t)end - 1) == 1;
}

/* Prepares for a write beyond the end of the file (base_extend_before_write). */
static bool extend_before_write(struct file *f, int64_t at, const void *bytes, int64_t n)
{
    bool unknown;
    file_coherence_lock(&f->coherence);
    bool reached = base_extend_before_write(f->own.fd, at + n, &unknown);
    file_coherence_unlock(&f->coherence, !reached && base_fs_is_data_lost(errno));
    if (!reached || !unknown) return reached;
    return extend_through_cache(f, at + n, (const char *)bytes + n - 1);
}

static ssize_t write_some(struct file *f, int64_t at, const void *bytes, int64_t n)
{
    if (f->bypasses_cache && at + n > f->kernel_size &&
        !extend_before_write(f, at, bytes, n))
        return -1;
    ssize_t done = pwrite(f->own.fd, bytes, (size_t)n, (off_t)at);
    if (done > 0 && at + done > f->kernel_size) f->kernel_size = at + done;
    return done;
}

/* Writes up to n bytes in one call. On success sets *done > 0 to the number written. */
static int write_piece(struct file *f, int64_t offset, const void *bytes, int64_t n,
                       int64_t *done)
{
    MPI_Status status;
    if (f->own.fd >= 0) {
        do
            *done = write_some(f, f->ds->base + offset, bytes, n);
        while (*done < 0 && errno == EINTR);
        if (*done < 0) return base_error_system(NC_EWRITE, "writing", f->ds->full_path);
        if (*done == 0)
            return base_error_set(NC_EWRITE, "%s: the system accepted no more bytes",
                                  f->ds->full_path);
    } else {
        errno = 0;
        int mpi = MPI_File_write_at(f->own_handle, f->ds->base + offset, bytes, (int)n,
                                    MPI_BYTE, &status);
        *done = mpi == MPI_SUCCESS ? bytes_transferred(&status, n) : 0;
        if (*done == 0) return check_written(mpi, &status, n);
    }
    count_write(f, *done);
    return NC_NOERR;
}

void file_disown_logs(struct file *f)
{
    const struct dataset *ds = f->ds;
    int fd = file_fd(f);
    if (ds->log_token == DATASET_REPLAYS) return;
    uint64_t token = fd < 0 ? 0 : base_fs_id(fd, BASE_FS_LOGS);
    if (token != 0 && token != ds->log_token) (void)base_fs_set_id(fd, BASE_FS_LOGS, 0);
    f->logged = false;
}

int file_write(struct file *f, int64_t offset, const void *bytes, int64_t n)
{
    const unsigned char *p = bytes;
    base_require(n >= 0 && offset >= 0 && n <= INT64_MAX - offset);
    base_require(f->ds->writable);
    int err = n > 0 ? file_ready(f) : NC_NOERR;
    if (f->logged && n > 0) file_disown_logs(f);
    while (n > 0 && err == NC_NOERR && (err = dataset_may_write(f->ds)) == NC_NOERR) {
        int64_t done = 0;
        struct trace_span span = trace_begin(f->ds->trace);
        err = write_piece(f, offset, p, n < PIECE ? n : PIECE, &done);
        file_mark_dirty(f);
        trace_end_at(f->ds->trace, TRACE_WRITE, span, offset, done);
        p += done; /* the next call writes the rest, or fails */
        offset += done;
        if (offset > f->end) file_set_end(f, offset);
        n -= done;
    }
    return err;
}

/* ---- collective transfers ---- */

/* Sets the view. On error *count becomes 0, but this process must still join the
 * transfer, because the other processes wait in it. */
static int set_view_all(struct file *f, MPI_Datatype filetype, int *count)
{
    f->ds->stats.file_views++;
    int mpi = MPI_File_set_view(f->view, f->ds->base, MPI_BYTE, filetype, "native",
                                MPI_INFO_NULL);
    if (mpi != MPI_SUCCESS) *count = 0;
    return base_mpi_error(mpi, NC_EFILEVIEW, "MPI_File_set_view");
}

/* Reads n bytes through a view; *done is the number read. */
static int read_view_all(struct file *f, MPI_Datatype filetype, int64_t offset,
                         MPI_Datatype memtype, void *bytes, int64_t n, int64_t *done)
{
    MPI_Status status;
    int count = memtype == MPI_BYTE ? (int)n : 1;
    struct trace_span span = trace_begin(f->ds->trace);
    int viewed = set_view_all(f, filetype, &count);
    int mpi = MPI_File_read_at_all(f->view, offset, bytes, count, memtype, &status);
    *done = mpi == MPI_SUCCESS && n > 0 ? bytes_transferred(&status, n) : 0;
    trace_end_at(f->ds->trace, TRACE_READ_TOGETHER, span, -1, *done);
    if (viewed != NC_NOERR) return viewed;
    count_read(f, *done);
    return base_mpi_error(mpi, NC_EREAD, "reading");
}

/* ROMIO locks a range that it writes with gaps, and does not release the lock if the
 * write fails, so other processes would wait forever. Closing any descriptor of the file
 * releases all of this process's locks on it. */
static void drop_locks(const struct file *f)
{
    int fd = base_open(f->ds->full_path, O_RDONLY);
    if (fd >= 0) (void)close(fd);
}

static int write_all(struct file *f, MPI_Datatype filetype, int64_t offset,
                     MPI_Datatype memtype, const void *bytes, int64_t n)
{
    MPI_Status status;
    int sound = dataset_is_sound(f->ds);
    if (sound == NC_NOERR)
        sound = base_holds(n <= INT32_MAX && (n == 0 || f->ds->writable));
    if (sound != NC_NOERR) { /* joins the transfer without data */
        filetype = memtype = MPI_BYTE;
        n = 0;
    }
    int count = memtype == MPI_BYTE ? (int)n : 1;
    struct trace_span span = trace_begin(f->ds->trace);
    int viewed = set_view_all(f, filetype, &count);
    errno = 0;
    int mpi = MPI_File_write_at_all(f->view, offset, bytes, count, memtype, &status);
    trace_end_at(f->ds->trace, TRACE_WRITE_TOGETHER, span, -1, n);
    if (sound != NC_NOERR) return sound;
    if (viewed != NC_NOERR) return viewed;
    count_write(f, n);
    int err = n == 0 && mpi == MPI_SUCCESS ? NC_NOERR : check_written(mpi, &status, n);
    if (err != NC_NOERR) drop_locks(f);
    return err;
}

int file_read_root_all(struct file *f, int64_t offset, void *bytes, int64_t n)
{
    bool root = f->ds->rank == 0 && bytes != NULL;
    if (root) f->ds->stats.header_read_bytes += n;
    if (!f->no_indep) return root ? file_read(f, offset, bytes, n) : NC_NOERR;

    int first = NC_NOERR;
    for (int64_t at = 0; at < n; at += PIECE) {
        int64_t piece = n - at < PIECE ? n - at : PIECE, done;
        char *p = root ? (char *)bytes + at : NULL;
        int err = read_view_all(f, MPI_BYTE, root ? offset + at : 0, MPI_BYTE, p,
                                root ? piece : 0, &done);
        if (root && err == NC_NOERR) memset(p + done, 0, (size_t)(piece - done));
        if (first == NC_NOERR) first = err;
    }
    return first;
}

int file_write_root_all(struct file *f, int64_t offset, const void *bytes, int64_t n)
{
    bool root = f->ds->rank == 0 && bytes != NULL;
    if (root) f->ds->stats.header_written_bytes += n;
    if (!f->no_indep) return root ? file_write(f, offset, bytes, n) : NC_NOERR;

    int first = NC_NOERR;
    for (int64_t at = 0; at < n; at += PIECE) {
        int64_t piece = n - at < PIECE ? n - at : PIECE;
        int err = write_all(f, MPI_BYTE, root ? offset + at : 0, MPI_BYTE,
                            root ? (const char *)bytes + at : NULL, root ? piece : 0);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

int file_read_view_all(struct file *f, MPI_Datatype filetype, MPI_Datatype memtype,
                       void *bytes, int64_t n)
{
    int64_t done;
    int err = file_open_view_all(f);
    if (err != NC_NOERR) return err;
    return read_view_all(f, filetype, 0, memtype, bytes, n, &done);
}

int file_write_view_all(struct file *f, MPI_Datatype filetype, MPI_Datatype memtype,
                        const void *bytes, int64_t n)
{
    int err = file_open_view_all(f);
    if (err != NC_NOERR) return err;
    return write_all(f, filetype, 0, memtype, bytes, n);
}

/* ---- the file as a whole ---- */

static int resize(struct file *f, int64_t size)
{
    int err = file_ready(f);
    if (err != NC_NOERR) return err;
    errno = 0;
    if (f->own.fd < 0) {
        f->dirty = true;
        return base_mpi_error(MPI_File_set_size(f->own_handle, f->ds->base + size),
                              write_code(), "setting the size of the file");
    }
    int failed;
    do
        failed = ftruncate(f->own.fd, (off_t)(f->ds->base + size));
    while (failed && errno == EINTR);
    file_mark_dirty(f);
    return failed ? base_error_system(NC_EWRITE, "setting the size of", f->ds->full_path)
                  : NC_NOERR;
}

int file_resize_all(struct file *f, int64_t size)
{
    int err = NC_NOERR;
    f->ds->stats.file_resizes++;
    struct trace_span span = trace_begin(f->ds->trace);
    if (f->no_indep) {
        errno = 0;
        int mpi = MPI_File_set_size(f->view, f->ds->base + size);
        err = base_mpi_error(mpi, write_code(), "setting the size of the file");
    } else if (f->ds->rank == 0) {
        err = dataset_may_write(f->ds);
        if (err == NC_NOERR) err = resize(f, size);
    }
    trace_end(f->ds->trace, TRACE_RESIZE, span);
    if (err == NC_NOERR) file_set_end(f, size);
    return err;
}

int file_check_end(struct file *f)
{
    int64_t size = 0;
    if (!f->bypasses_cache || f->own.fd < 0) return NC_NOERR;
    int err = file_size(f, &size);
    return err == NC_NOERR && size < file_known_end(f) ? report_stale_size(f, size) : err;
}

/* Revalidates a file opened for reading only, which MPI-IO would refuse to sync. After a
 * sync, the program expects to see values that other processes wrote. */
static int revalidate_read_only(struct file *f)
{
    if (f->bypasses_cache && f->own.fd >= 0) (void)base_fs_refresh(f->own.fd);
    return NC_NOERR;
}

int file_sync(struct file *f)
{
    if (!f->ds->writable) return revalidate_read_only(f);
    int err = file_ready(f);
    if (err != NC_NOERR) return err;
    f->ds->stats.file_syncs++;
    struct trace_span span = trace_begin(f->ds->trace);
    errno = 0;
    if (f->own.fd < 0) {
        int mpi = MPI_File_sync(f->own_handle);
        err = base_mpi_error(mpi, write_code(), "MPI_File_sync");
    } else {
        f->coherence.wrote = false; /* the sync below flushes the page cache */
        err = file_descriptor_sync(&f->own, f->ds->full_path);
    }
    trace_end(f->ds->trace, TRACE_SYNC, span);
    if (err == NC_NOERR && !f->named) err = base_sync_directory(f->ds->full_path);
    if (err == NC_NOERR) f->dirty = false;
    f->named = f->named || err == NC_NOERR;
    return err;
}

void file_write_back(struct file *f, int64_t offset, int64_t n)
{
    if (f->own.fd >= 0) base_write_back(f->own.fd, f->ds->base + offset, n);
}

/* Each process that wrote flushes its node's page cache; MPI-IO does so for a view. */
int file_sync_all(struct file *f)
{
    if (!f->ds->writable) return revalidate_read_only(f);
    if (f->view != MPI_FILE_NULL) {
        f->ds->stats.file_syncs++;
        struct trace_span span = trace_begin(f->ds->trace);
        errno = 0;
        int mpi = MPI_File_sync(f->view);
        trace_end(f->ds->trace, TRACE_SYNC, span);
        int err = base_mpi_error(mpi, write_code(), "MPI_File_sync");
        if (err != NC_NOERR || f->no_indep) return err;
    }
    return f->dirty ? file_sync(f) : NC_NOERR;
}
