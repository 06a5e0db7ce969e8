/* The header between the file and the processes: one reads or writes, all know. */
#include "mpio.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "cdf_envelope.h"
#include "journal.h"

int mpio_explain_all(struct dataset *ds, int code)
{
    int err = dataset_share_all(ds, &code, sizeof code, 0);
    if (err != NC_NOERR || code == NC_NOERR) return err;
    return dataset_share_words_all(ds, code, code);
}

/* The header as process 0 reads it: bytes[0..have) of the file. */
struct reading {
    unsigned char *bytes;
    int64_t have, file_size;
};

/* Results beside those of cdf_decode: a redefinition has to be finished first; the header
 * is behind an envelope. */
enum { INTERRUPTED = CDF_MORE + 1, ENVELOPE };

/* A reader of a dataset whose data are being moved is told who moves them. */
static int refuse_moving(const struct mpio *m)
{
    const struct dataset *ds = m->base.ds;
    char text[512];
    int fd = m->file.own.fd;
    if (fd < 0) fd = base_open(ds->full, O_RDONLY);
    (void)journal_words(ds->full, fd, text);
    if (fd >= 0 && fd != m->file.own.fd) (void)close(fd);
    return base_error_set(NC_ENOTNC, "%s: %s", ds->path, text);
}

/* Reads on up to `want` bytes and tries to decode. All take part; process 0's result is
 * cdf_decode's, and *likely its guess. */
static int read_on_all(struct mpio *m, struct reading *r, int64_t want, int64_t *likely)
{
    struct dataset *ds = m->base.ds;
    unsigned char *grown = NULL;
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
    if (ds->base == 0 && cdf_is_envelope(r->bytes, (size_t)usable)) return ENVELOPE;
    err = cdf_decode(&ds->header, r->bytes, (size_t)usable, r->file_size, &fault);
    *likely = fault.likely;
    if (err == NC_NOERR || err == CDF_MORE) return err;
    if (cdf_is_moving(r->bytes, (size_t)usable))
        return ds->writable ? INTERRUPTED : refuse_moving(m);
    return base_error_set(err, "%s: offset %lld: %s", ds->path, (long long)fault.offset,
                          fault.reason);
}

/* What process 0 tells the others after each reading: how it went, and a header that is
 * not long. */
struct note {
    int64_t result; /* of cdf_decode */
    int64_t length; /* of the header, if there is one */
    int64_t file_size;
    int64_t want; /* how much to read next, if more is needed */
    unsigned char head[8192];
};

/* A header that the note has no room for, in r->bytes. */
static int receive_long_all(struct mpio *m, struct reading *r, int64_t length)
{
    struct dataset *ds = m->base.ds;
    if (ds->rank != 0) r->bytes = base_malloc((size_t)length);
    int err =
        dataset_agree_all(ds, r->bytes == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    return err == NC_NOERR ? dataset_share_all(ds, r->bytes, length, 0) : err;
}

/* Everyone else's part: the header's bytes, decoded. */
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

/* How much to read next, having `had`: a little over the guess, or else the double. A
 * wrong guess only costs another round. */
static int64_t next_read(int64_t had, int64_t likely, int64_t file_size)
{
    int64_t guess = likely + likely / 16;
    int64_t next = guess > had ? guess : 2 * had;
    return next < file_size ? next : file_size;
}

/* Process 0's note, after a reading that ended with err. */
static void write_reading(const struct mpio *m, const struct reading *r, int err,
                          int64_t want, int64_t likely, struct note *n)
{
    n->result = err;
    n->file_size = r->file_size;
    n->want = next_read(want, likely, r->file_size);
    n->length = err == NC_NOERR ? m->base.ds->header.size : 0;
    if (r->bytes != NULL && n->length <= (int64_t)sizeof n->head)
        memcpy(n->head, r->bytes, (size_t)n->length);
}

/* What was read is the header as it is in the file. */
static void keep_header(struct mpio *m, struct reading *r)
{
    void *fitted = base_realloc(r->bytes, (size_t)m->base.ds->header.size);
    mpio_keep_header(m, fitted == NULL ? r->bytes : fitted);
    r->bytes = NULL;
}

/* INTERRUPTED, or agreed. */
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
        err = read_on_all(m, &r, want, &likely);
        if (ds->rank == 0) write_reading(m, &r, err, want, likely, &note);
        err = dataset_share_all(ds, &note, sizeof note, 0);
        if (err == NC_NOERR) err = (int)note.result;
    } while (err == CDF_MORE);
    if (err < NC_NOERR)
        err = mpio_explain_all(ds, err);
    else if (err == NC_NOERR && ds->nprocs > 1)
        err = receive_all(m, &r, &note);
    if (err == NC_NOERR && ds->rank == 0 && ds->writable) keep_header(m, &r);
    base_free(r.bytes);
    return err;
}

int mpio_read_header_all(struct mpio *m)
{
    int err = read_once_all(m);
    if (err == ENVELOPE) {
        m->base.ds->base = CDF_ENVELOPE;
        m->known_size -= m->known_size < CDF_ENVELOPE ? m->known_size : CDF_ENVELOPE;
        m->file.end = m->known_size;
        err = read_once_all(m);
    }
    if (err != INTERRUPTED) return err == ENVELOPE ? NC_ENOTNC : err;
    err = mpio_recover_all(m);
    if (err == NC_NOERR) err = read_once_all(m);
    if (err != INTERRUPTED) return err;
    return base_error_set(NC_EFILE, "%s: another program redefines it", m->base.ds->path);
}

/* Another program has put a smaller number in place of ours. */
static int raise_numrecs(struct mpio *m)
{
    const struct cdf_header *h = &m->base.ds->header;
    unsigned char field[8];
    int64_t there;
    if (!m->lowered || m->file.no_indep || m->pending) return NC_NOERR;
    int width = cdf_encode_numrecs(h->format, h->numrecs, field);
    int err = mpio_lock_header(m);
    if (err == NC_NOERR) err = mpio_look_records(m, &there);
    if (err == NC_NOERR && there < h->numrecs)
        err = file_write(&m->file, 4, field, width);
    mpio_unlock_header(m);
    m->lowered = err != NC_NOERR;
    return err;
}

/* The file's own number, if it is larger, came of another opening, and stays. */
int mpio_write_numrecs_all(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    if (m->created) return NC_NOERR; /* the header that will have it is not there yet */
    /* What failed is tried again by the next call; where that takes all processes, or an
     * error is told long after the write, once all have been told that something failed:
     * they cannot know what. */
    bool again = m->failures != ds->failures;
    int mended = mpio_mend_header(m);
    if (ds->header.numrecs == m->numrecs_in_file && !again)
        return mended != NC_NOERR ? mended : raise_numrecs(m);

    unsigned char field[8];
    int width = cdf_encode_numrecs(ds->header.format, ds->header.numrecs, field);
    bool first = ds->rank == 0 && !m->pending;
    int64_t there = -1;
    int looked = first ? mpio_lock_header(m) : NC_NOERR;
    if (first && looked == NC_NOERR) looked = mpio_look_records(m, &there);
    bool fewer = first && looked == NC_NOERR && there < ds->header.numrecs;
    int err = file_write_root_all(&m->file, 4, fewer ? field : NULL, width);
    if (first) mpio_unlock_header(m);
    if (looked != NC_NOERR) err = looked;
    if (m->pending && err == NC_NOERR) err = mpio_tell_pending(m, NC_EFILE);
    if (there > ds->held) ds->held = there; /* the next agreement tells all */
    if (err == NC_NOERR || m->file.no_indep) m->numrecs_in_file = ds->header.numrecs;
    m->failures = ds->failures;
    return err != NC_NOERR ? err : mended;
}

/* Processes of a node may share the descriptor, and so the lock: fewer records than there
 * are may stand in the file afterwards; process 0, if it wrote, no longer relies on what
 * it wrote, and the next agreement has the number right. */
int mpio_sync_numrecs(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    unsigned char field[8];
    int width = cdf_encode_numrecs(ds->header.format, ds->header.numrecs, field);
    int64_t there = -1;
    int err = file_ready(&m->file);
    if (err != NC_NOERR || m->created) return err;
    err = mpio_lock_header(m);
    if (err == NC_NOERR) err = mpio_look_records(m, &there);
    if (err == NC_NOERR) dataset_hold_records(ds, there);
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
    int learnt = mpio_learn_records(m);
    int64_t records = ds->held;
    int failed, err = dataset_agree_all(ds, learnt, &failed, &records, 1);
    if (err != NC_NOERR) return err;
    ds->header.numrecs = records;
    err = mpio_write_numrecs_all(m);
    dataset_owe(ds, err); /* the others learn of it next time */
    int told = NC_NOERR;
    if (ds->safe_mode) err = dataset_agree_all(ds, err, &told, NULL, 0);
    return failed != NC_NOERR ? failed : err;
}
