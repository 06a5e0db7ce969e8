/* Encodes random datasets and decodes the results, which may be complete, truncated or
 * damaged. */
#include "cdf_random.h"
#include "unit.h"
#include "base_mem.h"

static const int formats[] = {1, 2, 5};

static void decoding_reverses_encoding(void **state)
{
    (void)state;
    for (int i = 0; i < 900; i++) {
        struct cdf_header h, back;
        size_t length, again;
        random_header(&h, formats[i % 3]);
        unsigned char *bytes = encoded(&h, &length);
        assert_int_equal(NC_NOERR, cdf_decode(&back, bytes, length, INT64_MAX, NULL));
        assert_int_equal(0, headers_differ(&h, &back));
        unsigned char *same = encoded(&back, &again);
        assert_int_equal(length, again);
        assert_memory_equal(bytes, same, length);
        free(bytes);
        free(same);
        cdf_free(&h);
        cdf_free(&back);
    }
    assert_int_equal(0, base_mem_in_use());
}

static void numrecs_can_be_rewritten_in_place(void **state)
{
    (void)state;
    const int64_t records[] = {0xfedcba98, 0xfedcba98, 0x123456789abc};
    for (int i = 0; i < 3; i++) {
        struct cdf_header h, back;
        unsigned char field[8];
        size_t length;
        random_header(&h, formats[i]);
        unsigned char *bytes = encoded(&h, &length);
        int width = cdf_encode_numrecs(formats[i], records[i], field);
        assert_int_equal(formats[i] == 5 ? 8 : 4, width);
        memcpy(bytes + 4, field, (size_t)width);
        assert_int_equal(NC_NOERR, cdf_decode(&back, bytes, length, INT64_MAX, NULL));
        assert_int_equal(records[i], back.numrecs);
        back.numrecs = h.numrecs;
        assert_int_equal(0, headers_differ(&h, &back));
        free(bytes);
        cdf_free(&h);
        cdf_free(&back);
    }
}

static void names_are_found_after_decoding(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct cdf_header h, back;
        size_t length;
        int id;
        random_header(&h, formats[i % 3]);
        unsigned char *bytes = encoded(&h, &length);
        assert_int_equal(NC_NOERR, cdf_decode(&back, bytes, length, INT64_MAX, NULL));
        free(bytes); /* the decoded header must not point into these bytes */
        for (int k = 0; k < h.ndims; k++) {
            assert_int_equal(NC_NOERR, cdf_find_dim(&back, h.dims[k].name, &id));
            assert_int_equal(k, id);
        }
        for (int k = 0; k < h.nvars; k++) {
            assert_int_equal(NC_NOERR, cdf_find_var(&back, h.vars[k].name, &id));
            assert_int_equal(k, id);
        }
        for (int k = 0; k < h.gatts.count; k++) {
            const char *name = h.gatts.list[k].name;
            assert_int_equal(NC_NOERR, cdf_find_att(&back, NC_GLOBAL, name, &id));
            assert_int_equal(k, id);
        }
        cdf_free(&h);
        cdf_free(&back);
    }
}

static void every_truncation_is_detected(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        struct cdf_header h, back;
        struct cdf_fault fault;
        size_t length;
        random_header(&h, formats[i % 3]);
        unsigned char *bytes = encoded(&h, &length);
        for (size_t n = 0; n < length; n++) {
            unsigned char *part = malloc(n + 1); /* lets valgrind detect overruns */
            assert_non_null(part);
            memcpy(part, bytes, n);
            assert_int_equal(CDF_MORE, cdf_decode(&back, part, n, INT64_MAX, &fault));
            assert_int_equal(CDF_MORE, cdf_decode(&back, part, n, (int64_t)length, NULL));
            assert_int_equal(NC_ENOTNC, cdf_decode(&back, part, n, (int64_t)n, &fault));
            assert_in_range(fault.offset, 0, n);
            assert_true(strlen(fault.reason) > 10);
            free(part);
        }
        free(bytes);
        cdf_free(&h);
    }
    assert_int_equal(0, base_mem_in_use());
}

/* Checks that decoding this number of bytes has not used too much memory. */
static void assert_bounded(int64_t before, size_t length)
{
    assert_true(base_mem_high_water() - before <= 16 * (int64_t)length + 16384);
}

static void damaged_headers_do_not_crash(void **state)
{
    (void)state;
    int good = 0, bad = 0;
    for (int i = 0; i < 5000; i++) {
        struct cdf_header h, back;
        struct cdf_fault fault;
        size_t length;
        random_header(&h, formats[i % 3]);
        unsigned char *bytes = encoded(&h, &length);
        cdf_free(&h);
        for (int64_t k = random_of(1, 3); k > 0; k--)
            bytes[random_of(0, (int64_t)length - 1)] = (unsigned char)random_of(0, 255);
        int64_t file_size = random_of(0, 1) ? (int64_t)length : INT64_MAX;
        int err = cdf_decode(&back, bytes, length, file_size, &fault);
        if (err == NC_NOERR) {
            good++;
            cdf_free(&back);
        } else {
            bad++;
            assert_true(err == CDF_MORE || fault.reason[0] != '\0');
            assert_true(err != CDF_MORE || (int64_t)length < file_size);
        }
        free(bytes);
        assert_int_equal(0, base_mem_in_use());
    }
    assert_true(good > 50 && bad > 50);
}

static void memory_is_bounded_by_the_length(void **state)
{
    (void)state;
    for (size_t length = 32; length < 400000; length *= 2) {
        struct cdf_header back;
        unsigned char *bytes = calloc(1, length);
        assert_non_null(bytes);
        /* Encodes the largest possible number of attributes, all of them with empty
         * names. */
        memcpy(bytes, "CDF\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\14", 20);
        uint32_t n = (uint32_t)(length - 24) / 12;
        for (int i = 0; i < 4; i++)
            bytes[20 + i] = (unsigned char)(n >> (24 - 8 * i));
        for (size_t at = 24; at + 12 <= length; at += 12)
            bytes[at + 7] = NC_INT;
        int64_t before = base_mem_in_use();
        base_mem_reset_high_water();
        int err = cdf_decode(&back, bytes, length, INT64_MAX, NULL);
        assert_true(err == CDF_MORE || err == NC_NOERR);
        cdf_free(&back);
        assert_bounded(before, length);
        assert_int_equal(before, base_mem_in_use());
        free(bytes);
    }
}

int main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_bounded_by_the_length),
        cmocka_unit_test(decoding_reverses_encoding),
        cmocka_unit_test(numrecs_can_be_rewritten_in_place),
        cmocka_unit_test(names_are_found_after_decoding),
        cmocka_unit_test(every_truncation_is_detected),
        cmocka_unit_test(damaged_headers_do_not_crash),
    };
    return cmocka_run_group_tests_name("cdf_roundtrip", tests, NULL, NULL);
}
