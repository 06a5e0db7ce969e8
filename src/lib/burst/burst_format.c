/* Encodes and decodes logs in native byte order. Checksums are seeded with the log's
 * token, those of entries also with generation and offset, so no stale entry matches. */
#include "burst_format.h"

#include <stddef.h>
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_sum.h"
#include "conv.h"

/* Indexed by a type's number in the log, minus 1. */
static const int types[] = {CONV_TEXT,   CONV_SCHAR,    CONV_UCHAR,    CONV_SHORT,
                            CONV_USHORT, CONV_INT,      CONV_UINT,     CONV_FLOAT,
                            CONV_DOUBLE, CONV_LONGLONG, CONV_ULONGLONG};
enum { NTYPES = sizeof types / sizeof types[0] };

int burst_itype(int conv_type)
{
    for (int i = 0; i < NTYPES; i++)
        if (types[i] == conv_type) return i + 1;
    return -1;
}

/* Version 0 may contain a type number that its specification lacks: that of C's long. */
int burst_conv_type(int itype)
{
    if (itype == BURST_LONG) return sizeof(long) == 8 ? CONV_LONGLONG : CONV_INT;
    return itype < 1 || itype > NTYPES ? -1 : types[itype - 1];
}

/* ---- encoding and decoding in sequence ---- */

struct bytes {
    unsigned char *p;
    size_t at, size;
    bool encodes; /* values are written to p; if false, they are read from it */
    bool failed;  /* an access past the end was attempted */
};

/* Encodes or decodes n bytes. A value that cannot be decoded becomes 0. Inline, because a
 * put calls this for each number of its entries. */
static inline void code_bytes(struct bytes *b, void *value, size_t n)
{
    if (!b->encodes) memset(value, 0, n);
    if (b->failed || n > b->size - b->at) {
        b->failed = true;
        return;
    }
    memcpy(b->encodes ? b->p + b->at : value, b->encodes ? value : b->p + b->at, n);
    b->at += n;
}

static inline void code64(struct bytes *b, void *value)
{
    code_bytes(b, value, 8);
}

static void put32(struct bytes *b, int32_t value)
{
    code_bytes(b, &value, sizeof value);
}

static int32_t get32(struct bytes *b)
{
    int32_t value = 0;
    code_bytes(b, &value, sizeof value);
    return value;
}

static int64_t get64(struct bytes *b)
{
    int64_t value = 0;
    code64(b, &value);
    return value;
}

static size_t round_size_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Adds padding up to a multiple of `to`, or skips it when decoding. */
static void code_padding(struct bytes *b, size_t to)
{
    size_t end = round_size_up(b->at, to);
    if (end > b->size) b->failed = true;
    if (b->failed) return;
    if (b->encodes) memset(b->p + b->at, 0, end - b->at);
    b->at = end;
}

static void code_name(struct bytes *b, char *name, size_t size)
{
    int32_t length = b->encodes ? (int32_t)strlen(name) : 0;
    code_bytes(b, &length, sizeof length);
    if (length < 0 || (size_t)length >= size) b->failed = true;
    if (b->failed) return;
    code_bytes(b, name, (size_t)length);
    name[length] = '\0';
    code_padding(b, 4);
}

/* ---- header ---- */

static const char magic[] = "PnetCDF"; /* followed by the version digit */
enum {
    MOST_PADDING = 64,
    ENTRIES_AT = 48,
    WRITTEN_ENTRIES_AT = 56,
    ENTRY_ALIGN = 4096,
    SLOT_ALIGN = 64
};

static bool native_is_big(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

static void code_numbers(struct bytes *b, struct burst_header *h)
{
    code64(b, &h->num_ranks);
    code64(b, &h->rank_id);
    code64(b, &h->max_ndims);
    code64(b, &h->num_entries);
    code64(b, &h->entry_begin);
}

/* Encodes or decodes the fields that version 1 adds after the names. */
static void code_added(struct bytes *b, struct burst_header *h)
{
    code_padding(b, 8);
    code64(b, &h->slots_begin);
    code64(b, &h->chunk);
    code64(b, &h->nslots);
    code64(b, &h->token);
    code64(b, &h->device);
    code64(b, &h->inode);
    code64(b, &h->birth);
    code64(b, &h->boot);
    code_name(b, h->path, sizeof h->path);
    code_padding(b, 8);
}

static void encode_header(struct bytes *b, struct burst_header *h)
{
    char text[] = {'P', 'n', 'e', 't', 'C', 'D',
                   'F', '1', 'C', 'D', 'F', (char)('0' + h->format)};
    code_bytes(b, text, sizeof text);
    put32(b, 0);
    put32(b, native_is_big());
    put32(b, h->is_external);
    code_numbers(b, h);
    code_name(b, h->basename, sizeof h->basename);
    code_name(b, h->proc_name, sizeof h->proc_name);
    code_added(b, h);
    uint64_t sum = b->failed ? 0 : base_sum(b->p, b->at, h->token);
    code64(b, &sum);
}

int64_t burst_holder_at(const struct burst_header *h)
{
    const int64_t left = h->entry_begin - BURST_HOLDER_BYTES - h->slots_begin;
    if (h->version != 1 || h->slots_begin <= 0 || h->nslots <= 0 || left < 0 ||
        h->nslots > left / BURST_SLOT_STRIDE)
        return 0;
    return h->slots_begin + h->nslots * BURST_SLOT_STRIDE;
}

size_t burst_encode_header(struct burst_header *h, unsigned char *bytes, size_t size)
{
    h->version = 1;
    for (int pass = 0; pass < 2; pass++) { /* the first pass computes the length */
        struct bytes b = {.size = size, .encodes = true};
        b.p = bytes;
        encode_header(&b, h);
        if (b.failed) return 0;
        size_t slots = (size_t)h->nslots * BURST_SLOT_STRIDE;
        h->slots_begin = (int64_t)round_size_up(b.at, SLOT_ALIGN);
        h->entry_begin = (int64_t)round_size_up(
            (size_t)h->slots_begin + slots + BURST_HOLDER_BYTES, ENTRY_ALIGN);
        if (pass == 1) return b.at;
    }
    return 0;
}

static int report_bad(const char *what)
{
    return base_error_set(NC_EBADLOG, "burst-buffer log: %s", what);
}

static int get_log_magic(struct bytes *b, struct burst_header *h)
{
    char text[8], cdf[4];
    code_bytes(b, text, sizeof text);
    code_bytes(b, cdf, sizeof cdf);
    get32(b);
    if (b->failed) return report_bad("it is shorter than a header");
    if (memcmp(text, magic, sizeof magic - 1) != 0) return report_bad("it is not a log");
    h->version = text[7] - '0';
    if (h->version < 0 || h->version > 1)
        return base_error_set(NC_EBADLOG,
                              "burst-buffer log: its version is '%c', but only versions "
                              "0 and 1 are supported",
                              text[7]);
    h->format = cdf[3] - '0';
    if (memcmp(cdf, "CDF", 3) != 0)
        return report_bad("its dataset has an unknown format");
    return NC_NOERR;
}

/* ---- version 0 as PnetCDF 1.15 writes it ----
 *
 * This variant differs from the specification in the names and in the numbers before
 * them. Its fields, by offset:
 *
 *     56  the number of entries; entry_begin until the first entry is written
 *     64  the length of the dataset's path, in 8 bytes
 *     72  the path and a NUL, directly followed by the length of the processor's name, in
 *         4 bytes, that name, and a NUL
 *
 * The entries begin at offset 80 plus the size of all fields from offset 72 on, rounded
 * up to a multiple of 16. */
enum { WRITTEN_FIXED = 80, WRITTEN_ALIGN = 16, WRITTEN_LEAST_ENTRY = 40 };

/* Returns whether the names are in the variant of PnetCDF 1.15. In a log that conforms to
 * the specification, these 8 bytes are a length and the start of a name, which as one
 * number are too large for a length in either byte order. */
static bool is_as_written(const struct bytes *names)
{
    struct bytes copy = *names;
    int64_t length = get64(&copy);
    return !copy.failed && length > 0 && length < UINT16_MAX;
}

static void get_written_name(struct bytes *b, int64_t length, char *name, size_t size)
{
    if (length < 0 || (uint64_t)length >= size) b->failed = true;
    if (b->failed) return;
    code_bytes(b, name, (size_t)length + 1);
    if (name[length] != '\0' || strlen(name) != (size_t)length) b->failed = true;
}

/* In that variant, the field entry_begin contains the number of entries. Before any entry
 * was written, it contains the offset of the first one, and the field before it is 0. */
static void decode_written_numbers(const struct bytes *b, struct burst_header *h,
                                   int64_t begin)
{
    int64_t stored = h->entry_begin;
    int64_t most = ((int64_t)b->size - begin) / WRITTEN_LEAST_ENTRY;
    bool untouched = stored == begin && (h->num_entries != 0 || most < stored);
    h->entry_begin = begin;
    if (!untouched) h->num_entries = stored;
}

static void get_written_names(struct bytes *b, struct burst_header *h)
{
    int64_t path = get64(b);
    get_written_name(b, path, h->path, sizeof h->path);
    int32_t host = get32(b);
    get_written_name(b, host, h->proc_name, sizeof h->proc_name);
    int64_t begin = WRITTEN_FIXED + path + 1 + (int64_t)sizeof host + host + 1;
    if (b->failed) return;
    begin = (int64_t)round_size_up((size_t)begin, WRITTEN_ALIGN);
    if (begin > (int64_t)b->size) b->failed = true;
    h->as_written = true;
    decode_written_numbers(b, h, begin);
}

static void get_names(struct bytes *b, struct burst_header *h)
{
    if (h->version == 0 && is_as_written(b)) {
        get_written_names(b, h);
        return;
    }
    code_name(b, h->basename, sizeof h->basename);
    code_name(b, h->proc_name, sizeof h->proc_name);
}

static int get_common(struct bytes *b, struct burst_header *h)
{
    int err = get_log_magic(b, h);
    if (err != NC_NOERR) return err;
    int32_t big = get32(b), external = get32(b);
    code_numbers(b, h);
    if (!b->failed && big != (int32_t)native_is_big())
        return report_bad("it was written on a machine with a different byte order");
    get_names(b, h);
    if (b->failed)
        return report_bad("it is shorter than its header, or a name is corrupt");
    if (external < 0 || external > 1 || h->num_ranks < 1 || h->rank_id < 0 ||
        h->rank_id >= h->num_ranks || h->max_ndims < 0 || h->num_entries < 0 ||
        h->entry_begin < (int64_t)b->at || (h->as_written && external != 0))
        return report_bad("its header is corrupt");
    /* In version 0 the entries follow the header with little padding. A larger gap means
     * that this is a version 1 log with a corrupt version digit; if it were read as
     * version 0, it would appear to have no entries. */
    if (h->version == 0 && h->entry_begin - (int64_t)b->at > MOST_PADDING)
        return report_bad(
            "its entries do not follow its header, or its version is corrupt");
    h->is_external = external;
    return NC_NOERR;
}

int64_t burst_entries_at(const struct burst_header *h)
{
    return h->as_written ? WRITTEN_ENTRIES_AT : ENTRIES_AT;
}

static int get_added(struct bytes *b, struct burst_header *h)
{
    code_added(b, h);
    size_t covered = b->at;
    uint64_t sum = (uint64_t)get64(b);
    if (b->failed) return report_bad("it is shorter than its header");
    if (sum != base_sum(b->p, covered, h->token))
        return report_bad("the checksum of its header is wrong");
    return NC_NOERR;
}

int burst_decode_header(struct burst_header *h, const unsigned char *bytes, size_t length)
{
    struct bytes b = {.p = (unsigned char *)bytes, .size = length};
    memset(h, 0, sizeof *h);
    int err = get_common(&b, h);
    if (err == NC_NOERR && h->version == 1) err = get_added(&b, h);
    return err;
}

/* ---- commit records ---- */

void burst_encode_slot(const struct burst_slot *s, uint64_t token,
                       unsigned char bytes[BURST_SLOT_BYTES])
{
    const int64_t values[] = {s->rank,    s->generation, s->count,
                              s->drained, s->synced,     (int64_t)s->definitions};
    uint64_t sum = base_sum(values, sizeof values, token);
    memcpy(bytes, values, sizeof values);
    memcpy(bytes + sizeof values, &sum, sizeof sum);
}

static bool decode_copy(const unsigned char *bytes, uint64_t token, struct burst_slot *s)
{
    int64_t v[6];
    uint64_t sum;
    memcpy(v, bytes, sizeof v);
    memcpy(&sum, bytes + sizeof v, sizeof sum);
    *s = (struct burst_slot){v[0], v[1], v[2], v[3], v[4], (uint64_t)v[5], sum};
    return sum == base_sum(v, sizeof v, token) && v[3] <= v[2] && v[4] <= v[2];
}

/* Returns whether `a` was written later than `b`. */
static bool later(const struct burst_slot *a, const struct burst_slot *b)
{
    if (a->generation != b->generation) return a->generation > b->generation;
    if (a->count != b->count) return a->count > b->count;
    return a->drained + a->synced > b->drained + b->synced;
}

int burst_decode_slot(const unsigned char *bytes, uint64_t token, struct burst_slot *s)
{
    struct burst_slot other;
    bool one = decode_copy(bytes, token, s);
    bool two = decode_copy(bytes + BURST_SLOT_BYTES, token, &other);
    if (two && (!one || later(&other, s))) *s = other;
    return one + two;
}

/* A note as it is stored. The first checksum is where earlier versions, whose notes had
 * no ctime, expect it. */
struct note_bytes {
    int64_t values[5];
    uint64_t sum; /* checksum of `values` */
    int64_t ctime;
    uint64_t last_sum; /* checksum of all members above */
};
_Static_assert(sizeof(struct note_bytes) == BURST_SLOT_BYTES,
               "struct note_bytes must have BURST_SLOT_BYTES");

void burst_encode_note(const struct burst_note *n, uint64_t token,
                       unsigned char bytes[BURST_SLOT_BYTES])
{
    struct note_bytes b = {{n->serial, n->changing, n->when, n->mtime, n->size},
                           .ctime = n->ctime};
    b.sum = base_sum(b.values, sizeof b.values, ~token);
    b.last_sum = base_sum(&b, offsetof(struct note_bytes, last_sum), ~token);
    memcpy(bytes, &b, sizeof b);
}

static bool decode_note(const unsigned char *bytes, uint64_t token, struct burst_note *n)
{
    struct note_bytes b;
    memcpy(&b, bytes, sizeof b);
    const int64_t *v = b.values;
    *n = (struct burst_note){v[0], v[1], v[2], v[3], v[4], b.ctime};
    bool first = b.ctime == 0 && b.last_sum == 0; /* written by an earlier version */
    return b.sum == base_sum(v, sizeof b.values, ~token) &&
           (first ||
            b.last_sum == base_sum(&b, offsetof(struct note_bytes, last_sum), ~token));
}

int burst_decode_note(const unsigned char *bytes, uint64_t token, struct burst_note *n)
{
    struct burst_note other;
    bool one = decode_note(bytes, token, n);
    bool two = decode_note(bytes + BURST_SLOT_BYTES, token, &other);
    if (two && (!one || other.serial > n->serial)) *n = other;
    return one + two;
}

/* ---- entries ---- */

enum { FRAME = 40, ADDED = 48 }; /* bytes before and after the arrays */

int64_t burst_entry_size(int64_t numbers)
{
    return FRAME + ADDED + 8 * numbers;
}

static uint64_t entry_seed(uint64_t token, int64_t generation, int64_t at)
{
    return token ^ ((uint64_t)generation * 0x9e3779b97f4a7c15u) ^ ((uint64_t)at << 20);
}

static inline void code_frame(struct bytes *b, struct burst_entry *e)
{
    code64(b, &e->size);
    code_bytes(b, &e->kind, sizeof e->kind);
    code_bytes(b, &e->itype, sizeof e->itype);
    code_bytes(b, &e->varid, sizeof e->varid);
    code_bytes(b, &e->ndims, sizeof e->ndims);
    code64(b, &e->data_off);
    code64(b, &e->data_len);
}

static inline void code_added_to_entry(struct bytes *b, struct burst_entry *e)
{
    code64(b, &e->seq);
    code64(b, &e->epoch);
    code64(b, &e->rank);
    code64(b, &e->flags);
    code64(b, &e->data_sum);
}

void burst_encode_entry(const struct burst_entry *e, uint64_t token, int64_t generation,
                        int64_t at, unsigned char *bytes)
{
    struct bytes b = {.p = bytes, .size = (size_t)e->size, .encodes = true};
    struct burst_entry copy = *e;
    size_t numbers = (size_t)(e->ndims * e->nreqs) * 8;
    code_frame(&b, &copy);
    code_bytes(&b, (void *)e->start, numbers);
    if (e->count != NULL) code_bytes(&b, (void *)e->count, numbers);
    if (e->stride != NULL) code_bytes(&b, (void *)e->stride, (size_t)e->ndims * 8);
    code_added_to_entry(&b, &copy);
    uint64_t sum = base_sum(bytes, b.at, entry_seed(token, generation, at));
    code64(&b, &sum);
}

static bool get_frame(struct bytes *b, struct burst_entry *e)
{
    *e = (struct burst_entry){0};
    code_frame(b, e);
    e->nreqs = e->kind > 0 ? e->kind : 1;
    return !b->failed && e->size >= FRAME && (uint64_t)e->size <= b->size &&
           e->size % 4 == 0 && e->kind >= BURST_VARS && e->kind != 0 &&
           burst_conv_type(e->itype) >= 0 && e->varid >= 0 && e->ndims >= 0 &&
           e->ndims <= 1 << 20 && e->data_off >= 0 && e->data_len >= 0 &&
           e->data_len <= INT64_MAX - e->data_off && e->ndims * e->nreqs <= e->size / 8;
}

/* Sets start, count and stride to the arrays in an entry with `numbers` numbers. */
static bool find_arrays(struct burst_entry *e, const unsigned char *at, int64_t numbers)
{
    int64_t each = e->ndims * e->nreqs;
    e->start = (const int64_t *)(const void *)at;
    if (numbers < each) return false;
    if (numbers >= 2 * each) e->count = e->start + each;
    if (e->kind == BURST_VARS && numbers >= 2 * each + e->ndims)
        e->stride = e->start + 2 * each;
    return e->kind != BURST_VARS || e->stride != NULL;
}

bool burst_decode_entry(struct burst_entry *e, const unsigned char *bytes, size_t length,
                        uint64_t token, int64_t generation, int64_t at)
{
    struct bytes b = {.p = (unsigned char *)bytes, .size = length};
    if (!get_frame(&b, e) || e->size < FRAME + ADDED) return false;
    uint64_t sum;
    size_t covered = (size_t)e->size - sizeof sum;
    memcpy(&sum, bytes + covered, sizeof sum);
    uint64_t good = base_sum(bytes, covered, entry_seed(token, generation, at));
    if (sum != good && sum != ~good) return false;
    b.at = (size_t)e->size - ADDED;
    code_added_to_entry(&b, e);
    if (sum != good) e->flags |= BURST_CANCELLED;
    return find_arrays(e, bytes + FRAME, (e->size - FRAME - ADDED) / 8);
}

int64_t burst_entry_rank(const unsigned char *bytes, size_t length)
{
    struct burst_entry e;
    struct bytes b = {.p = (unsigned char *)bytes, .size = length};
    if (!get_frame(&b, &e) || e.size < FRAME + ADDED) return -1;
    b.at = (size_t)e.size - ADDED + 16;
    return get64(&b);
}

/* Returns whether an entry of this kind may contain `numbers` numbers. By the
 * specification, counts may be missing if all are 1, and strides if they are not needed.
 * PnetCDF always writes both, except in a varn. */
static bool numbers_fit(const struct burst_entry *e, int64_t numbers, bool as_written)
{
    int64_t each = e->ndims * e->nreqs;
    if (e->kind > 0) return numbers == each || numbers == 2 * each;
    if (as_written || e->kind == BURST_VARS) return numbers == 3 * each;
    return numbers == 2 * each || numbers == 3 * each ||
           (e->kind == BURST_VAR1 && numbers == each);
}

/* Returns whether the strides of an entry that does not need them are zero or missing. */
static bool strides_are_unused(const struct burst_entry *e, int64_t numbers)
{
    int64_t each = e->ndims * e->nreqs;
    if (e->kind > 0 || e->kind == BURST_VARS || numbers < 3 * each) return true;
    return base_is_zero(e->start + 2 * each, each * (int64_t)sizeof *e->start);
}

int burst_decode_entry0(struct burst_entry *e, const unsigned char *bytes, size_t length,
                        bool as_written)
{
    struct bytes b = {.p = (unsigned char *)bytes, .size = length};
    int64_t numbers = ((int64_t)length - FRAME) / 8;
    if (!get_frame(&b, e) || e->size != (int64_t)length || e->size % 8 != 0 ||
        !numbers_fit(e, numbers, as_written) || !find_arrays(e, bytes + FRAME, numbers) ||
        !strides_are_unused(e, numbers) ||
        (as_written && (e->kind == BURST_VAR || e->kind == BURST_VAR1)))
        return report_bad("an entry is corrupt");
    return NC_NOERR;
}
