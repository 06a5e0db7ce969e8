/* Writing the header: only what differs from the one in the file, of which process 0
 * keeps an image, and so that there is an old one or a new one whenever it is cut off.
 *
 * - A new file gets its first page last: before that it is no netCDF file.
 * - What differs within one page of the file is one write: a process that is killed, and
 *   a device whose power goes, leave a page as it was or as it was to be.
 * - What differs in more pages goes through the journal.
 * - What a longer header has left behind becomes zeros, but where all processes have to
 *   take part in writing.
 *
 * The number of records is a field that changes at any time, by a write of its own, and
 * belongs to neither. */
#include "mpio.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "journal.h"

enum { PAGE = 4096, NUMRECS = 4 };

int mpio_tell_pending(const struct mpio *m, int code)
{
    char why[600] = "";
    const char *lost = "another process has taken over the redefinition; nothing more is "
                       "written here, open the dataset anew";
    const char *left = "the redefinition could be neither completed nor taken back; open "
                       "the dataset for writing, or run ncvalidator -f on it, when the "
                       "cause is gone";
    if (code == NC_NOERR) code = NC_EFILE;
    strncpy(why, base_error_detail(code), sizeof why - 1);
    return base_error_set(code, "%s%s%s: %s", why, *why == '\0' ? "" : "; ",
                          m->base.ds->full, m->lost ? lost : left);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_numrecs(int64_t at, int width)
{
    return at >= NUMRECS && at < NUMRECS + width;
}

/* Which bytes [*low, *high) of a header differ from those in the file; numrecs is left
 * out. */
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

/* By process 0 alone. */
static int write_alone(struct mpio *m, int64_t at, const unsigned char *bytes, int64_t n)
{
    m->base.ds->stats.header_written_bytes += n;
    return file_write(&m->file, at, bytes, n);
}

static int write_part(struct mpio *m, const unsigned char *bytes, int64_t low,
                      int64_t high)
{
    int err = write_alone(m, low, bytes + low, high - low);
    m->torn_low = err == NC_NOERR ? 0 : low;
    m->torn_high = err == NC_NOERR ? 0 : high;
    return err;
}

/* Records that others have added stay: the header has the larger number. */
static void take_records(struct mpio *m, int64_t records, unsigned char *bytes)
{
    struct dataset *ds = m->base.ds;
    if (records > ds->held) ds->held = records; /* the next agreement tells all */
    if (records > ds->header.numrecs)
        (void)cdf_encode_numrecs(ds->header.format, records, bytes + NUMRECS);
}

/* The header in the file is looked at when nobody else can change it any more. */
static int replace_by_journal(struct mpio *m, unsigned char *bytes)
{
    struct dataset *ds = m->base.ds;
    struct cdf_header after = ds->header; /* only to be read */
    struct journal j;
    int64_t records;
    mpio_unlock_header(m); /* the journal's own lock is more, and may take a while */
    int err = journal_init(&j, ds->full);
    if (err == NC_NOERR) err = journal_open_dataset(&j, (uint64_t)ds->inode);
    j.guard = m->file.guard;
    if (err == NC_NOERR) err = journal_claim(&j);
    if (err == NC_NOERR) err = mpio_check_header(m, &records);
    if (err == NC_NOERR) {
        take_records(m, records, bytes);
        after.numrecs = larger(after.numrecs, records);
        err = journal_replace(&j, m->image_size, &after);
    }
    m->lost |= j.lost;
    if (j.pending) {
        m->pending = true;
        err = mpio_tell_pending(m, err);
    }
    ds->stats.header_written_bytes += ds->header.size;
    journal_free(&j);
    return err;
}

/* Zeros for what the longer header before has left. The new one is in force: should this
 * fail, it is tried again like any write of the header that was torn. */
static void clear_rest(struct mpio *m, const unsigned char *bytes)
{
    int64_t size = m->base.ds->header.size;
    if (m->image_size > size) (void)write_part(m, bytes, size, m->image_size);
}

/* On process 0, of which alone that is asked, with the header locked. */
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
    take_records(m, records, bytes);
    if (more && low < high && low < PAGE) { /* one write for both */
        low = low < NUMRECS ? low : NUMRECS;
        high = larger(high, NUMRECS + width);
        more = false;
    }
    err = high > low ? write_part(m, bytes, low, high) : NC_NOERR;
    if (err == NC_NOERR && more) err = write_alone(m, NUMRECS, field, width);
    return err;
}

/* Where all processes have to take part in writing they cannot know how much there is:
 * it is all of it, which leaves the rest as it is. */
static int replace_together_all(struct mpio *m, unsigned char *bytes, int64_t size)
{
    struct dataset *ds = m->base.ds;
    unsigned char field[8];
    int width = cdf_encode_numrecs(ds->header.format, ds->header.numrecs, field);
    int64_t low = 0, high = 0, records;
    int err = mpio_check_header(m, &records);
    if (err != NC_NOERR) bytes = NULL;
    if (ds->rank == 0 && bytes != NULL) {
        take_records(m, records, bytes);
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

/* The image is what the file has: of a write that is late that is to be known first. */
static int settle_header(struct mpio *m, int64_t size)
{
    int err = file_late_settle(&m->file.late);
    if (err == NC_NOERR) return err;
    m->torn_low = 0;
    m->torn_high = larger(size, m->image_size);
    return err;
}

unsigned char *mpio_encode_header(const struct mpio *m)
{
    const struct dataset *ds = m->base.ds;
    size_t size = (size_t)larger(ds->header.size, m->image_size);
    unsigned char *bytes = ds->rank == 0 ? base_calloc(1, size) : NULL;
    if (bytes != NULL) cdf_encode(&ds->header, bytes);
    return bytes;
}

void mpio_keep_header(struct mpio *m, unsigned char *bytes)
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
    if (err == NC_NOERR) err = settle_header(m, size);
    if (ds->rank == 0) mpio_unlock_header(m);
    if (locked != NC_NOERR) err = locked;
    if (lacking) err = NC_ENOMEM;
    if (m->pending && err == NC_NOERR) err = mpio_tell_pending(m, NC_EFILE);
    if (err == NC_NOERR && ds->rank == 0)
        mpio_keep_header(m, bytes);
    else
        base_free(bytes);
    if (err == NC_NOERR || m->file.no_indep) m->numrecs_in_file = ds->header.numrecs;
    return err;
}

/* As many bytes of the image as the definitions' header has, or as may be torn, and
 * zeros: what lies behind a header that was shorter is nobody's. NULL: none, or no
 * memory. */
static unsigned char *copy_image(const struct mpio *m)
{
    int64_t size = larger(m->base.ds->header.size, m->torn_high);
    unsigned char *copy = m->image == NULL ? NULL : base_calloc(1, (size_t)size);
    int64_t n = size < m->image_size ? size : m->image_size;
    if (copy != NULL) memcpy(copy, m->image, (size_t)n);
    return copy;
}

/* With the number of records, ours or the file's. */
static unsigned char *copy_with_records(struct mpio *m, int64_t records)
{
    const struct cdf_header *h = &m->base.ds->header;
    unsigned char *copy = copy_image(m);
    if (copy == NULL) return NULL;
    (void)cdf_encode_numrecs(h->format, h->numrecs, copy + NUMRECS);
    take_records(m, records, copy);
    return copy;
}

int mpio_mend_torn(struct mpio *m)
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
        (void)mpio_mend_header(m); /* else a later call does */
        return;
    }
    unsigned char *copy = NULL; /* on process 0 */
    int64_t records;
    bool mine = m->torn_high > 0 && !m->pending;
    if (mine && mpio_check_header(m, &records) == NC_NOERR)
        copy = copy_with_records(m, records);
    (void)file_write_root_all(&m->file, 0, copy, ds->header.size);
    base_free(copy);
}
