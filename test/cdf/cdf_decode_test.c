/* Decodes headers that are composed byte by byte. Some of them are valid. The others must
 * be refused with a specific code and reason. */
#include "cdf_random.h"
#include "unit.h"
#include "base_error.h"
#include "base_mem.h"

/* A header that is being composed. */
struct draft {
    unsigned char bytes[2048];
    size_t n;
    int format;
};

static void u32(struct draft *d, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        d->bytes[d->n++] = (unsigned char)(v >> shift);
}

static void count(struct draft *d, int64_t v)
{
    if (d->format == 5) u32(d, (uint32_t)((uint64_t)v >> 32));
    u32(d, (uint32_t)v);
}

static void offset(struct draft *d, int64_t v)
{
    if (d->format != 1) u32(d, (uint32_t)((uint64_t)v >> 32));
    u32(d, (uint32_t)v);
}

static void list(struct draft *d, uint32_t tag, int64_t n)
{
    u32(d, tag);
    count(d, n);
}

static void name(struct draft *d, const char *text)
{
    count(d, (int64_t)strlen(text));
    strcpy((char *)d->bytes + d->n, text);
    d->n += (strlen(text) + 3) / 4 * 4;
}

static void begin(struct draft *d, int format, int64_t numrecs)
{
    memset(d, 0, sizeof *d);
    d->format = format;
    memcpy(d->bytes, "CDF", 3);
    d->bytes[3] = (unsigned char)format;
    d->n = 4;
    count(d, numrecs);
}

static void dim(struct draft *d, const char *text, int64_t length)
{
    name(d, text);
    count(d, length);
}

/* Adds a variable without attributes. */
static void var(struct draft *d, const char *text, int ndims, const int *ids, int type,
                int64_t start)
{
    name(d, text);
    count(d, ndims);
    for (int i = 0; i < ndims; i++)
        count(d, ids[i]);
    list(d, 0, 0);
    u32(d, (uint32_t)type);
    count(d, 12345); /* vsize, on which decoders must not rely */
    offset(d, start);
}

static struct cdf_fault fault;

static int decode(const struct draft *d, struct cdf_header *h)
{
    return cdf_decode(h, d->bytes, d->n, (int64_t)d->n, &fault);
}

/* Checks that a header is refused with the given code and a reason that contains `words`,
 * and that no memory leaks. */
static void refused(const struct draft *d, int code, const char *words)
{
    struct cdf_header h;
    assert_int_equal(code, decode(d, &h));
    if (strstr(fault.reason, words) == NULL) print_message("# %s\n", fault.reason);
    assert_non_null(strstr(fault.reason, words));
    assert_non_null(strstr(base_error_text(code), words));
    assert_int_equal(0, base_mem_in_use());
    assert_int_equal(code, cdf_decode(&h, d->bytes, d->n, (int64_t)d->n, NULL));
}

static const int time_lat[] = {0, 1};

/* Composes a header with time(unlimited), lat(3), fixed f(lat) and record r(time, lat).
 * The variables begin at the given offsets. */
static void two_vars(struct draft *d, int format, int64_t numrecs, int64_t f, int64_t r)
{
    begin(d, format, numrecs);
    list(d, 10, 2);
    dim(d, "time", 0);
    dim(d, "lat", 3);
    list(d, 0, 0);
    list(d, 11, 2);
    var(d, "f", 1, time_lat + 1, NC_SHORT, f);
    var(d, "r", 2, time_lat, NC_SHORT, r);
}

static void a_header_is_decoded(void **state)
{
    (void)state;
    const int formats[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        struct draft d;
        struct cdf_header h;
        two_vars(&d, formats[i], 7, 1000, 2000);
        assert_int_equal(NC_NOERR, decode(&d, &h));
        assert_int_equal(formats[i], h.format);
        assert_int_equal(7, h.numrecs);
        assert_int_equal(0, h.unlimited);
        assert_int_equal(2, h.ndims);
        assert_string_equal("lat", h.dims[1].name);
        assert_int_equal(3, h.dims[1].length);
        assert_int_equal(d.n, h.size);
        assert_int_equal(1000, h.begin_fixed);
        assert_int_equal(2000, h.begin_record);
        assert_int_equal(6, h.record_size); /* the only record variable, so not padded */
        assert_int_equal(1, h.nrecord_vars);
        assert_false(h.vars[0].is_record);
        assert_int_equal(8, h.vars[0].size); /* padded, unlike vsize */
        assert_true(h.vars[1].is_record);
        assert_int_equal(0, h.vars[1].shape[0]);
        assert_int_equal(3, h.vars[1].shape[1]);
        assert_int_equal(3, h.vars[1].nelems);
        assert_int_equal(2000 + 5 * 6, cdf_record_offset(&h, &h.vars[1], 5));
        assert_int_equal(1000, cdf_record_offset(&h, &h.vars[0], 5));
        assert_int_equal(2000 + 7 * 6, cdf_file_size(&h));
        cdf_free(&h);
    }
}

static void an_empty_list_may_have_its_tag(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    begin(&d, 1, 0);
    list(&d, 10, 0);
    list(&d, 12, 0);
    list(&d, 11, 0);
    assert_int_equal(NC_NOERR, decode(&d, &h));
    assert_int_equal(32, h.size);
    assert_int_equal(32, h.begin_fixed);
    assert_int_equal(32, cdf_file_size(&h));
    cdf_free(&h);
}

static void streamed_records_are_counted_by_file_size(void **state)
{
    (void)state;
    const int formats[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        struct draft d;
        struct cdf_header h;
        const int64_t sizes[] = {0, 1999, 2000, 2005, 2006, 2600, INT64_MAX};
        const int64_t records[] = {0, 0, 0, 0, 1, 100, 0};
        two_vars(&d, formats[i], -1, 1000, 2000);
        for (int k = 0; k < 7; k++) {
            assert_int_equal(NC_NOERR, cdf_decode(&h, d.bytes, d.n, sizes[k], NULL));
            assert_int_equal(records[k], h.numrecs);
            cdf_free(&h);
        }
    }
}

static void streamed_records_are_limited_by_the_field(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    two_vars(&d, 2, -1, 1000, 2000);
    assert_int_equal(NC_NOERR,
                     cdf_decode(&h, d.bytes, d.n, (int64_t)UINT32_MAX * 60, NULL));
    assert_int_equal((int64_t)UINT32_MAX - 1, h.numrecs);
    cdf_free(&h);
}

static void any_padding_is_accepted(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    begin(&d, 1, 0);
    list(&d, 10, 1);
    dim(&d, "x", 3);
    memcpy(d.bytes + d.n - 7, "abc", 3);
    list(&d, 0, 0);
    list(&d, 0, 0);
    assert_int_equal(NC_NOERR, decode(&d, &h));
    assert_string_equal("x", h.dims[0].name);
    cdf_free(&h);
}

static void a_trailing_nul_is_not_part_of_a_name(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    int id;
    begin(&d, 1, 0);
    list(&d, 10, 1);
    dim(&d, "xyz", 3);
    d.bytes[19] = 4;
    list(&d, 0, 0);
    list(&d, 0, 0);
    assert_int_equal(NC_NOERR, decode(&d, &h));
    assert_int_equal(NC_NOERR, cdf_find_dim(&h, "xyz", &id));
    cdf_free(&h);
}

static void the_first_of_two_equal_names_is_found(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    int id;
    begin(&d, 1, 0);
    list(&d, 10, 40);
    for (int i = 0; i < 40; i++)
        dim(&d, i % 2 ? "twin" : "other", 3);
    list(&d, 0, 0);
    list(&d, 0, 0);
    assert_int_equal(NC_NOERR, decode(&d, &h));
    assert_int_equal(NC_NOERR, cdf_find_dim(&h, "twin", &id));
    assert_int_equal(1, id);
    assert_int_equal(NC_NOERR, cdf_rename_dim(&h, 1, "only"));
    assert_int_equal(NC_NOERR, cdf_find_dim(&h, "twin", &id));
    assert_int_equal(3, id);
    assert_int_equal(NC_NOERR, cdf_find_dim(&h, "only", &id));
    assert_int_equal(1, id);
    cdf_free(&h);
}

static void the_second_attribute_of_a_name_follows_the_first(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    int id;
    for (int rename = 0; rename < 2; rename++) {
        begin(&d, 1, 0);
        list(&d, 0, 0);
        list(&d, 12, 40);
        for (int i = 0; i < 40; i++) {
            name(&d, i % 20 == 7 ? "twin" : i % 2 ? "odd" : "even");
            u32(&d, NC_INT);
            count(&d, 0);
        }
        list(&d, 0, 0);
        assert_int_equal(NC_NOERR, decode(&d, &h));
        assert_int_equal(NC_NOERR, cdf_find_att(&h, NC_GLOBAL, "twin", &id));
        assert_int_equal(7, id);
        assert_int_equal(NC_NOERR, rename ? cdf_rename_att(&h, NC_GLOBAL, "twin", "x")
                                          : cdf_del_att(&h, NC_GLOBAL, "twin"));
        assert_int_equal(NC_NOERR, cdf_find_att(&h, NC_GLOBAL, "twin", &id));
        assert_int_equal(rename ? 27 : 26, id);
        cdf_free(&h);
    }
}

static void a_partial_header_gives_an_estimate_of_its_size(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    begin(&d, 5, 0);
    list(&d, 0, 0);
    list(&d, 0, 0);
    list(&d, 11, 20);
    size_t head = d.n;
    for (int i = 0; i < 20; i++)
        var(&d, "pressure", 0, NULL, NC_INT, 4096 + 4 * i);
    assert_int_equal(CDF_MORE, cdf_decode(&h, d.bytes, head, INT64_MAX, &fault));
    assert_in_range(fault.estimated_size, d.n / 4, d.n * 4);
    assert_int_equal(CDF_MORE, cdf_decode(&h, d.bytes, d.n - 70, INT64_MAX, &fault));
    assert_in_range(fault.estimated_size, d.n - 70, d.n + 70);
}

/* ---- files in other formats ---- */

static int decode_bytes(const void *bytes, size_t n, int64_t file_size)
{
    struct cdf_header h;
    return cdf_decode(&h, bytes, n, file_size, &fault);
}

static void an_empty_file_is_reported_as_empty(void **state)
{
    (void)state;
    assert_int_equal(NC_ENOTNC, decode_bytes("", 0, 0));
    assert_non_null(strstr(fault.reason, "empty"));
    assert_int_equal(NC_ENOTNC, decode_bytes(NULL, 0, 0));
    assert_int_equal(CDF_MORE, decode_bytes(NULL, 0, 10));
}

static void hdf5_is_recognised_where_it_may_start(void **state)
{
    (void)state;
    static unsigned char bytes[70000];
    const size_t at[] = {0, 512, 1024, 2048, 4096, 65536};
    for (int i = 0; i < 6; i++) {
        memset(bytes, 'x', sizeof bytes);
        memcpy(bytes + at[i], "\211HDF\r\n\032\n", 8);
        assert_int_equal(NC_ENOTBUILT, decode_bytes(bytes, sizeof bytes, sizeof bytes));
        assert_non_null(strstr(fault.reason, "HDF5"));
        assert_non_null(strstr(fault.reason, "nc_open"));
        assert_non_null(strstr(base_error_text(NC_ENOTBUILT), "nccopy -k cdf5"));
        assert_int_equal(NC_ENOTBUILT, decode_bytes(bytes, at[i] + 8, INT64_MAX));
        assert_int_equal(NC_ENOTNC, decode_bytes(bytes, at[i] + 7, INT64_MAX));
    }
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes + 1000, "\211HDF\r\n\032\n", 8);
    assert_int_equal(NC_ENOTNC, decode_bytes(bytes, sizeof bytes, sizeof bytes));
}

static void other_formats_are_named(void **state)
{
    (void)state;
    char bytes[200] = "ADIOS-BP v2.9.1 Index Table";
    assert_int_equal(NC_ENOTBUILT, decode_bytes(bytes, sizeof bytes, sizeof bytes));
    assert_non_null(strstr(fault.reason, "ADIOS"));
    memset(bytes, 1, sizeof bytes);
    memcpy(bytes + sizeof bytes - 56, "ADIOS-BP v2.7.1", 15);
    assert_int_equal(NC_ENOTBUILT, decode_bytes(bytes, sizeof bytes, sizeof bytes));
    assert_non_null(strstr(fault.reason, "ADIOS"));
    memcpy(bytes, "\016\003\023\001", 4);
    assert_int_equal(NC_ENOTNC, decode_bytes(bytes, 100, sizeof bytes));
    assert_non_null(strstr(fault.reason, "HDF4"));
    assert_int_equal(NC_ENOTNC, decode_bytes("CDF\3....", 8, 8));
    assert_non_null(strstr(fault.reason, "version"));
    assert_int_equal(NC_ENOTNC, decode_bytes("GIF89a..", 8, 8));
    assert_int_equal(NC_ENOTNC, decode_bytes("CE", 2, 100));
    assert_int_equal(CDF_MORE, decode_bytes("CD", 2, 100));
}

static void signatures_identify_the_format(void **state)
{
    (void)state;
    char bytes[600] = "";
    assert_int_equal(NC_FORMAT_CLASSIC, cdf_signature("CDF\1", 4));
    assert_int_equal(NC_FORMAT_CDF2, cdf_signature("CDF\2", 4));
    assert_int_equal(NC_FORMAT_CDF5, cdf_signature("CDF\5", 4));
    assert_int_equal(NC_FORMAT_UNKNOWN, cdf_signature("CDF\5", 3));
    assert_int_equal(NC_FORMAT_UNKNOWN, cdf_signature("CDF\4", 4));
    assert_int_equal(NC_FORMAT_UNKNOWN, cdf_signature("", 0));
    assert_int_equal(NC_FORMAT_BP, cdf_signature("ADIOS-BP v2.9", 13));
    memcpy(bytes + 512, "\211HDF\r\n\032\n", 8);
    assert_int_equal(NC_FORMAT_NETCDF4, cdf_signature(bytes, sizeof bytes));
}

/* ---- malformed headers ---- */

static void a_header_that_once_crashed_is_rejected(void **state)
{
    (void)state;
    const unsigned char bytes[] = {0x43, 0x44, 0x46, 0x01, 0, 0,   0,
                                   0xb9, 0x8d, 0xff, 0xff, 8, 0xdb};
    assert_int_equal(NC_ENOTNC, decode_bytes(bytes, sizeof bytes, sizeof bytes));
}

static void counts_larger_than_the_file_are_refused(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    for (int which = 0; which < 3; which++) {
        begin(&d, 5, 0);
        for (int i = 0; i < which; i++)
            list(&d, 0, 0);
        const uint32_t tags[] = {10, 12, 11};
        list(&d, tags[which], 1000000);
        refused(&d, NC_ENOTNC, "has 1000000 entries");
        /* In a longer file, the entries may exist, but the decoder must not allocate
         * memory for them before it has read them. */
        int64_t before = base_mem_high_water();
        assert_int_equal(CDF_MORE, cdf_decode(&h, d.bytes, d.n, INT64_MAX, NULL));
        assert_int_equal(before, base_mem_high_water());
        /* A file of this size cannot contain that many entries. */
        assert_int_equal(NC_ENOTNC, cdf_decode(&h, d.bytes, d.n, 1000000, NULL));
    }
}

static void tags_and_counts_must_fit(void **state)
{
    (void)state;
    struct draft d;
    begin(&d, 1, 0);
    list(&d, 11, 0);
    refused(&d, NC_ENOTNC, "tag 10, but found tag 11");
    begin(&d, 1, 0);
    list(&d, 0, 3);
    refused(&d, NC_ENOTNC, "absent");
    begin(&d, 5, -2);
    list(&d, 0, 0);
    list(&d, 0, 0);
    list(&d, 0, 0);
    refused(&d, NC_ENOTNC, "number of records is -2");
}

/* For each list, tries to decode more entries than the limit permits. */
static void counts_have_limits(void **state)
{
    (void)state;
    static const int codes[] = {NC_EMAXDIMS, NC_EMAXATTS, NC_EMAXVARS};
    static const uint32_t tags[] = {10, 12, 11};
    struct draft d;
    for (int i = 0; i < 6; i++) {
        const int which = i / 2, format = i % 2 == 0 ? 1 : 5;
        const int64_t many[] = {-5, (int64_t)1 << 31, INT64_MIN};
        for (int k = 0; k < (format == 1 ? 2 : 3); k++) {
            begin(&d, format, 0);
            for (int before = 0; before < which; before++)
                list(&d, 0, 0);
            list(&d, tags[which], many[k]);
            refused(&d, codes[which], "which exceeds the limit");
        }
    }
    begin(&d, 5, 0); /* more dimensions than a variable may have */
    list(&d, 0, 0);
    list(&d, 0, 0);
    list(&d, 11, 1);
    count(&d, 1);
    u32(&d, (uint32_t)'v' << 24);
    count(&d, (int64_t)1 << 31);
    d.n += 100;
    refused(&d, NC_EMAXDIMS, "dimensions");
}

/* A variable whose size does not fit into vsize must be the last one in its section. */
static void huge_variables_must_be_last_in_their_section(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const bool records = i & 1, first = i & 2;
        const int format = i & 4 ? 2 : 1;
        const int64_t huge = format == 1 ? (int64_t)1 << 31 : (int64_t)1 << 32;
        const struct cdf_padding room = {.header_minfree = 1000, .fixed_align = 4};
        struct cdf_header h, back;
        int t, x, v;
        cdf_init(&h, format);
        assert_int_equal(NC_NOERR, cdf_def_dim(&h, "t", 0, &t));
        assert_int_equal(NC_NOERR, cdf_def_dim(&h, "x", huge / 4, &x));
        const int dims[2] = {t, x}, *of_huge = records ? dims : dims + 1;
        if (!first)
            assert_int_equal(NC_NOERR, cdf_def_var(&h, "a", NC_INT, records, &t, &v));
        assert_int_equal(NC_NOERR,
                         cdf_def_var(&h, "huge", NC_INT, 1 + records, of_huge, &v));
        assert_int_equal(NC_NOERR, cdf_layout(&h, NULL, &room));
        if (first) {
            int64_t end = h.vars[v].begin + (format == 1 ? 0 : h.vars[v].size);
            assert_int_equal(NC_NOERR, cdf_def_var(&h, "a", NC_INT, records, &t, &v));
            h.vars[v].begin = end;
        }
        size_t length = (size_t)cdf_encoded_size(&h);
        unsigned char *bytes = malloc(length);
        cdf_encode(&h, bytes);
        assert_int_equal(first ? NC_EVARSIZE : NC_NOERR,
                         cdf_decode(&back, bytes, length, INT64_MAX, NULL));
        if (first) assert_non_null(strstr(base_error_text(NC_EVARSIZE), "'huge'"));
        free(bytes);
        cdf_free(&back);
        cdf_free(&h);
    }
}

static void names_have_a_limit(void **state)
{
    (void)state;
    struct draft d;
    begin(&d, 1, 0);
    list(&d, 10, 1);
    u32(&d, 0x7fffffff);
    d.n += 100;
    refused(&d, NC_ENOTNC, "2147483647, but the maximum is 256");
    begin(&d, 5, 0);
    list(&d, 10, 1);
    count(&d, INT64_MIN);
    d.n += 100;
    refused(&d, NC_ENOTNC, "out of range");
}

static void dimensions_have_limits(void **state)
{
    (void)state;
    struct draft d;
    const struct {
        int format;
        int64_t length;
    } bad[] = {{1, (int64_t)INT32_MAX + 1}, {1, UINT32_MAX}, {5, -1}, {5, INT64_MIN}},
      good[] = {{1, INT32_MAX},  {2, INT32_MAX},  {2, (int64_t)INT32_MAX + 1},
                {2, 3000000000}, {2, UINT32_MAX}, {5, INT64_MAX}};
    for (int i = 0; i < 6; i++) {
        begin(&d, good[i].format, 0);
        list(&d, 10, 1);
        dim(&d, "x", good[i].length);
        list(&d, 0, 0);
        list(&d, 0, 0);
        struct cdf_header h;
        assert_int_equal(NC_NOERR, cdf_decode(&h, d.bytes, d.n, (int64_t)d.n, NULL));
        assert_int_equal(good[i].length, h.dims[0].length);
        cdf_free(&h);
    }
    for (int i = 0; i < 4; i++) {
        begin(&d, bad[i].format, 0);
        list(&d, 10, 1);
        dim(&d, "x", bad[i].length);
        refused(&d, NC_ENOTNC, "length of a dimension is");
    }
    begin(&d, 1, 0);
    list(&d, 10, 2);
    dim(&d, "x", 0);
    dim(&d, "y", 0);
    refused(&d, NC_EUNLIMIT, "'x' and 'y'");
}

static void one_var(struct draft *d, int format, int ndims, const int *ids, int type,
                    int64_t start)
{
    begin(d, format, 0);
    list(d, 10, 2);
    dim(d, "time", 0);
    dim(d, "lat", 3);
    list(d, 0, 0);
    list(d, 11, 1);
    var(d, "v", ndims, ids, type, start);
}

static void invalid_variables_are_rejected(void **state)
{
    (void)state;
    struct draft d;
    const int second[] = {1, 0}, none[] = {2}, negative[] = {-1};
    one_var(&d, 1, 2, second, NC_INT, 1000);
    refused(&d, NC_EUNLIMPOS, "'v'");
    one_var(&d, 1, 1, none, NC_INT, 1000);
    refused(&d, NC_EBADDIM, "dimension id 2");
    one_var(&d, 5, 1, negative, NC_INT, 1000);
    refused(&d, NC_EBADDIM, "dimension id -1");
    one_var(&d, 1, 1, time_lat, 7, 1000);
    refused(&d, NC_EBADTYPE, "type 7");
    one_var(&d, 5, 1, time_lat, 12, 1000);
    refused(&d, NC_EBADTYPE, "type 12");
    one_var(&d, 5, 1, time_lat, 0, 1000);
    refused(&d, NC_EBADTYPE, "type 0");
    one_var(&d, 1, 1, time_lat, NC_INT, 40);
    refused(&d, NC_ENOTNC, "starts at byte 40");
    one_var(&d, 1, 1, time_lat + 1, NC_INT, 40);
    refused(&d, NC_ENOTNC, "the end of the header");
    one_var(&d, 1, 1, time_lat + 1, NC_INT, 0x80000000);
    refused(&d, NC_ENOTNC, "starts at byte -2147483648");
    one_var(&d, 2, 1, time_lat + 1, NC_INT, INT64_MAX - 11);
    refused(&d, NC_EVARSIZE, "2^63");
    one_var(&d, 2, 1, time_lat, NC_INT, INT64_MAX - 3);
    refused(&d, NC_EVARSIZE, "2^63");
}

static void products_do_not_overflow(void **state)
{
    (void)state;
    struct draft d;
    const int ids[] = {0, 0, 0, 0};
    begin(&d, 5, 0);
    list(&d, 10, 1);
    dim(&d, "x", (int64_t)1 << 31);
    list(&d, 0, 0);
    list(&d, 11, 1);
    var(&d, "v", 3, ids, NC_BYTE, 1000);
    refused(&d, NC_EVARSIZE, "'v'");
    begin(&d, 5, 0);
    list(&d, 10, 1);
    dim(&d, "x", (int64_t)1 << 31);
    list(&d, 0, 0);
    list(&d, 11, 1);
    var(&d, "v", 2, ids, NC_DOUBLE, 1000);
    refused(&d, NC_EVARSIZE, "'v'");
    two_vars(&d, 5, INT64_MAX / 4, 1000, 2000);
    refused(&d, NC_ENOTNC, "records");
    begin(&d, 5, 0);
    list(&d, 0, 0);
    list(&d, 12, 1);
    name(&d, "a");
    u32(&d, NC_DOUBLE);
    count(&d, (int64_t)1 << 61);
    d.n += 100;
    refused(&d, NC_ENOTNC, "length of an attribute");
}

static void variables_must_not_overlap(void **state)
{
    (void)state;
    struct draft d;
    struct cdf_header h;
    two_vars(&d, 1, 0, 2000, 2004);
    refused(&d, NC_ENOTNC, "is the minimum");
    two_vars(&d, 1, 0, 2000, 1000);
    refused(&d, NC_ENOTNC, "'r'");
    two_vars(&d, 1, 0, 2000, 2008);
    assert_int_equal(NC_NOERR, decode(&d, &h));
    cdf_free(&h);
    const int64_t starts[][2] = {{1000, 1004}, {1000, 1008}, {1000, 1012}, {1008, 1000}};
    for (int i = 0; i < 4; i++)
        for (int records = 0; records < 2; records++) {
            begin(&d, 1, 0);
            list(&d, 10, 2);
            dim(&d, "time", 0);
            dim(&d, "lat", 3);
            list(&d, 0, 0);
            list(&d, 11, 2);
            for (int k = 0; k < 2; k++)
                var(&d, k ? "a" : "b", records ? 2 : 1, time_lat + !records, NC_SHORT,
                    starts[i][k]);
            if (i == 1 || (i == 2 && !records)) {
                assert_int_equal(NC_NOERR, decode(&d, &h));
                cdf_free(&h);
            } else {
                refused(&d, NC_ENOTNC, "starts at");
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_decoded),
        cmocka_unit_test(an_empty_list_may_have_its_tag),
        cmocka_unit_test(streamed_records_are_counted_by_file_size),
        cmocka_unit_test(streamed_records_are_limited_by_the_field),
        cmocka_unit_test(any_padding_is_accepted),
        cmocka_unit_test(a_trailing_nul_is_not_part_of_a_name),
        cmocka_unit_test(the_first_of_two_equal_names_is_found),
        cmocka_unit_test(the_second_attribute_of_a_name_follows_the_first),
        cmocka_unit_test(a_partial_header_gives_an_estimate_of_its_size),
        cmocka_unit_test(an_empty_file_is_reported_as_empty),
        cmocka_unit_test(hdf5_is_recognised_where_it_may_start),
        cmocka_unit_test(other_formats_are_named),
        cmocka_unit_test(signatures_identify_the_format),
        cmocka_unit_test(a_header_that_once_crashed_is_rejected),
        cmocka_unit_test(counts_larger_than_the_file_are_refused),
        cmocka_unit_test(tags_and_counts_must_fit),
        cmocka_unit_test(counts_have_limits),
        cmocka_unit_test(huge_variables_must_be_last_in_their_section),
        cmocka_unit_test(names_have_a_limit),
        cmocka_unit_test(dimensions_have_limits),
        cmocka_unit_test(invalid_variables_are_rejected),
        cmocka_unit_test(products_do_not_overflow),
        cmocka_unit_test(variables_must_not_overlap),
    };
    return cmocka_run_group_tests_name("cdf_decode", tests, NULL, NULL);
}
