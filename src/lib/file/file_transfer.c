/* The file. Single transfers stay under 2^30 bytes: large counts are not to be trusted
 * everywhere.
 *
 * What one process has written another one reads after an agreement. By descriptors: the
 * write() has returned before the agreement, the read() begins behind it, and
 * base_fs_coherent says where that is enough, base_fs_go_around where it is, once the
 * node's own pages are left out, and file_late what more there is to do. Through MPI-IO's
 * handles of one process each: MPI-IO's own driver for the file system sees to it, as it
 * does where processes open the file together and read and write independently (for NFS,
 * ROMIO locks what it reads and writes, which empties the client's cache).
 *
 * Offsets here are the dataset's: in the file they are ds->base bytes later. */
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

/* Counts a call that read, or wrote, n bytes. */
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

/* How many of n bytes a transfer moved. */
static int64_t moved(MPI_Status *status, int64_t n)
{
    int count;
    if (MPI_Get_count(status, MPI_BYTE, &count) != MPI_SUCCESS || count == MPI_UNDEFINED)
        return 0;
    return count < n ? count : n;
}

/* Why a transfer failed, or came short: ROMIO has one error class for nearly all, and
 * Open MPI none, but errno is still what the system said, if it was 0 before. */
static int write_code(void)
{
    return errno == ENOSPC ? NC_ENO_SPACE : errno == EDQUOT ? NC_EQUOTA : NC_EWRITE;
}

static int check_written(int mpi, MPI_Status *status, int64_t n)
{
    int saved = errno, code = write_code();
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, code, "writing");
    int64_t done = moved(status, n);
    if (done == n) return NC_NOERR;
    return base_error_set(code, "only %lld of %lld bytes were written%s%s",
                          (long long)done, (long long)n, saved == 0 ? "" : ": ",
                          saved == 0 ? "" : strerror(saved));
}

/* All have as much of the file as any had written before the last agreement. */
static int64_t end_of(const struct file *f)
{
    int64_t heard = f->ds->heard[DATASET_WORD_END];
    return heard > f->end ? heard : f->end;
}

/* How far there may be values of others: where a node is not asked for a size, as far as
 * these will make the file. */
static int64_t expected_end(const struct file *f)
{
    int64_t end = end_of(f);
    return f->own_size && f->ds->promised > end ? f->ds->promised : end;
}

/* A mount of this node's has another size than the file: its kernel or its server takes
 * what this node wrote for all there is. What lies behind it cannot be had here. */
static int tell_short(const struct file *f, int64_t size)
{
    char name[BASE_FS_NAME];
    base_fs_name(f->own.fd, name);
    return base_error_set(
        NC_EREAD,
        "%s: this node sees %lld of %lld bytes: its mount (%s) does not "
        "ask for the size that other nodes make the file. Mount it "
        "without a write-back cache (GlusterFS: without shards), or "
        "use one node",
        f->ds->full, (long long)size, (long long)expected_end(f), name);
}

/* Nothing came from offset: that is the file's end, where zeros are read, or an error
 * that MPI-IO kept to itself (Open MPI does). Or others made the file longer meanwhile:
 * then *again, once for each *size it has. */
static int read_nothing(struct file *f, int64_t offset, int64_t *size, bool *again)
{
    int64_t before = *size;
    int err = file_size(f, size);
    *again = err == NC_NOERR && offset < *size && *size != before;
    if (err != NC_NOERR || *again) return err;
    if (f->around && offset < expected_end(f)) return tell_short(f, *size);
    if (offset >= *size) return NC_NOERR;
    return base_error_set(NC_EREAD, "nothing could be read at byte %lld of %lld",
                          (long long)offset, (long long)*size);
}

/* One call for n bytes; *done were read, 0 at the end of the file or where MPI-IO keeps
 * an error to itself. */
static int read_piece(struct file *f, int64_t offset, void *bytes, int64_t n,
                      int64_t *done)
{
    if (f->own.fd >= 0) {
        file_late_look(&f->late);
        do
            *done = pread(f->own.fd, bytes, (size_t)n, (off_t)(f->ds->base + offset));
        while (*done < 0 && errno == EINTR);
        if (*done < 0) return base_error_system(NC_EREAD, "reading", f->ds->full);
    } else {
        MPI_Status status;
        int mpi = MPI_File_read_at(f->alone, f->ds->base + offset, bytes, (int)n,
                                   MPI_BYTE, &status);
        if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EREAD, "reading");
        *done = moved(&status, n);
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
            if (f->own.fd < 0 || f->around) err = read_nothing(f, offset, &size, &again);
            if (err == NC_NOERR && !again) memset(p, 0, (size_t)n);
            if (!again) break;
        }
        p += done;
        offset += done;
        n -= done;
    }
    return err;
}

/* The last byte by an open that goes through the node's pages: there the kernel takes the
 * size from what it has written, and cuts nothing off where that fails. The page is not
 * read for it, and none but this byte is sent. Not on a mount that writes pages back,
 * which would be late; and where there can be no such open, as if it were not needed. */
static bool reach_through_pages(struct file *f, int64_t end, const void *last)
{
    char path[64];
    if (f->own_size) return true;
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->own.fd);
    if (f->through < 0) f->through = open(path, O_RDWR | O_CLOEXEC);
    return f->through < 0 || pwrite(f->through, last, 1, (off_t)end - 1) == 1;
}

/* Before a write behind the end: see base_reach. */
static bool reach(struct file *f, int64_t at, const void *bytes, int64_t n)
{
    bool unknown;
    file_late_hold(&f->late);
    bool reached = base_reach(f->own.fd, at + n, &unknown);
    file_late_held(&f->late, !reached && base_fs_lost(errno));
    if (!reached || !unknown) return reached;
    return reach_through_pages(f, at + n, (const char *)bytes + n - 1);
}

static ssize_t write_some(struct file *f, int64_t at, const void *bytes, int64_t n)
{
    if (f->around && at + n > f->reached && !reach(f, at, bytes, n)) return -1;
    ssize_t done = pwrite(f->own.fd, bytes, (size_t)n, (off_t)at);
    if (done > 0 && at + done > f->reached) f->reached = at + done;
    return done;
}

/* One call for n bytes, of which *done > 0 were written. */
static int write_piece(struct file *f, int64_t offset, const void *bytes, int64_t n,
                       int64_t *done)
{
    MPI_Status status;
    if (f->own.fd >= 0) {
        do
            *done = write_some(f, f->ds->base + offset, bytes, n);
        while (*done < 0 && errno == EINTR);
        if (*done < 0) return base_error_system(NC_EWRITE, "writing", f->ds->full);
        if (*done == 0)
            return base_error_set(NC_EWRITE, "%s took no more bytes", f->ds->full);
    } else {
        errno = 0;
        int mpi = MPI_File_write_at(f->alone, f->ds->base + offset, bytes, (int)n,
                                    MPI_BYTE, &status);
        *done = mpi == MPI_SUCCESS ? moved(&status, n) : 0;
        if (*done == 0) return check_written(mpi, &status, n);
    }
    count_write(f, *done);
    return NC_NOERR;
}

int file_write(struct file *f, int64_t offset, const void *bytes, int64_t n)
{
    const unsigned char *p = bytes;
    int err = n > 0 ? file_ready(f) : NC_NOERR;
    while (n > 0 && err == NC_NOERR && (err = dataset_may_write(f->ds)) == NC_NOERR) {
        int64_t done = 0;
        struct trace_span span = trace_begin(f->ds->trace);
        err = write_piece(f, offset, p, n < PIECE ? n : PIECE, &done);
        file_wrote(f);
        trace_end_at(f->ds->trace, TRACE_WRITE, span, offset, done);
        p += done; /* what was left out is tried again, or fails then */
        offset += done;
        if (offset > f->end) file_ends_at(f, offset);
        n -= done;
    }
    return err;
}

/* ---- transfers of all together ---- */

/* The view handle, showing filetype; *count is 0 where it does not: the others wait in
 * the transfer. */
static int set_view_all(struct file *f, MPI_Datatype filetype, int *count)
{
    f->ds->stats.file_views++;
    int mpi = MPI_File_set_view(f->view, f->ds->base, MPI_BYTE, filetype, "native",
                                MPI_INFO_NULL);
    if (mpi != MPI_SUCCESS) *count = 0;
    return base_mpi_error(mpi, NC_EFILEVIEW, "MPI_File_set_view");
}

/* n bytes, *done of them were read. */
static int read_view_all(struct file *f, MPI_Datatype filetype, int64_t offset,
                         MPI_Datatype memtype, void *bytes, int64_t n, int64_t *done)
{
    MPI_Status status;
    int count = memtype == MPI_BYTE ? (int)n : 1;
    struct trace_span span = trace_begin(f->ds->trace);
    int viewed = set_view_all(f, filetype, &count);
    int mpi = MPI_File_read_at_all(f->view, offset, bytes, count, memtype, &status);
    *done = mpi == MPI_SUCCESS && n > 0 ? moved(&status, n) : 0;
    trace_end_at(f->ds->trace, TRACE_READ_TOGETHER, span, -1, *done);
    if (viewed != NC_NOERR) return viewed;
    count_read(f, *done);
    return base_mpi_error(mpi, NC_EREAD, "reading");
}

/* ROMIO locks what it writes with gaps, and keeps the lock where that fails: others would
 * wait for it for ever. A process's locks go with any descriptor of the file. */
static void drop_locks(const struct file *f)
{
    int fd = base_open(f->ds->full, O_RDONLY);
    if (fd >= 0) (void)close(fd);
}

static int write_all(struct file *f, MPI_Datatype filetype, int64_t offset,
                     MPI_Datatype memtype, const void *bytes, int64_t n)
{
    MPI_Status status;
    int count = memtype == MPI_BYTE ? (int)n : 1;
    struct trace_span span = trace_begin(f->ds->trace);
    int viewed = set_view_all(f, filetype, &count);
    errno = 0;
    int mpi = MPI_File_write_at_all(f->view, offset, bytes, count, memtype, &status);
    trace_end_at(f->ds->trace, TRACE_WRITE_TOGETHER, span, -1, n);
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

/* This node asks for the size, and where it does not, is told that it is `end` at least.
 */
static void learn_end(struct file *f, int64_t end)
{
    file_late_hold(&f->late);
    bool lost = !base_fs_ask(f->own.fd);
    if (f->ds->writable && end > 0)
        lost |= !base_fs_learn_size(f->own.fd, f->ds->base + end);
    file_late_held(&f->late, lost);
}

/* As the header promises, too, which a close sees to, since others may have put there by
 * now. Where nobody knows what the node does with sizes, as no two nodes have tried, a job
 * before this one may have made the file so long from other nodes: the node is told if it
 * can be, and if not the file may be as short as it seems. */
static void learn_size(struct file *f)
{
    int64_t end = expected_end(f), whole = cdf_file_size(&f->ds->header);
    bool more = whole > end;
    learn_end(f, f->own_size && more ? whole : end);
    if (!f->own_size && more && f->ds->writable)
        (void)base_fs_learn_size(f->own.fd, f->ds->base + whole);
}

void file_learn_end(struct file *f)
{
    if (f->around && f->own.fd >= 0) learn_end(f, end_of(f));
}

int file_size(struct file *f, int64_t *size)
{
    struct stat st;
    MPI_Offset bytes = f->ds->base + f->end;
    MPI_File handle = f->alone != MPI_FILE_NULL ? f->alone : f->view;
    int mpi = MPI_SUCCESS;
    f->ds->stats.file_sizes++;
    if (f->own.fd >= 0) {
        if (f->around) learn_size(f);
        if (fstat(f->own.fd, &st) != 0)
            return base_error_system(NC_EFILE, "asking for the size of", f->ds->full);
        bytes = st.st_size;
    } else if (handle != MPI_FILE_NULL) {
        mpi = MPI_File_get_size(handle, &bytes);
    }
    *size = bytes > f->ds->base ? bytes - f->ds->base : 0;
    return base_mpi_error(mpi, NC_EFILE, "asking for the file's size");
}

static int resize(struct file *f, int64_t size)
{
    int err = file_ready(f);
    if (err != NC_NOERR) return err;
    errno = 0;
    if (f->own.fd < 0) {
        f->dirty = true;
        return base_mpi_error(MPI_File_set_size(f->alone, f->ds->base + size),
                              write_code(), "setting the file's size");
    }
    int failed;
    do
        failed = ftruncate(f->own.fd, (off_t)(f->ds->base + size));
    while (failed && errno == EINTR);
    file_wrote(f);
    return failed ? base_error_system(NC_EWRITE, "setting the size of", f->ds->full)
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
        err = base_mpi_error(mpi, write_code(), "setting the file's size");
    } else if (f->ds->rank == 0) {
        err = dataset_may_write(f->ds);
        if (err == NC_NOERR) err = resize(f, size);
    }
    trace_end(f->ds->trace, TRACE_RESIZE, span);
    bool mine = f->ds->rank == 0 && err == NC_NOERR;
    if (mine || size < end_of(f)) file_ends_at(f, size);
    return err;
}

int file_check_end(struct file *f)
{
    int64_t size = 0;
    if (!f->around || f->own.fd < 0) return NC_NOERR;
    int err = file_size(f, &size);
    return err == NC_NOERR && size < end_of(f) ? tell_short(f, size) : err;
}

/* Of a file that may only be read, which MPI-IO would refuse to sync: what others have
 * put is expected from here on. */
static int look_again(struct file *f)
{
    if (f->around && f->own.fd >= 0) (void)base_fs_refresh(f->own.fd);
    return NC_NOERR;
}

int file_sync(struct file *f)
{
    if (!f->ds->writable) return look_again(f);
    int err = file_ready(f);
    if (err != NC_NOERR) return err;
    f->ds->stats.file_syncs++;
    struct trace_span span = trace_begin(f->ds->trace);
    errno = 0;
    if (f->own.fd < 0) {
        int mpi = MPI_File_sync(f->alone);
        err = base_mpi_error(mpi, write_code(), "MPI_File_sync");
    } else {
        f->late.wrote = false; /* which settles that, too */
        err = file_descriptor_sync(&f->own, f->ds->full);
    }
    trace_end(f->ds->trace, TRACE_SYNC, span);
    if (err == NC_NOERR && !f->named) err = base_sync_directory(f->ds->full);
    if (err == NC_NOERR) f->dirty = false;
    f->named = f->named || err == NC_NOERR;
    return err;
}

void file_write_back(struct file *f, int64_t offset, int64_t n)
{
    if (f->own.fd >= 0) base_write_back(f->own.fd, f->ds->base + offset, n);
}

/* Who has written syncs what its node keeps of the file; and of what went through a
 * view MPI-IO knows who wrote it. */
int file_sync_all(struct file *f)
{
    if (!f->ds->writable) return look_again(f);
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
