/* Encodes a journal's pages: facts, states, owner and mark. Decoding validates every
 * field, because the bytes may be damaged or may not be a journal at all. */
#include <string.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_names.h"
#include "journal_impl.h"

enum { MAGIC = 8 };
static const char facts_magic[] = "NCREDEF2", state_magic[] = "NCSTATE2",
                  old_state_magic[] = "NCSTATE1", /* older journals, without checksums of
                                                   * areas */

    lease_magic[] = "NCOWNER1";

/* Appends the checksum of all preceding bytes of the page. */
static void seal_page(unsigned char *page, unsigned char *end)
{
    base_put_word(end, base_hash(page, (size_t)(end - page), 0));
}

static bool page_is_sealed(const unsigned char *page, const unsigned char *end)
{
    uint64_t sum = base_hash(page, (size_t)(end - page), 0);
    return base_get_word(&end) == sum;
}

bool journal_is_named(const char *first)
{
    return memcmp(first, facts_magic, MAGIC - 1) == 0;
}

void journal_encode_facts(const struct journal_facts *f, unsigned char *page)
{
    unsigned char *p = page + MAGIC;
    memset(page, 0, JOURNAL_PAGE);
    memcpy(page, facts_magic, MAGIC);
    p = base_put_word(p, f->inode);
    p = base_put_word(p, f->birth);
    p = base_put_word(p, (uint64_t)f->old_size);
    p = base_put_word(p, (uint64_t)f->new_size);
    p = base_put_word(p, (uint64_t)f->before);
    p = base_put_word(p, (uint64_t)f->after);
    p = base_put_word(p, (uint64_t)f->fills);
    p = base_put_word(p, (uint64_t)f->area);
    p = base_put_word(p, f->sum);
    seal_page(page, p);
}

int64_t journal_headers_at(void)
{
    return 4 * (int64_t)JOURNAL_PAGE;
}

static int64_t whole_pages(int64_t n)
{
    return (n + JOURNAL_PAGE - 1) / JOURNAL_PAGE * JOURNAL_PAGE;
}

int64_t journal_area_at(const struct journal_facts *f, int area)
{
    return whole_pages(journal_headers_at() + f->before + f->after + f->fills) +
           area * whole_pages(f->area);
}

int64_t journal_size(const struct journal_facts *f)
{
    return journal_area_at(f, 2);
}

/* Returns whether the sizes fit the file and their sums do not overflow. */
static bool sizes_fit(const struct journal_facts *f, int64_t size)
{
    const int64_t sizes[] = {f->before, f->after, f->fills, f->area};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] < 0 || sizes[i] > size) return false;
    return size <= INT64_MAX / 8 && f->before >= JOURNAL_MARK &&
           f->after >= JOURNAL_MARK && journal_size(f) <= size && f->old_size >= 0 &&
           f->new_size >= f->old_size;
}

const char *journal_decode_facts(struct journal_facts *f, const unsigned char *page,
                                 int64_t size)
{
    const unsigned char *p = page + MAGIC;
    const size_t name = MAGIC - 1;
    if (size < JOURNAL_PAGE || memcmp(page, facts_magic, name) != 0)
        return "it is not the journal of a redefinition";
    if (page[name] != (unsigned char)facts_magic[name])
        return "it was written by another version of the library; run ncvalidator -f of "
               "that version";
    f->inode = base_get_word(&p);
    f->birth = base_get_word(&p);
    f->old_size = (int64_t)base_get_word(&p);
    f->new_size = (int64_t)base_get_word(&p);
    f->before = (int64_t)base_get_word(&p);
    f->after = (int64_t)base_get_word(&p);
    f->fills = (int64_t)base_get_word(&p);
    f->area = (int64_t)base_get_word(&p);
    f->sum = base_get_word(&p);
    if (!page_is_sealed(page, p)) return "its first page is corrupt";
    return sizes_fit(f, size) ? NULL : "it is truncated";
}

void journal_encode_state(const struct journal_state *s, unsigned char *page)
{
    unsigned char *p = page + MAGIC;
    memset(page, 0, JOURNAL_PAGE);
    memcpy(page, state_magic, MAGIC);
    p = base_put_word(p, (uint64_t)s->serial);
    p = base_put_word(p, (uint64_t)s->phase);
    p = base_put_word(p, s->back);
    p = base_put_word(p, s->saved);
    p = base_put_word(p, (uint64_t)s->area);
    p = base_put_word(p, (uint64_t)s->low);
    p = base_put_word(p, (uint64_t)s->high);
    p = base_put_word(p, s->sum);
    seal_page(page, p);
}

bool journal_decode_state(struct journal_state *s, const unsigned char *page,
                          const struct journal_facts *f)
{
    const unsigned char *p = page + MAGIC;
    bool old = memcmp(page, old_state_magic, MAGIC) == 0;
    if (!old && memcmp(page, state_magic, MAGIC) != 0) return false;
    s->serial = (int64_t)base_get_word(&p);
    uint64_t phase = base_get_word(&p), back = base_get_word(&p),
             saved = base_get_word(&p), area = base_get_word(&p);
    s->low = (int64_t)base_get_word(&p);
    s->high = (int64_t)base_get_word(&p);
    s->sum = old ? 0 : base_get_word(&p);
    if (!page_is_sealed(page, p) || phase < JOURNAL_READY || phase > JOURNAL_RETURNING ||
        back > 1 || saved > 1 || area > 1)
        return false;
    s->phase = (enum journal_phase)phase;
    s->back = back != 0;
    s->saved = saved != 0;
    s->area = (int)area;
    return s->serial >= 0 && s->low >= 0 && s->high >= s->low &&
           (!s->saved || s->high - s->low <= f->area);
}

/* Returns the factor for a 4-byte word of an area. It is odd, so changing a single word
 * always changes the checksum. */
static uint64_t factor_of(uint64_t word)
{
    uint64_t x = (word + 1) * 0x9e3779b97f4a7c15u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return (x ^ x >> 32) | 1;
}

/* Sums 4-byte little-endian words times their factors, so the sums of parts add up. */
uint64_t journal_sum(int64_t at, const unsigned char *bytes, int64_t n)
{
    enum { WORD = 4 };
    uint64_t sum = 0;
    int64_t i = 0;
    for (; i < n && (at + i) % WORD != 0; i++)
        sum += ((uint64_t)bytes[i] << (at + i) % WORD * 8) *
               factor_of((uint64_t)(at + i) / WORD);
    for (; n - i >= WORD; i += WORD) {
        const unsigned char *p = bytes + i;
        uint64_t word = (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
                        (uint64_t)p[3] << 24;
        sum += word * factor_of((uint64_t)(at + i) / WORD);
    }
    for (; i < n; i++)
        sum += ((uint64_t)bytes[i] << (at + i) % WORD * 8) *
               factor_of((uint64_t)(at + i) / WORD);
    return sum;
}

void journal_encode_record(const struct journal_record *h, unsigned char *page)
{
    unsigned char *p = page + MAGIC;
    memset(page, 0, JOURNAL_PAGE);
    memcpy(page, lease_magic, MAGIC);
    base_owner_encode(&h->owner, p);
    p = base_put_word(p + BASE_OWNER_BYTES, h->earlier);
    p = base_put_word(p, h->released);
    seal_page(page, p);
}

bool journal_decode_record(struct journal_record *h, const unsigned char *page)
{
    const unsigned char *p = page + MAGIC;
    if (memcmp(page, lease_magic, MAGIC) != 0) return false;
    base_owner_decode(&h->owner, p);
    p += BASE_OWNER_BYTES;
    h->earlier = base_get_word(&p);
    h->released = base_get_word(&p) != 0;
    return page_is_sealed(page, p);
}

void journal_encode_mark(int format, uint64_t name, unsigned char *mark)
{
    const unsigned char magic[] = {CDF_MOVING, 'D', 'F', (unsigned char)format};
    memcpy(mark, magic, sizeof magic);
    base_put_word(mark + sizeof magic, name);
}

uint64_t journal_decode_mark(const unsigned char *mark)
{
    const unsigned char *p = mark + 4;
    return cdf_is_moving(mark, JOURNAL_MARK) ? base_get_word(&p) : 0;
}

/* Decodes a header written by this library; it must use exactly these bytes. */
static int decode_one(struct cdf_header *h, const unsigned char *bytes, int64_t n)
{
    struct cdf_fault fault;
    int err = cdf_decode(h, bytes, (size_t)n, INT64_MAX, &fault);
    if (err == NC_ENOMEM) return err;
    if (err != NC_NOERR)
        return base_error_set(NC_ENOTNC, "a header in the journal, at offset %lld: %s",
                              (long long)fault.offset,
                              err == CDF_MORE ? "it is truncated" : fault.reason);
    return NC_NOERR;
}

/* Returns whether `after` has all variables of `before` and moves none to a lower
 * offset. */
static bool follows(const struct cdf_header *before, const struct cdf_header *after)
{
    if (after->nvars < before->nvars || after->format != before->format ||
        after->numrecs != before->numrecs || after->record_size < before->record_size ||
        (before->nrecord_vars > 0 && after->begin_record < before->begin_record))
        return false;
    for (int id = 0; id < before->nvars; id++) {
        const struct cdf_var *was = &before->vars[id], *is = &after->vars[id];
        if (is->begin < was->begin || is->is_record != was->is_record ||
            is->nelems != was->nelems || is->type != was->type)
            return false;
    }
    return true;
}

int journal_decode_headers(const struct journal_facts *f, const unsigned char *bytes,
                           struct cdf_header *before, struct cdf_header *after)
{
    const unsigned char *fills = bytes + f->before + f->after;
    int err = decode_one(before, bytes, f->before);
    if (err != NC_NOERR) return err;
    err = decode_one(after, bytes + f->before, f->after);
    if (err != NC_NOERR) {
        cdf_free(before);
        return err;
    }
    if (f->fills != after->nvars || !follows(before, after)) {
        cdf_free(before);
        cdf_free(after);
        return base_error_set(NC_ENOTNC,
                              "the headers in the journal do not match each other");
    }
    for (int id = 0; id < after->nvars; id++)
        after->vars[id].fill = fills[id] != 0;
    return NC_NOERR;
}
