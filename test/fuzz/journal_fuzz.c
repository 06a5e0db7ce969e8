/* What must hold for any bytes that are taken for a journal: they are refused in words,
 * or tell of two headers between which bytes move in rounds that end, each within the
 * places there are. */
#include "cdf_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_names.h"
#include "journal.h"

const char fuzz_corpus[] = "journal-corpus";

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                     \
        }                                                                                \
    } while (0)

enum { FIELD = 8 };

/* Sums are made right, or nothing would come past them: of the facts (at 80), of states
 * (at 64), of the holder (at 152). */
static void seal(unsigned char *page, size_t at)
{
    uint64_t sum = base_hash(page, at, 0);
    for (int i = 0; i < FIELD; i++)
        page[at + (size_t)i] = (unsigned char)(sum >> (8 * (FIELD - 1 - i)));
}

/* Carries nothing: what it is asked for must be there. */
struct play {
    int64_t total, steps;
};

static int carry(void *who, const struct journal_state *round, enum journal_place from,
                 enum journal_place to)
{
    struct play *p = who;
    int64_t low = round->low, high = round->high;
    CHECK(low >= 0 && high > low && high <= p->total && from != to);
    return ++p->steps > 200 ? NC_EIO : NC_NOERR;
}

static int nothing(void *who)
{
    (void)who;
    return NC_NOERR;
}

static int concur(void *who, int err)
{
    (void)who;
    return err;
}

static void resume(struct journal *j, const struct cdf_header *before,
                   const struct cdf_header *after)
{
    struct play p = {.total = cdf_move_total(before, after)};
    struct journal_crew c = {.j = j,
                             .before = before,
                             .after = after,
                             .share = 4096,
                             .least = 512,
                             .who = &p,
                             .carry_all = carry,
                             .complete_all = nothing,
                             .secure_all = nothing,
                             .concur_all = concur};
    int err = journal_resume_all(&c);
    CHECK(err == NC_NOERR || err == NC_EIO || err == NC_ENOTNC);
}

/* Names go to terminals. */
static void take_holder(const unsigned char *page)
{
    struct journal_holder h;
    char text[160];
    if (!journal_decode_holder(&h, page)) return;
    for (const char *c = base_owner_words(&h.owner, text); *c != '\0'; c++)
        CHECK(*c >= ' ' && *c <= '~');
}

static void take_headers(struct journal *j, const unsigned char *bytes)
{
    struct cdf_header before, after;
    int err = journal_decode_headers(&j->facts, bytes, &before, &after);
    CHECK(err == NC_NOERR || (err == NC_ENOTNC && *base_error_detail(err) != '\0'));
    if (err != NC_NOERR) return;
    resume(j, &before, &after);
    cdf_free(&before);
    cdf_free(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct journal j = {.fd = 0, .file = -1, .guard = -1}; /* open: nothing is read */
    size_t head = (size_t)journal_headers_at();
    unsigned char *bytes = calloc(1, size + head);
    int64_t memory = base_mem_in_use();
    CHECK(bytes != NULL);
    if (size > 0) memcpy(bytes, data, size);
    if (size % 2 == 0) {
        seal(bytes, 80);
        seal(bytes + JOURNAL_PAGE, 64);
        seal(bytes + 3 * JOURNAL_PAGE, 152);
    }
    take_holder(bytes + 3 * JOURNAL_PAGE);
    const char *why = journal_decode_facts(&j.facts, bytes, (int64_t)size);
    CHECK(why == NULL || *why != '\0');
    if (why == NULL && journal_decode_state(&j.state, bytes + JOURNAL_PAGE, &j.facts)) {
        CHECK(journal_size(&j.facts) <= (int64_t)size);
        CHECK(j.state.low >= 0 && j.state.high >= j.state.low);
        take_headers(&j, bytes + head);
    }
    CHECK(base_mem_in_use() == memory);
    free(bytes);
    return 0;
}
