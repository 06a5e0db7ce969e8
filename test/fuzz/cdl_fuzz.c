/* Fuzz target for the CDL parser, for libFuzzer and replay.c. Any text must result in an
 * error with a line and column, or in definitions that do not change when they are
 * encoded and decoded. The memory used must be bounded by the length of the text. */
#include "cdf_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "cdl.h"
#include "pnetcdf_constants.h"

const char fuzz_corpus[] = "cdl-corpus";

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                     \
        }                                                                                \
    } while (0)

/* Returns the memory limit for a text of this length. Each ",a" may define a variable,
 * and the scanner's buffer grows to twice the longest token. */
static int64_t memory_bound(size_t length)
{
    return 256 * (int64_t)length + 131072;
}

static int parse(struct cdf_header *h, const char *text, size_t length, int format)
{
    struct cdl_source source = {.name = "input", .text = text, .length = length};
    int64_t before = base_mem_in_use();
    base_mem_reset_high_water();
    int err = cdl_read(&source, format, NULL, NULL, h);
    CHECK(base_mem_high_water() - before <= memory_bound(length));
    if (err == NC_NOERR) return err;
    CHECK(err < 0 && err != NC_ENOMEM);
    CHECK(base_mem_in_use() == before);
    CHECK(strncmp(base_error_detail(err), "input: line ", 12) == 0);
    return err;
}

static void check_same(const struct cdf_header *a, const struct cdf_header *b)
{
    struct cdf_difference d;
    CHECK(cdf_compare(a, b, &d) == NC_NOERR && d.atts == 0);
}

/* Checks that the definitions do not change when they are encoded and decoded. */
static void check_codec(const struct cdf_header *h)
{
    struct cdf_header again;
    size_t length = (size_t)cdf_encoded_size(h);
    unsigned char *bytes = malloc(length);
    CHECK(bytes != NULL && (int64_t)length == h->size);
    cdf_encode(h, bytes);
    CHECK(cdf_decode(&again, bytes, length, INT64_MAX, NULL) == NC_NOERR);
    check_same(h, &again);
    cdf_free(&again);
    free(bytes);
}

/* Checks that explicitly requesting the format that the text selects yields the same
 * result. */
static void check_format(const struct cdf_header *h, const char *text, size_t length)
{
    struct cdf_header again;
    CHECK(h->format == 1 || h->format == 2 || h->format == 5);
    CHECK(parse(&again, text, length, h->format) == NC_NOERR);
    check_same(h, &again);
    cdf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cdf_header h;
    char *text = malloc(size + 1); /* a copy, so that ASan can detect overruns */
    CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (parse(&h, text, size, 0) == NC_NOERR) {
        check_codec(&h);
        check_format(&h, text, size);
        cdf_free(&h);
    }
    free(text);
    CHECK(base_mem_in_use() == 0);
    return 0;
}
