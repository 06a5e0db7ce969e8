/* Transfers the header between the file and the processes. When a dataset is opened,
 * process 0 reads pieces of growing size until the header is complete, and broadcasts it.
 * Afterwards, process 0 writes the number of records whenever it changes. */
#include "mpio.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "cdf_superblock.h"
#include "journal.h"

/* The header as read by process 0: bytes [0, have) of the file. */
struct reading {
    unsigned char *bytes;
    int64_t have, file_size;
};

/* Results in addition to those of cdf_decode: a redefinition must be finished first, or
 * the file begins with a superblock. */
enum { INTERRUPTED = CDF_MORE + 1, SUPERBLOCK };

/* Refuses to read a dataset while data move; the message names the process that moves
 * them. */
static int refuse_moving(const struct mpio *m)
{
    const struct dataset *ds = m->base.ds;
    char text[512];
    int fd = m->file.own.fd;
    if (fd < 0) fd = base_open(ds->full_path, O_RDONLY);
    (void)journal_describe_use(ds->full_path, fd, text);
    if (fd >= 0 && fd != m->file.own.fd) (void)close(fd);
    return base_error_set(NC_ENOTNC, "%s: %s", ds->path, text);
}

/* Checks that the first bytes are not a mixture of a header and a mark, which a power
 * failure during a write can leave. For process 0. */
static int check_first_bytes(const struct mpio *m)
{
    bool torn;
    int err = journal_check_head(m->base.ds->full_path, &torn);
    if (err != NC_NOERR || !torn) return err;
    return m->base.ds->writable ? INTERRUPTED : refuse_moving(m);
}

/* Reads up to `want` more bytes and tries to decode the header. Process 0 returns the
 * result of cdf_decode and sets *likely to the estimated length of the header.
 * Collective. */
static int read_more_all(struct mpio *m, struct reading *r, int64_t want, int64_t *likely)
{
    struct dataset *ds = m->base.ds;
    unsigned char *grown = NULL;
    bool first = r->have == 0;
    int err = NC_NOERR;
    if (ds->rank == 0) {
        grown = base_realloc(r->bytes, (size_t)want);
        if (grown == NULL)
            err = NC_ENOMEM;
        else
            r->bytes = grown;
    }
    int read = file_read_root_all(&m->file, r->have,
                                  grown == NULL ? NULL : grown + r->have, want - r->have);
    r->have = want;
    if (ds->rank != 0) return NC_NOERR;
    if (err == NC_NOERR) err = read;
    if (err != NC_NOERR) return err;

    struct cdf_fault fault;
    int64_t usable = want < r->file_size ? want : r->file_size;
    if (ds->base == 0 && cdf_is_superblock(r->bytes, (size_t)usable)) return SUPERBLOCK;
    if (first && usable > 0 && r->bytes[0] == 'C') err = check_first_bytes(m);
    if (err != NC_NOERR) return err;
    err = cdf_decode(&ds->header, r->bytes, (size_t)usable, r->file_size, &fault);
    *likely = fault.estimated_size;
    if (err == NC_NOERR || err == CDF_MORE) return err;
    if (cdf_is_moving(r->bytes, (size_t)usable))
        return ds->writable ? INTERRUPTED : refuse_moving(m);
    return base_error_set(err, "%s: offset %lld: %s", ds->path, (long long)fault.offset,
                          fault.reason);
}

/* The note that process 0 sends after each read: the result, and the header if short. */
struct note {
    int64_t result; /* result of cdf_decode */
    int64_t length; /* header length in bytes, if it is complete */
    int64_t file_size;
    int64_t want; /* number of bytes to read next, if the header is incomplete */
    unsigned char head[8192];
};

/* Receives a header that does not fit into the note into r->bytes. */
static int receive_long_all(struct mpio *m, struct reading *r, int64_t length)
{
    struct dataset *ds = m->base.ds;
    if (ds->rank != 0) r->bytes = base_malloc((size_t)length);
    int err =
        dataset_agree_all(ds, r->bytes == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    return err == NC_NOERR ? dataset_share_all(ds, r->bytes, length, 0) : err;
}

/* Receives the header and decodes it, on processes other than 0. */
static int receive_all(struct mpio *m, struct reading *r, const struct note *n)
{
    struct dataset *ds = m->base.ds;
    bool is_long = n->length > (int64_t)sizeof n->head;
    int err = is_long ? receive_long_all(m, r, n->length) : NC_NOERR;
    if (err == NC_NOERR && ds->rank != 0)
        err = cdf_decode(&ds->header, is_long ? r->bytes : n->head, (size_t)n->length,
                         n->file_size, NULL);
    return dataset_agree_all(ds, err == CDF_MORE ? NC_ENOTNC : err, NULL, NULL, 0);
}

/* Returns the number of bytes to read after the first `had`: slightly more than the
 * estimate, or twice `had` if the estimate is no larger. A wrong estimate costs only
 * another round. */
static int64_t next_read(int64_t had, int64_t likely, int64_t file_size)
{
    int64_t guess = likely + likely / 16;
    int64_t next = guess > had ? guess : 2 * had;
    return next < file_size ? next : file_size;
}

/* Fills in process 0's note after a read that ended with `err`. */
static void fill_note(const struct mpio *m, const struct reading *r, int err,
                      int64_t want, int64_t likely, struct note *n)
{
    n->result = err;
    n->file_size = r->file_size;
    n->want = next_read(want, likely, r->file_size);
    n->length = err == NC_NOERR ? m->base.ds->header.size : 0;
    if (r->bytes != NULL && n->length <= (int64_t)sizeof n->head)
        memcpy(n->head, r->bytes, (size_t)n->length);
}

/* Stores the bytes that were read as the image of the file's header. */
static void set_image_from_reading(struct mpio *m, struct reading *r)
{
    void *fitted = base_realloc(r->bytes, (size_t)m->base.ds->header.size);
    mpio_set_image(m, fitted == NULL ? r->bytes : fitted);
    r->bytes = NULL;
}

/* Reads the header once. Returns INTERRUPTED, or an agreed result. */
static int read_once_all(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    struct reading r = {.file_size = m->known_size};
    struct note note = {.want = ds->hints.header_read_chunk};
    int64_t likely = 0;
    int err;
    if (note.want > r.file_size) note.want = r.file_size > 0 ? r.file_size : 1;
    do {
        int64_t want = note.want;
        err = read_more_all(m, &r, want, &likely);
        if (ds->rank == 0) fill_note(m, &r, err, want, likely, &note);
        err = dataset_share_all(ds, &note, sizeof note, 0);
        if (err == NC_NOERR) err = (int)note.result;
    } while (err == CDF_MORE);
    if (err < NC_NOERR)
        err = dataset_share_result_all(ds, err);
    else if (err == NC_NOERR && ds->nprocs > 1)
        err = receive_all(m, &r, &note);
    if (err == NC_NOERR && ds->rank == 0 && ds->writable) set_image_from_reading(m, &r);
    base_free(r.bytes);
    return err;
}

int mpio_read_header_all(struct mpio *m)
{
    int err = read_once_all(m);
    if (err == SUPERBLOCK) {
        m->base.ds->base = CDF_SUPERBLOCK;
        m->known_size -= m->known_size < CDF_SUPERBLOCK ? m->known_size : CDF_SUPERBLOCK;
        m->file.end = m->known_size;
        err = read_once_all(m);
    }
    if (err != INTERRUPTED) return err == SUPERBLOCK ? NC_ENOTNC : err;
    err = mpio_recover_all(m);
    if (err == NC_NOERR) err = read_once_all(m);
    if (err != INTERRUPTED) return err;
    return base_error_set(NC_EFILE, "%s: another program is redefining it",
                          m->base.ds->path);
}

/* Restores the number of records if another program has lowered it. */
static int raise_numrecs(struct mpio *m)
{
    const struct cdf_header *h = &m->base.ds->header;
    unsigned char field[8];
    int64_t there;
    if (!m->numrecs_lowered || m->file.no_indep || m->pending) return NC_NOERR;
    int width = cdf_encode_numrecs(h->format, h->numrecs, field);
    int err = mpio_lock_header(m);
    if (err == NC_NOERR) err = mpio_read_records(m, &there);
    if (err == NC_NOERR && there < h->numrecs)
        err = file_write(&m->file, 4, field, width);
    mpio_unlock_header(m);
    m->numrecs_lowered = err != NC_NOERR;
    return err;
}

/* Writes the number of records, unless another job has written a larger one. */
int mpio_write_numrecs_all(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    if (m->created) return NC_NOERR; /* no header exists yet */
    /* The next call retries a failed write. If all processes must write together, or
     * errors are reported long after the write, the retry waits until all processes know
     * that some call has failed (but not which one). */
    bool again = m->failures != ds->failures;
    int mended = mpio_repair_header(m);
    if (ds->header.numrecs == m->numrecs_in_file && !again)
        return mended != NC_NOERR ? mended : raise_numrecs(m);

    unsigned char field[8];
    int width = cdf_encode_numrecs(ds->header.format, ds->header.numrecs, field);
    bool first = ds->rank == 0 && !m->pending;
    int64_t there = -1;
    int looked = first ? mpio_lock_header(m) : NC_NOERR;
    if (first && looked == NC_NOERR) looked = mpio_read_records(m, &there);
    bool fewer = first && looked == NC_NOERR && there < ds->header.numrecs;
    int err = file_write_root_all(&m->file, 4, fewer ? field : NULL, width);
    if (first) mpio_unlock_header(m);
    if (looked != NC_NOERR) err = looked;
    if (m->pending && err == NC_NOERR) err = mpio_report_pending(m, NC_EFILE);
    if (there > ds->numrecs_seen)
        ds->numrecs_seen = there; /* distributed by the next agreement */
    if (err == NC_NOERR || m->file.no_indep) m->numrecs_in_file = ds->header.numrecs;
    m->failures = ds->failures;
    return err != NC_NOERR ? err : mended;
}

/* Processes of a node may share the descriptor and its lock, so the number in the file
 * may become too small. Therefore process 0, once it has written the number, no longer
 * relies on the file, and the next agreement corrects it. */
int mpio_sync_numrecs(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    unsigned char field[8];
    int width = cdf_encode_numrecs(ds->header.format, ds->header.numrecs, field);
    int64_t there = -1;
    int err = file_ready(&m->file);
    if (err != NC_NOERR || m->created) return err;
    err = mpio_lock_header(m);
    if (err == NC_NOERR) err = mpio_read_records(m, &there);
    if (err == NC_NOERR) dataset_raise_records(ds, there);
    if (err == NC_NOERR && there < ds->header.numrecs) {
        m->numrecs_in_file = -1;
        err = file_write(&m->file, 4, field, width);
    }
    mpio_unlock_header(m);
    return err;
}

int mpio_sync_numrecs_all(struct driver *self)
{
    struct dataset *ds = self->ds;
    struct mpio *m = (struct mpio *)self;
    int learnt = mpio_read_numrecs(m);
    int64_t records = ds->numrecs_seen;
    int failed, err = dataset_agree_all(ds, learnt, &failed, &records, 1);
    if (err != NC_NOERR) return err;
    ds->header.numrecs = records;
    err = mpio_write_numrecs_all(m);
    dataset_defer_error(ds, err); /* the next agreement reports it to the others */
    int safe = NC_NOERR;
    if (ds->safe_mode) err = dataset_agree_all(ds, err, &safe, NULL, 0);
    return failed != NC_NOERR ? failed : err;
}
