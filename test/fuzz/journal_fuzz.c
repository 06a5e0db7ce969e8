/* Fuzz target for redefinition journals, for libFuzzer and replay.c. Every input must
 * either be rejected with an error message or contain two headers. In the latter case,
 * data must move from one layout to the other in a finite number of rounds, each of which
 * is within the range that moves. */
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

/* Corrects the checksum at this offset, because mutations would not produce a valid one.
 * The offset is 80 for the facts, 72 for the state (64 in older journals), and 152 for
 * the owner record. */
static void seal(unsigned char *page, size_t at)
{
    uint64_t sum = base_hash(page, at, 0);
    for (int i = 0; i < FIELD; i++)
        page[at + (size_t)i] = (unsigned char)(sum >> (8 * (FIELD - 1 - i)));
}

/* Simulates resuming the redefinition. Moves no data, but checks the ranges. */
struct play {
    int64_t total, steps;
};

static int carry(void *arg, const struct journal_state *round, enum journal_place from,
                 enum journal_place to)
{
    struct play *p = arg;
    int64_t low = round->low, high = round->high;
    CHECK(low >= 0 && high > low && high <= p->total && from != to);
    return ++p->steps > 200 ? NC_EIO : NC_NOERR;
}

static int nothing(void *arg)
{
    (void)arg;
    return NC_NOERR;
}

static int concur(void *arg, int err)
{
    (void)arg;
    return err;
}

static int add(void *arg, uint64_t *sum)
{
    (void)arg, (void)sum;
    return NC_NOERR;
}

static void resume(struct journal *j, const struct cdf_header *before,
                   const struct cdf_header *after)
{
    struct play p = {.total = cdf_move_total(before, after)};
    struct journal_movers c = {.j = j,
                               .before = before,
                               .after = after,
                               .share = 4096,
                               .least = 512,
                               .arg = &p,
                               .carry_all = carry,
                               .complete_all = nothing,
                               .secure_all = nothing,
                               .concur_all = concur,
                               .add_all = add};
    int err = journal_resume_all(&c);
    CHECK(err == NC_NOERR || err == NC_EIO || err == NC_ENOTNC);
}

/* Checks that the owner's name is plain ASCII, because it is printed on terminals. */
static void take_holder(const unsigned char *page)
{
    struct journal_record h;
    char text[160];
    if (!journal_decode_record(&h, page)) return;
    for (const char *c = base_owner_describe(&h.owner, text); *c != '\0'; c++)
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
    struct journal j = {.fd = 0, .file = -1, .guard = -1}; /* values for which no file is
                                                            * read */
    size_t head = (size_t)journal_headers_at();
    unsigned char *bytes = calloc(1, size + head);
    int64_t memory = base_mem_in_use();
    CHECK(bytes != NULL);
    if (size > 0) memcpy(bytes, data, size);
    if (size % 2 == 0) {
        seal(bytes, 80);
        seal(bytes + JOURNAL_PAGE, bytes[JOURNAL_PAGE + 7] == '1' ? 64 : 72);
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
