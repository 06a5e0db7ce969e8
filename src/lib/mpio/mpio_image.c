/* Writes the header. Process 0 keeps a copy of the file's header in memory (the image),
 * and writes only the differences from it. An interrupted write leaves either the old
 * header or the new one:
 * - The first page of a new file is written last. Until then, it is not a netCDF file.
 * - Differences within one page are written by one call. If the process is killed or the
 *   power fails, the page is either unchanged or complete.
 * - Differences in several pages are written through the journal.
 * - If the old header was longer, the rest of it is overwritten with zeros, unless all
 *   processes must write together (romio_no_indep_rw).
 *
 * The number of records may change at any time, by a separate write. */
#include "mpio.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "journal.h"

enum { PAGE = 4096, NUMRECS = 4 };

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_numrecs(int64_t at, int width)
{
    return at >= NUMRECS && at < NUMRECS + width;
}

/* Sets [*low, *high) to the range that differs from the header in the file, ignoring
 * numrecs. */
static void differences(const struct mpio *m, const unsigned char *bytes, int64_t size,
                        int width, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int64_t at = 0; at < size; at++) {
        bool same = at < m->image_size && bytes[at] == m->image[at];
        bool sound = at < m->torn_low || at >= m->torn_high;
        if ((same && sound) || is_numrecs(at, width)) continue;
        if (*high == 0) *low = at;
        *high = at + 1;
    }
}

/* Writes header bytes on process 0. */
static int write_alone(struct mpio *m, int64_t at, const unsigned char *bytes, int64_t n)
{
    m->base.ds->stats.header_written_bytes += n;
    return file_write(&m->file, at, bytes, n);
}

static int write_part(struct mpio *m, const unsigned char *bytes, int64_t low,
                      int64_t high)
{
    const int64_t size = larger(m->base.ds->header.size, m->image_size);
    base_require(low >= 0 && low < high && high <= larger(size, m->torn_high));
    int err = write_alone(m, low, bytes + low, high - low);
    m->torn_low = err == NC_NOERR ? 0 : low;
    m->torn_high = err == NC_NOERR ? 0 : high;
    return err;
}

/* Preserves records that others have added, by storing the larger number in the
 * header. */
static void merge_numrecs(struct mpio *m, int64_t records, unsigned char *bytes)
{
    struct dataset *ds = m->base.ds;
    if (records > ds->numrecs_seen)
        ds->numrecs_seen = records; /* distributed by the next agreement */
    if (records > ds->header.numrecs)
        (void)cdf_encode_numrecs(ds->header.format, records, bytes + NUMRECS);
}

/* Replaces the header through the journal, after checking the header in the file while no
 * other job can change it. */
static int replace_by_journal(struct mpio *m, unsigned char *bytes)
{
    struct dataset *ds = m->base.ds;
    struct cdf_header after = ds->header; /* not modified */
    struct journal j;
    int64_t records;
    mpio_unlock_header(m); /* release first: the journal may wait for a stronger lock */
    int err = journal_init(&j, ds->full_path);
    if (err == NC_NOERR) err = dataset_is_sound(ds);
    if (err == NC_NOERR) err = journal_open_dataset(&j, (uint64_t)ds->identity.inode);
    j.guard = m->file.guard;
    if (err == NC_NOERR) err = journal_claim(&j);
    if (err == NC_NOERR) err = mpio_check_header(m, &records);
    if (err == NC_NOERR) {
        merge_numrecs(m, records, bytes);
        after.numrecs = larger(after.numrecs, records);
        err = journal_replace(&j, m->image_size, &after);
    }
    m->lost |= j.lost;
    if (j.pending) {
        m->pending = true;
        err = mpio_report_pending(m, err);
    }
    ds->stats.header_written_bytes += ds->header.size;
    journal_free(&j);
    return err;
}

/* Overwrites the rest of a longer old header with zeros. The new header is already valid,
 * so a failure is treated like any torn header write: it is retried later. */
static void clear_rest(struct mpio *m, const unsigned char *bytes)
{
    const struct cdf_header *h = &m->base.ds->header;
    int64_t size = h->size;
    int64_t end = m->image_size;
    if (h->nvars > 0 && end > h->begin_fixed) end = h->begin_fixed;
    if (end > size) (void)write_part(m, bytes, size, end);
}

/* Replaces the header with at most two writes, or through the journal. For process 0,
 * which must have locked the header. */
static int replace(struct mpio *m, unsigned char *bytes, int64_t size)
{
    struct dataset *ds = m->base.ds;
    unsigned char field[8];
    int64_t low, high, records;
    int width = cdf_encode_numrecs(ds->header.format, ds->header.numrecs, field);
    differences(m, bytes, larger(size, m->image_size), width, &low, &high);
    if (high > low && low / PAGE != (high - 1) / PAGE) {
        int err = replace_by_journal(m, bytes);
        if (err == NC_NOERR) clear_rest(m, bytes);
        return err;
    }
    int err = mpio_check_header(m, &records);
    if (err != NC_NOERR) return err;
    bool more = ds->header.numrecs > records &&
                (records >= 0 || ds->header.numrecs != m->numrecs_in_file);
    merge_numrecs(m, records, bytes);
    if (more && low < high && low < PAGE) { /* one write covers both ranges */
        low = low < NUMRECS ? low : NUMRECS;
        high = larger(high, NUMRECS + width);
        more = false;
    }
    err = high > low ? write_part(m, bytes, low, high) : NC_NOERR;
    if (err == NC_NOERR && more) err = write_alone(m, NUMRECS, field, width);
    return err;
}

/* Replaces the header if all processes must write together. They cannot know which part
 * of it differs, so they write all of it. The rest of a longer old header remains. */
static int replace_together_all(struct mpio *m, unsigned char *bytes, int64_t size)
{
    struct dataset *ds = m->base.ds;
    unsigned char field[8];
    int width = cdf_encode_numrecs(ds->header.format, ds->header.numrecs, field);
    int64_t low = 0, high = 0, records;
    int err = mpio_check_header(m, &records);
    if (err != NC_NOERR) bytes = NULL;
    if (ds->rank == 0 && bytes != NULL) {
        merge_numrecs(m, records, bytes);
        differences(m, bytes, size, width, &low, &high);
        if (high > low && low / PAGE != (high - 1) / PAGE) {
            err = replace_by_journal(m, bytes);
            bytes = NULL;
        }
    }
    int written = file_write_root_all(&m->file, 0, bytes, size);
    if (written != NC_NOERR) {
        m->torn_low = 0;
        m->torn_high = size;
    }
    return err != NC_NOERR ? err : written;
}

static int write_new_all(struct mpio *m, const unsigned char *bytes, int64_t size)
{
    int64_t head = size < PAGE ? size : PAGE, records;
    int checked = mpio_check_header(m, &records), err = NC_NOERR;
    if (checked != NC_NOERR) bytes = NULL;
    m->begun |= bytes != NULL;
    if (size > head)
        err = file_write_root_all(&m->file, head, bytes == NULL ? NULL : bytes + head,
                                  size - head);
    int first = file_write_root_all(&m->file, 0, err == NC_NOERR ? bytes : NULL, head);
    if (checked != NC_NOERR) return checked;
    return err != NC_NOERR ? err : first;
}

/* If writes are delayed, flushes the header, so that the image equals the file. */
static int flush_header(struct mpio *m, int64_t size)
{
    int err = file_coherence_flush(&m->file.coherence);
    if (err == NC_NOERR) return err;
    m->torn_low = 0;
    m->torn_high = larger(size, m->image_size);
    return err;
}

unsigned char *mpio_encode_header(const struct mpio *m)
{
    const struct dataset *ds = m->base.ds;
    size_t size = (size_t)larger(ds->header.size, m->image_size);
    if (ds->rank > 0) return NULL;
    if (base_holds(cdf_encoded_size(&ds->header) <= (int64_t)size) != NC_NOERR)
        return NULL;
    unsigned char *bytes = base_calloc(1, size);
    if (bytes != NULL) cdf_encode(&ds->header, bytes);
    return bytes;
}

void mpio_set_image(struct mpio *m, unsigned char *bytes)
{
    base_free(m->image);
    m->image = bytes;
    m->image_size = m->base.ds->header.size;
}

int mpio_write_header_all(struct driver *self)
{
    struct mpio *m = (struct mpio *)self;
    struct dataset *ds = self->ds;
    int64_t size = ds->header.size;
    unsigned char *bytes = mpio_encode_header(m);
    bool lacking = ds->rank == 0 && bytes == NULL;
    int err = NC_NOERR;
    int locked = ds->rank == 0 ? mpio_lock_header(m) : NC_NOERR;
    if (m->pending || locked != NC_NOERR) {
        base_free(bytes);
        bytes = NULL;
    }
    if (m->created)
        err = write_new_all(m, bytes, size);
    else if (m->file.no_indep)
        err = replace_together_all(m, bytes, size);
    else if (bytes != NULL)
        err = replace(m, bytes, size);
    if (err == NC_NOERR) err = flush_header(m, size);
    if (ds->rank == 0) mpio_unlock_header(m);
    if (locked != NC_NOERR) err = locked;
    if (lacking) err = base_error_merge(dataset_is_sound(ds), NC_ENOMEM);
    if (m->pending && err == NC_NOERR) err = mpio_report_pending(m, NC_EFILE);
    if (err == NC_NOERR && ds->rank == 0)
        mpio_set_image(m, bytes);
    else
        base_free(bytes);
    if (err == NC_NOERR || m->file.no_indep) m->numrecs_in_file = ds->header.numrecs;
    return err;
}

/* Returns a copy of the image, truncated or padded with zeros. It is as long as the new
 * header, or longer if later bytes may be torn. (Bytes after a shorter header are
 * unused.) Returns NULL if there is no image or if out of memory. */
static unsigned char *copy_image(const struct mpio *m)
{
    int64_t size = larger(m->base.ds->header.size, m->torn_high);
    unsigned char *copy = m->image == NULL ? NULL : base_calloc(1, (size_t)size);
    int64_t n = size < m->image_size ? size : m->image_size;
    if (copy != NULL) memcpy(copy, m->image, (size_t)n);
    return copy;
}

/* Returns a copy of the image that has the larger of the number of records in the file
 * and the number known to this process. */
static unsigned char *copy_with_records(struct mpio *m, int64_t records)
{
    const struct cdf_header *h = &m->base.ds->header;
    unsigned char *copy = copy_image(m);
    if (copy == NULL) return NULL;
    (void)cdf_encode_numrecs(h->format, h->numrecs, copy + NUMRECS);
    merge_numrecs(m, records, copy);
    return copy;
}

int mpio_rewrite_torn(struct mpio *m)
{
    int64_t records;
    if (m->file.no_indep || m->pending) return NC_NOERR;
    int err = mpio_lock_header(m);
    if (err == NC_NOERR) err = mpio_check_header(m, &records);
    unsigned char *copy = err == NC_NOERR ? copy_with_records(m, records) : NULL;
    if (err == NC_NOERR && copy == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR) err = write_part(m, copy, m->torn_low, m->torn_high);
    mpio_unlock_header(m);
    base_free(copy);
    return err;
}

void mpio_restore_header_all(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    if (m->created) return;
    if (!m->file.no_indep) {
        (void)mpio_repair_header(m); /* if this fails, a later call retries */
        return;
    }
    unsigned char *copy = NULL; /* exists only on process 0 */
    int64_t records;
    bool mine = m->torn_high > 0 && !m->pending;
    if (mine && mpio_check_header(m, &records) == NC_NOERR)
        copy = copy_with_records(m, records);
    (void)file_write_root_all(&m->file, 0, copy, ds->header.size);
    base_free(copy);
}
