/* Classifies the first JOURNAL_MARK bytes of a dataset that has a journal next to it.
 *
 * A redefinition replaces these bytes twice: with the mark when it begins, and with a
 * header's first bytes when it ends. If the power fails during such a write, the device
 * may have some of the new bytes and some of the old ones, in any order. Such a mixture
 * can begin like a header; then the bytes after the version are a record count that never
 * existed. So the first byte alone does not identify a header: the bytes are compared
 * with the headers in the journal and with the marks that its owner and states allow. */
#include <fcntl.h>
#include <string.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_number.h"
#include "journal_impl.h"

enum { HEADERS = 2, STATES = 2, NONCES = 2, MAGIC = 4 };

/* The values that the first bytes may have, and the properties of the old header that
 * reveal whether another program may have appended records. */
struct candidates {
    unsigned char headers[HEADERS][JOURNAL_MARK];
    bool known; /* `headers` is valid */
    int nrecord_vars;
    int64_t numrecs, begin_record, record_size; /* from the old header; sizes in bytes */
    struct journal_state states[STATES];        /* sorted by descending serial */
    int nstates;
    bool damaged;            /* a state's page is neither valid nor blank */
    uint64_t nonces[NONCES]; /* nonces that a mark may contain; 0 if none */
};

/* ---- reading the journal ---- */

static void add_headers(const struct journal_facts *f, const unsigned char *bytes,
                        struct candidates *c)
{
    struct cdf_header before, after;
    if (journal_decode_headers(f, bytes, &before, &after) != NC_NOERR) return;
    memcpy(c->headers[0], bytes, JOURNAL_MARK);
    memcpy(c->headers[1], bytes + f->before, JOURNAL_MARK);
    c->numrecs = before.numrecs;
    c->nrecord_vars = before.nrecord_vars;
    c->begin_record = before.begin_record;
    c->record_size = before.record_size;
    c->known = true;
    cdf_free(&before);
    cdf_free(&after);
}

static int read_candidate_headers(const struct journal *j, struct candidates *c)
{
    const struct journal_facts *f = &j->facts;
    int64_t n = f->before + f->after + f->fills;
    unsigned char *bytes = base_malloc((size_t)n);
    if (bytes == NULL) return NC_ENOMEM;
    if (base_read_at(j->fd, journal_headers_at(), bytes, n, j->path) == NC_NOERR &&
        base_hash(bytes, (size_t)n, 0) == f->sum)
        add_headers(f, bytes, c);
    base_free(bytes);
    return NC_NOERR;
}

static void read_candidate_states(const struct journal *j, struct candidates *c)
{
    unsigned char page[JOURNAL_PAGE];
    for (int i = 0; i < STATES; i++) {
        int64_t at = (JOURNAL_STATE_PAGE + i) * (int64_t)JOURNAL_PAGE;
        struct journal_state s;
        if (base_read_at(j->fd, at, page, sizeof page, j->path) != NC_NOERR ||
            !journal_decode_state(&s, page, &j->facts)) {
            c->damaged |= !base_is_zero(page, sizeof page);
            continue;
        }
        if (c->nstates > 0 && s.serial > c->states[0].serial) {
            c->states[1] = c->states[0];
            c->states[0] = s;
        } else {
            c->states[c->nstates] = s;
        }
        c->nstates++;
    }
}

static int read_candidates(const struct journal *j, struct candidates *c)
{
    *c = (struct candidates){.nonces = {j->lease.owner.nonce, j->lease.earlier}};
    read_candidate_states(j, c);
    return read_candidate_headers(j, c);
}

/* ---- comparing ---- */

/* Finds the state named by the mark in these bytes. */
static bool find_named_state(struct journal *j, const struct candidates *c)
{
    const unsigned char *at = j->head + MAGIC;
    uint64_t name = base_get_word(&at);
    for (int i = 0; i < c->nstates; i++) {
        j->state = c->states[i];
        j->mark_nonce = name - (uint64_t)j->state.serial;
        for (int k = 0; k < NONCES; k++)
            if (c->nonces[k] != 0 && j->mark_nonce == c->nonces[k]) return true;
    }
    return false;
}

/* Returns whether the file may have a header in this phase. Only in these phases does a
 * mark replace a header, or a header a mark. */
static bool header_may_be_there(const struct journal_state *s)
{
    return s->phase == JOURNAL_READY || s->phase == JOURNAL_COMMITTING ||
           s->phase == JOURNAL_RETURNING;
}

/* Sets explained[i] if byte i equals that byte of a mark that names state `which`. */
static void explain_marks(const struct candidates *c, const unsigned char *head,
                          int which, bool *explained)
{
    unsigned char mark[JOURNAL_MARK];
    for (int k = 0; k < NONCES; k++) {
        if (c->nonces[k] == 0) continue;
        journal_encode_mark(c->headers[0][MAGIC - 1],
                            c->nonces[k] + (uint64_t)c->states[which].serial, mark);
        for (int at = 0; at < JOURNAL_MARK; at++)
            explained[at] |= head[at] == mark[at];
    }
}

/* Returns the number of the state that torn bytes belong to: the later one, or the
 * earlier one if the mark still named it while a header replaced the mark. If all bytes
 * are those of marks for the later one, a process was taking it over. */
static int torn_state(const struct candidates *c, const unsigned char *head)
{
    bool explained[JOURNAL_MARK] = {false};
    if (c->nstates < STATES || header_may_be_there(&c->states[0]) ||
        !header_may_be_there(&c->states[1]))
        return 0;
    explain_marks(c, head, 0, explained);
    return memchr(explained, 0, sizeof explained) != NULL;
}

/* Returns whether each byte equals the byte of some header or mark at that position.
 * Returns false if a state's page is damaged, because its mark is then unknown. */
static bool is_mixture(const struct candidates *c, const unsigned char *head)
{
    bool explained[JOURNAL_MARK] = {false};
    if (!c->known || c->nstates == 0 || c->damaged ||
        (c->nstates == STATES && c->states[0].serial != c->states[1].serial + 1))
        return false;
    const bool header = header_may_be_there(&c->states[torn_state(c, head)]);
    for (int i = 0; i < HEADERS && header; i++)
        for (int at = 0; at < JOURNAL_MARK; at++)
            explained[at] |= head[at] == c->headers[i][at];
    for (int i = 0; i < c->nstates; i++)
        explain_marks(c, head, i, explained);
    return memchr(explained, 0, sizeof explained) == NULL;
}

static bool is_known_header(const struct candidates *c, const unsigned char *head)
{
    if (!c->known) return false;
    return memcmp(head, c->headers[0], JOURNAL_MARK) == 0 ||
           memcmp(head, c->headers[1], JOURNAL_MARK) == 0;
}

/* Returns whether the file is long enough for the record count. If another program has
 * appended records to a finished dataset next to a stale journal, the new count may by
 * chance look like a mixture. */
static bool has_grown(const struct journal *j, const struct candidates *c)
{
    struct stat st;
    int64_t numrecs = cdf_decode_numrecs(c->headers[0][MAGIC - 1], j->head), last;
    return numrecs > c->numrecs && c->nrecord_vars > 0 && fstat(j->file, &st) == 0 &&
           !__builtin_mul_overflow(numrecs - 1, c->record_size, &last) &&
           last < (int64_t)st.st_size - j->base - c->begin_record;
}

int journal_examine_head(struct journal *j, enum journal_head *is)
{
    struct candidates c;
    *is = JOURNAL_HEAD_OTHER;
    j->state.phase = JOURNAL_NONE;
    int err = base_read_at(j->file, j->base, j->head, sizeof j->head, j->dataset_path);
    if (err == NC_NOERR) err = read_candidates(j, &c);
    if (err != NC_NOERR) return err;
    if (find_named_state(j, &c)) {
        *is =
            cdf_is_moving(j->head, JOURNAL_MARK) ? JOURNAL_HEAD_MARK : JOURNAL_HEAD_TORN;
    } else {
        if (c.nstates > 0) j->state = c.states[torn_state(&c, j->head)];
        j->mark_nonce = c.nonces[c.nonces[1] != 0]; /* see journal_write_record */
        if (is_known_header(&c, j->head))
            *is = JOURNAL_HEAD_OURS;
        else if (is_mixture(&c, j->head))
            *is = has_grown(j, &c) ? JOURNAL_HEAD_UNSURE : JOURNAL_HEAD_TORN;
    }
    if (*is == JOURNAL_HEAD_TORN && c.known)
        j->head[MAGIC - 1] = c.headers[0][MAGIC - 1]; /* version byte for the next mark */
    return NC_NOERR;
}

/* ---- for opening a dataset ---- */

/* Ignores a journal that belongs to another user or another file. */
static int examine_opened(struct journal *j, enum journal_head *is)
{
    const char *why;
    *is = JOURNAL_HEAD_OTHER;
    j->file = base_open(j->dataset_path, O_RDONLY);
    if (j->file < 0) return NC_NOERR; /* the caller's descriptor is not a file */
    int err = journal_describe_dataset(j);
    if (err != NC_NOERR) return err;
    j->fd = journal_open_trusted(j->path, O_RDONLY, &j->model, &why);
    if (j->fd < 0 || !journal_belongs(j)) return NC_NOERR;
    return journal_examine_head(j, is);
}

/* If the bytes are torn, examines them again after 20 ms, in case a write was in
 * progress. */
static int examine_twice(const char *dataset, enum journal_head *is)
{
    int err = NC_NOERR;
    *is = JOURNAL_HEAD_OTHER;
    for (int turn = 0; turn < 2; turn++) {
        struct journal j;
        struct stat st;
        err = journal_init(&j, dataset);
        bool there = err == NC_NOERR && lstat(j.path, &st) == 0;
        *is = JOURNAL_HEAD_OTHER;
        if (there) err = examine_opened(&j, is);
        journal_free(&j);
        if (*is != JOURNAL_HEAD_TORN && *is != JOURNAL_HEAD_UNSURE) break;
        if (turn == 0) base_sleep_us(20000);
    }
    return err;
}

int journal_check_head(const char *dataset, bool *torn)
{
    enum journal_head is;
    int err = examine_twice(dataset, &is);
    *torn = is == JOURNAL_HEAD_TORN;
    if (is != JOURNAL_HEAD_UNSURE) return err;
    return base_error_set(
        NC_ENOTNC,
        "%s: the number of records, bytes 4 to 12, differs from the one in its journal "
        "%s.redef: either records were appended after a redefinition, or a write of "
        "these bytes was incomplete when the power failed; if the number is right, "
        "remove the journal",
        dataset, dataset);
}
