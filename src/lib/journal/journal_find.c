/* Finds the journal of a dataset whose redefinition was interrupted. Before the journal
 * is used to change anything, verifies that it belongs to the dataset in its current
 * state: identity, size, owner, first bytes, headers, and the checksum of saved
 * values. */
#include <fcntl.h>
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_names.h"
#include "journal_impl.h"

static int refuse_journal(const struct journal *j, const char *why)
{
    return base_error_set(NC_ENOTNC,
                          "%s: a redefinition of this dataset was interrupted, and its "
                          "journal %s cannot be used: %s",
                          j->dataset_path, j->path, why);
}

int journal_find(struct journal *j)
{
    const struct journal_facts of = j->facts;
    const char *why;
    int64_t size;
    j->fd = journal_open_trusted(j->path, O_RDWR, &j->model, &why);
    if (j->fd < 0) return refuse_journal(j, why);
    why = journal_read_facts(j->fd, &j->facts, &size);
    if (why == NULL && !journal_same_file(&j->facts, &of))
        why = "it belongs to another file";
    /* If only the header is replaced, the dataset may be shorter: a power failure can
     * lose values that were never synced. The journal is still valid. */
    if (why == NULL && j->facts.new_size > j->facts.old_size &&
        of.old_size < j->facts.old_size)
        why = "the dataset is shorter than before the redefinition";
    if (why == NULL && !journal_read_record(j->fd, &j->lease))
        why = "the record of its owner is corrupt";
    if (why != NULL) return refuse_journal(j, why);
    enum journal_head is;
    int err = journal_examine_head(j, &is);
    if (err != NC_NOERR || is == JOURNAL_HEAD_MARK || is == JOURNAL_HEAD_TORN) return err;
    return refuse_journal(j, j->state.phase == JOURNAL_NONE
                                 ? "its state is corrupt"
                                 : "it belongs to another redefinition of the dataset");
}

/* Compares the old header with the bytes after the mark, which stay unchanged until the
 * new header is written. If that failed, data move back. While new variables are filled,
 * the part that the new header does not need is zeroed. */
static int compare_header(struct journal *j, const unsigned char *before)
{
    enum { FIXED = JOURNAL_MARK };
    const struct journal_facts *f = &j->facts;
    int64_t n = f->before < f->after ? f->before : f->after;
    if (j->state.phase > JOURNAL_FILLING || j->state.back || n <= FIXED) return NC_NOERR;
    unsigned char *there = base_malloc((size_t)n);
    if (there == NULL) return NC_ENOMEM;
    int err = base_read_at(j->file, j->base, there, n, j->dataset_path);
    if (err == NC_NOERR && memcmp(there + FIXED, before + FIXED, (size_t)n - FIXED) != 0)
        err = refuse_journal(j, "it has a different header");
    base_free(there);
    return err;
}

int journal_read_headers(struct journal *j, unsigned char *bytes)
{
    const struct journal_facts *f = &j->facts;
    int64_t n = f->before + f->after + f->fills;
    int err = base_read_at(j->fd, journal_headers_at(), bytes, n, j->path);
    if (err != NC_NOERR) return err;
    if (base_hash(bytes, (size_t)n, 0) != f->sum)
        return refuse_journal(j, "its headers are corrupt");
    return compare_header(j, bytes);
}

int journal_check_area(struct journal *j)
{
    enum { PIECE = 1 << 20 };
    const struct journal_state *s = &j->state;
    int64_t all = s->high - s->low;
    uint64_t sum = 0;
    if (!s->saved || s->sum == 0) return NC_NOERR;
    unsigned char *piece = base_malloc(PIECE);
    int err = piece == NULL ? NC_ENOMEM : NC_NOERR;
    for (int64_t at = 0, n; at < all && err == NC_NOERR; at += n) {
        n = all - at < PIECE ? all - at : PIECE;
        err = journal_read_area(j, s->area, at, piece, n);
        if (err == NC_NOERR) sum += journal_sum(at, piece, n);
    }
    base_free(piece);
    if (err != NC_NOERR || sum + JOURNAL_SUM_KNOWN == s->sum) return err;
    return refuse_journal(j, "the values in it are corrupt");
}
