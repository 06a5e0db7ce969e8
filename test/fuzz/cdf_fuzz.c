/* Fuzz target for the header codec, for libFuzzer and replay.c. Any bytes must result in
 * an error with an offset, or in a consistent header that does not change when it is
 * encoded and decoded. The memory used must be bounded by the length of the input.
 * CDF_FUZZ_FORMAT=1, 2 or 5 sets the format for every input. */
#include "cdf_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "cdf.h"
#include "pnetcdf_constants.h"

const char fuzz_corpus[] = "corpus";

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                     \
        }                                                                                \
    } while (0)

/* Returns the memory limit for an input of this length. */
static int64_t memory_bound(size_t length)
{
    return 16 * (int64_t)length + 16384;
}

static int decode(struct cdf_header *h, const void *bytes, size_t length,
                  int64_t file_size)
{
    struct cdf_fault fault;
    int64_t before = base_mem_in_use();
    base_mem_reset_high_water();
    int err = cdf_decode(h, bytes, length, file_size, &fault);
    CHECK(base_mem_high_water() - before <= memory_bound(length));
    if (err == NC_NOERR) return err;
    CHECK(base_mem_in_use() == before);
    CHECK(err != NC_ENOMEM);
    CHECK(err != CDF_MORE || (int64_t)length < file_size);
    CHECK(err == CDF_MORE || (fault.reason[0] != '\0' && fault.offset >= 0 &&
                              fault.offset <= (int64_t)length));
    return err;
}

static void check_same(const struct cdf_header *a, const struct cdf_header *b)
{
    struct cdf_difference d;
    CHECK(cdf_compare(a, b, &d) == NC_NOERR && d.atts == 0);
    CHECK(a->numrecs == b->numrecs && a->unlimited == b->unlimited);
    CHECK(a->begin_fixed == b->begin_fixed || a->nvars == 0);
    CHECK(a->begin_record == b->begin_record || a->nrecord_vars == 0);
    CHECK(a->record_size == b->record_size && a->nrecord_vars == b->nrecord_vars);
}

static void check_model(const struct cdf_header *h)
{
    int id;
    for (int i = 0; i < h->ndims; i++)
        CHECK(cdf_find_dim(h, h->dims[i].name, &id) == NC_NOERR && id <= i);
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        CHECK(cdf_find_var(h, v->name, &id) == NC_NOERR && id <= i);
        CHECK(v->begin >= h->begin_fixed && v->begin >= h->size);
        CHECK(v->size >= v->nelems && v->size % 4 == 0 && v->nelems > 0);
        for (int k = 0; k < v->atts.count; k++)
            CHECK(cdf_find_att(h, i, v->atts.list[k].name, &id) == NC_NOERR && id <= k);
    }
    CHECK(cdf_file_size(h) >= h->size && h->numrecs >= 0);
}

/* Checks that encoding and decoding does not change the header, and that encoding it once
 * more yields the same bytes. */
static void check_codec(const struct cdf_header *h)
{
    struct cdf_header again;
    size_t length = (size_t)cdf_encoded_size(h);
    unsigned char *bytes = malloc(length), *twice = malloc(length);
    CHECK(bytes != NULL && twice != NULL);
    CHECK((int64_t)length <= h->size); /* smaller if the file counts NULs in a name */
    cdf_encode(h, bytes);
    CHECK(decode(&again, bytes, length, INT64_MAX) == NC_NOERR);
    check_same(h, &again);
    CHECK(cdf_encoded_size(&again) == (int64_t)length);
    cdf_encode(&again, twice);
    CHECK(memcmp(bytes, twice, length) == 0);
    cdf_free(&again);
    free(bytes);
    free(twice);
}

/* Checks that, without new definitions, computing the layout once more does not change
 * it, and that a longer header moves data only to higher offsets. */
static void check_layout(const struct cdf_header *h)
{
    const struct cdf_padding room = {.fixed_align = 4, .record_align = 4};
    struct cdf_header after;
    struct cdf_move_state state = {0};
    struct cdf_move move;
    void *values;
    CHECK(cdf_copy(&after, h) == NC_NOERR);
    check_same(h, &after);
    int err = cdf_layout(&after, h, &room);
    CHECK(err == NC_NOERR || err == NC_EVARSIZE);
    if (err == NC_NOERR) {
        check_same(h, &after);
        CHECK(!cdf_next_move(h, &after, &state, &move));
        CHECK(cdf_put_att(&after, NC_GLOBAL, "fuzz", NC_CHAR, 100, &values) == NC_NOERR);
        memset(values, 'f', 100);
        err = cdf_layout(&after, h, &room);
    }
    state = (struct cdf_move_state){0};
    int64_t last = INT64_MAX;
    while (err == NC_NOERR && cdf_next_move(h, &after, &state, &move)) {
        CHECK(move.from >= h->begin_fixed && move.length > 0 && move.to > move.from);
        CHECK(move.from + move.length <= last);
        last = move.from;
    }
    cdf_free(&after);
}

/* Checks that the decoder never accepts a truncated header, but asks for more bytes. */
static void check_parts(const unsigned char *bytes, size_t length, int64_t header_size)
{
    struct cdf_header h;
    for (size_t part = 0; part < length; part += 1 + length / 8) {
        unsigned char *copy = malloc(part + 1);
        CHECK(copy != NULL);
        memcpy(copy, bytes, part);
        int err = decode(&h, copy, part, (int64_t)length);
        if ((int64_t)part < header_size) CHECK(err == CDF_MORE);
        if (err == NC_NOERR) cdf_free(&h);
        free(copy);
    }
}

/* Summary of the errors that cdf_validate finds. */
struct told {
    int64_t length;
    int faults, fixes;
    bool has; /* whether any error has the code `code` */
    int code;
};

static void take(void *to, const struct cdf_finding *f)
{
    struct told *t = to;
    CHECK(f->offset >= 0 && f->reason[0] != '\0');
    CHECK(f->fix_length >= 0 && f->fix_length <= 8);
    CHECK(f->fix_length == 0 || f->offset + f->fix_length <= t->length);
    t->faults += f->code != NC_NOERR;
    t->fixes += f->fix_length > 0;
    t->has |= f->code == t->code;
}

/* Checks that cdf_validate finds the error that cdf_decode returned, or no error if
 * cdf_decode succeeded. */
static void check_examined(const unsigned char *bytes, size_t length, int err)
{
    struct told t = {.length = (int64_t)length, .code = err};
    int result = cdf_validate(bytes, length, (int64_t)length, take, &t);
    CHECK(result <= 0 && result != NC_ENOMEM);
    CHECK((err == NC_NOERR) == (t.faults == 0));
    CHECK(err == NC_NOERR || t.has);
}

static void check(const unsigned char *bytes, size_t length)
{
    struct cdf_header h;
    int open_ended = decode(&h, bytes, length, INT64_MAX);
    if (open_ended == NC_NOERR) cdf_free(&h);
    int err = decode(&h, bytes, length, (int64_t)length);
    CHECK(err == NC_NOERR || err < 0);
    check_examined(bytes, length, err);
    if (err != NC_NOERR) return;
    CHECK(open_ended == NC_NOERR);
    check_model(&h);
    check_codec(&h);
    check_layout(&h);
    check_parts(bytes, length, h.size);
    cdf_free(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *format = getenv("CDF_FUZZ_FORMAT");
    unsigned char *bytes = malloc(size + 1); /* a copy, so that ASan can detect
                                              * overruns */
    CHECK(bytes != NULL);
    memcpy(bytes, data, size);
    if (format != NULL && size >= 4) {
        memcpy(bytes, "CDF", 3);
        bytes[3] = (unsigned char)atoi(format);
    }
    check(bytes, size);
    free(bytes);
    CHECK(base_mem_in_use() == 0);
    return 0;
}
