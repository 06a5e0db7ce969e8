/* Fuzz target for burst buffer logs, for libFuzzer and replay.c. A header must be
 * rejected with an error message, or describe a range inside the log. The list of entries
 * must be finite, and no entry may exceed its stated size. */
#include "cdf_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sum.h"
#include "burst_format.h"
#include "conv.h"

const char fuzz_corpus[] = "log-corpus";

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                     \
        }                                                                                \
    } while (0)

/* Reads each number, so that sanitizers can check the access. */
static uint64_t touch(const int64_t *numbers, int64_t n)
{
    uint64_t all = 0;
    for (int64_t i = 0; numbers != NULL && i < n; i++)
        all ^= (uint64_t)numbers[i];
    return all;
}

static void check_entry(const struct burst_entry *e, size_t size)
{
    CHECK(e->size >= 40 && (uint64_t)e->size <= size);
    CHECK(e->data_off >= 0 && e->data_len >= 0 && e->data_off + e->data_len >= 0);
    CHECK(e->nreqs > 0 && e->ndims >= 0 && burst_conv_type(e->itype) >= 0);
    int64_t n = e->ndims * e->nreqs;
    uint64_t all = touch(e->start, n) ^ touch(e->count, n) ^ touch(e->stride, e->ndims);
    volatile uint64_t kept = all;
    (void)kept;
}

/* Decodes the entries as the reader does. Allocates a separate block for each entry, so
 * that sanitizers can detect overruns. */
static void walk_entries(const struct burst_header *h, const uint8_t *data, size_t size)
{
    int64_t at = h->entry_begin, length;
    for (int64_t i = 0; i < h->num_entries && at <= (int64_t)size - 8; i++) {
        memcpy(&length, data + at, sizeof length);
        if (length < 8 || length > (int64_t)size - at) return;
        struct burst_entry e;
        unsigned char *copy = malloc((size_t)length);
        CHECK(copy != NULL);
        memcpy(copy, data + at, (size_t)length);
        int err = burst_decode_entry0(&e, copy, (size_t)length, h->as_written);
        CHECK(err == NC_NOERR || err == NC_EBADLOG);
        if (err == NC_NOERR) check_entry(&e, (size_t)length);
        free(copy);
        at += length;
    }
}

static void check_header(const struct burst_header *h, size_t size)
{
    CHECK(h->version == 0 || h->version == 1);
    CHECK(h->num_ranks > 0 && h->rank_id >= 0 && h->rank_id < h->num_ranks);
    CHECK(h->num_entries >= 0 && h->entry_begin > 0);
    CHECK(memchr(h->path, 0, sizeof h->path) != NULL);
    CHECK(memchr(h->basename, 0, sizeof h->basename) != NULL);
    CHECK(memchr(h->proc_name, 0, sizeof h->proc_name) != NULL);
    CHECK(h->version == 1 || h->path[0] == '\0' || h->entry_begin <= (int64_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct burst_header h;
    int64_t memory = base_mem_in_use();
    unsigned char *bytes = malloc(size + 1);
    CHECK(bytes != NULL);
    if (size > 0) memcpy(bytes, data, size);
    int err = burst_decode_header(&h, bytes, size);
    CHECK(err == NC_NOERR || (err == NC_EBADLOG && *base_error_detail(err) != '\0'));
    if (err == NC_NOERR) {
        check_header(&h, size);
        if (h.version == 0) walk_entries(&h, bytes, size);
    }
    CHECK(base_mem_in_use() == memory);
    free(bytes);
    return 0;
}
