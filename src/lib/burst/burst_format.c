/* Logs as bytes. Numbers are native: a log is read where it was written. */
#include "burst_format.h"

#include <string.h>

#include "base_error.h"
#include "base_sum.h"
#include "conv.h"

/* In the order of the log's numbers, from 1 on. */
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

/* Version 0 may have a number that the grammar leaves out: C's long. */
int burst_conv_type(int itype)
{
    if (itype == BURST_LONG) return sizeof(long) == 8 ? CONV_LONGLONG : CONV_INT;
    return itype < 1 || itype > NTYPES ? -1 : types[itype - 1];
}

/* ---- reading and writing in order ---- */

struct bytes {
    unsigned char *p;
    size_t at, size;
    bool failed; /* beyond the end */
};

static void put_log_bytes(struct bytes *b, const void *value, size_t n)
{
    if (n > b->size - b->at) {
        b->failed = true;
        return;
    }
    memcpy(b->p + b->at, value, n);
    b->at += n;
}

static void get_log_bytes(struct bytes *b, void *value, size_t n)
{
    memset(value, 0, n);
    if (b->failed || n > b->size - b->at) {
        b->failed = true;
        return;
    }
    memcpy(value, b->p + b->at, n);
    b->at += n;
}

static void put32(struct bytes *b, int32_t value)
{
    put_log_bytes(b, &value, sizeof value);
}

static void put64(struct bytes *b, int64_t value)
{
    put_log_bytes(b, &value, sizeof value);
}

static int32_t get32(struct bytes *b)
{
    int32_t value;
    get_log_bytes(b, &value, sizeof value);
    return value;
}

static int64_t get64(struct bytes *b)
{
    int64_t value;
    get_log_bytes(b, &value, sizeof value);
    return value;
}

static size_t round_size_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void pad(struct bytes *b, size_t to)
{
    static const unsigned char zeros[64];
    put_log_bytes(b, zeros, (to - b->at % to) % to);
}

static void put_log_name(struct bytes *b, const char *name)
{
    put32(b, (int32_t)strlen(name));
    put_log_bytes(b, name, strlen(name));
    pad(b, 4);
}

static void skip_to(struct bytes *b, size_t multiple)
{
    b->at = round_size_up(b->at, multiple);
    if (b->at > b->size) b->failed = true;
}

static void get_log_name(struct bytes *b, char *name, size_t size)
{
    int32_t length = get32(b);
    if (length < 0 || (size_t)length >= size) b->failed = true;
    if (b->failed) return;
    get_log_bytes(b, name, (size_t)length);
    name[length] = '\0';
    skip_to(b, 4);
}

/* ---- header ---- */

static const char magic[] = "PnetCDF"; /* and the version's digit */
enum { NUM_ENTRIES_AT = 48, ENTRY_ALIGN = 4096, SLOT_ALIGN = 64 };

static bool native_is_big(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

static void put_common(struct bytes *b, const struct burst_header *h)
{
    const char cdf[4] = {'C', 'D', 'F', (char)('0' + h->format)};
    put_log_bytes(b, magic, sizeof magic - 1);
    put_log_bytes(b, "1", 1);
    put_log_bytes(b, cdf, sizeof cdf);
    put32(b, 0);
    put32(b, native_is_big());
    put32(b, h->is_external);
    put64(b, h->num_ranks);
    put64(b, h->rank_id);
    put64(b, h->max_ndims);
    put64(b, h->num_entries);
    put64(b, h->entry_begin);
    put_log_name(b, h->basename);
    put_log_name(b, h->proc_name);
}

static void put_added(struct bytes *b, const struct burst_header *h)
{
    pad(b, 8);
    put64(b, h->slots_begin);
    put64(b, h->chunk);
    put64(b, h->nslots);
    put64(b, (int64_t)h->token);
    put64(b, (int64_t)h->device);
    put64(b, (int64_t)h->inode);
    put64(b, (int64_t)h->birth);
    put64(b, (int64_t)h->boot);
    put_log_name(b, h->path);
    pad(b, 8);
    put64(b, b->failed ? 0 : (int64_t)base_sum(b->p, b->at, h->token));
}

int64_t burst_holder_at(const struct burst_header *h)
{
    int64_t at = h->slots_begin + h->nslots * BURST_SLOT_STRIDE;
    return h->version == 1 && at + BURST_HOLDER_BYTES <= h->entry_begin ? at : 0;
}

size_t burst_encode_header(struct burst_header *h, unsigned char *bytes, size_t size)
{
    h->version = 1;
    for (int pass = 0; pass < 2; pass++) { /* the first one finds out how long it is */
        struct bytes b = {.size = size};
        b.p = bytes;
        put_common(&b, h);
        put_added(&b, h);
        if (b.failed) return 0;
        size_t slots = (size_t)h->nslots * BURST_SLOT_STRIDE;
        h->slots_begin = (int64_t)round_size_up(b.at, SLOT_ALIGN);
        h->entry_begin = (int64_t)round_size_up(
            (size_t)h->slots_begin + slots + BURST_HOLDER_BYTES, ENTRY_ALIGN);
        if (pass == 1) return b.at;
    }
    return 0;
}

static int bad(const char *what)
{
    return base_error_set(NC_EBADLOG, "burst-buffer log: %s", what);
}

static int get_log_magic(struct bytes *b, struct burst_header *h)
{
    char text[8], cdf[4];
    get_log_bytes(b, text, sizeof text);
    get_log_bytes(b, cdf, sizeof cdf);
    get32(b);
    if (b->failed) return bad("it is shorter than a header");
    if (memcmp(text, magic, sizeof magic - 1) != 0) return bad("this is none");
    h->version = text[7] - '0';
    if (h->version < 0 || h->version > 1)
        return base_error_set(NC_EBADLOG,
                              "burst-buffer log: its version is '%c', known "
                              "are 0 and 1",
                              text[7]);
    h->format = cdf[3] - '0';
    if (memcmp(cdf, "CDF", 3) != 0) return bad("its dataset is of another format");
    return NC_NOERR;
}

/* ---- version 0 as PnetCDF 1.15 writes it ----
 *
 * It departs from its grammar in the names, and in what the numbers before them say:
 *
 *     64  the length of the dataset's path, in 8 bytes; the path and a NUL, then at once
 *         the length of the processor's name, in 4 bytes; that name, and a NUL
 *     80  and the names with what belongs to them, at the next multiple of 16: entries
 *     56  the number of entries, which is stored over entry_begin with the first of them
 */
enum { WRITTEN_FIXED = 80, WRITTEN_ALIGN = 16, WRITTEN_LEAST_ENTRY = 40 };

/* By the grammar these 8 bytes are a length of 4 and the first of a name, which is not
 * empty: too large for a length in either byte order. */
static bool is_as_written(const struct bytes *names)
{
    struct bytes look = *names;
    int64_t length = get64(&look);
    return !look.failed && length > 0 && length < UINT16_MAX;
}

static void get_written_name(struct bytes *b, int64_t length, char *name, size_t size)
{
    if (length < 0 || (uint64_t)length >= size) b->failed = true;
    if (b->failed) return;
    get_log_bytes(b, name, (size_t)length + 1);
    if (name[length] != '\0' || strlen(name) != (size_t)length) b->failed = true;
}

/* The number that was read as entry_begin is that of entries, unless there was no entry
 * yet: then it is the place of the first, and the one before it is 0. */
static void sort_out_numbers(const struct bytes *b, struct burst_header *h, int64_t begin)
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
    sort_out_numbers(b, h, begin);
}

static void get_names(struct bytes *b, struct burst_header *h)
{
    if (h->version == 0 && is_as_written(b)) {
        get_written_names(b, h);
        return;
    }
    get_log_name(b, h->basename, sizeof h->basename);
    get_log_name(b, h->proc_name, sizeof h->proc_name);
}

static int get_common(struct bytes *b, struct burst_header *h)
{
    int err = get_log_magic(b, h);
    if (err != NC_NOERR) return err;
    int32_t big = get32(b), external = get32(b);
    h->num_ranks = get64(b);
    h->rank_id = get64(b);
    h->max_ndims = get64(b);
    h->num_entries = get64(b);
    h->entry_begin = get64(b);
    if (!b->failed && big != (int32_t)native_is_big())
        return bad("it was written by a machine of the other byte order");
    get_names(b, h);
    if (b->failed) return bad("it is shorter than its header, or a name is broken");
    if (external < 0 || external > 1 || h->num_ranks < 1 || h->rank_id < 0 ||
        h->rank_id >= h->num_ranks || h->max_ndims < 0 || h->num_entries < 0 ||
        h->entry_begin < (int64_t)b->at)
        return bad("its header is broken");
    h->is_external = external;
    return NC_NOERR;
}

static int get_added(struct bytes *b, struct burst_header *h)
{
    skip_to(b, 8);
    h->slots_begin = get64(b);
    h->chunk = get64(b);
    h->nslots = get64(b);
    h->token = (uint64_t)get64(b);
    h->device = (uint64_t)get64(b);
    h->inode = (uint64_t)get64(b);
    h->birth = (uint64_t)get64(b);
    h->boot = (uint64_t)get64(b);
    get_log_name(b, h->path, sizeof h->path);
    skip_to(b, 8);
    size_t covered = b->at;
    uint64_t sum = (uint64_t)get64(b);
    if (b->failed) return bad("it is shorter than its header");
    if (sum != base_sum(b->p, covered, h->token))
        return bad("its header's checksum is wrong");
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

/* Which was written later? */
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

void burst_encode_note(const struct burst_note *n, uint64_t token,
                       unsigned char bytes[BURST_SLOT_BYTES])
{
    const int64_t values[] = {n->serial, n->changing, n->when, n->mtime, n->size};
    uint64_t sum = base_sum(values, sizeof values, ~token);
    memcpy(bytes, values, sizeof values);
    memcpy(bytes + sizeof values, &sum, sizeof sum);
}

static bool decode_note(const unsigned char *bytes, uint64_t token, struct burst_note *n)
{
    int64_t v[5];
    uint64_t sum;
    memcpy(v, bytes, sizeof v);
    memcpy(&sum, bytes + sizeof v, sizeof sum);
    *n = (struct burst_note){v[0], v[1], v[2], v[3], v[4]};
    return sum == base_sum(v, sizeof v, ~token);
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

enum { FRAME = 40, ADDED = 48 }; /* bytes before and behind the arrays */

int64_t burst_entry_size(int64_t numbers)
{
    return FRAME + ADDED + 8 * numbers;
}

static uint64_t entry_seed(uint64_t token, int64_t generation, int64_t at)
{
    return token ^ ((uint64_t)generation * 0x9e3779b97f4a7c15u) ^ ((uint64_t)at << 20);
}

/* How many numbers an entry's arrays have: start, count, stride. */
static void lengths(const struct burst_entry *e, int64_t n[3])
{
    n[0] = e->ndims * e->nreqs;
    n[1] = e->count == NULL ? 0 : n[0];
    n[2] = e->stride == NULL ? 0 : e->ndims;
}

void burst_encode_entry(const struct burst_entry *e, uint64_t token, int64_t generation,
                        int64_t at, unsigned char *bytes)
{
    struct bytes b = {.p = bytes, .size = (size_t)e->size};
    int64_t n[3];
    lengths(e, n);
    put64(&b, e->size);
    put32(&b, e->kind);
    put32(&b, e->itype);
    put32(&b, e->varid);
    put32(&b, e->ndims);
    put64(&b, e->data_off);
    put64(&b, e->data_len);
    put_log_bytes(&b, e->start, (size_t)n[0] * 8);
    if (e->count != NULL) put_log_bytes(&b, e->count, (size_t)n[1] * 8);
    if (e->stride != NULL) put_log_bytes(&b, e->stride, (size_t)n[2] * 8);
    put64(&b, e->seq);
    put64(&b, e->epoch);
    put64(&b, e->rank);
    put64(&b, e->flags);
    put64(&b, (int64_t)e->data_sum);
    put64(&b, (int64_t)base_sum(bytes, b.at, entry_seed(token, generation, at)));
}

static bool get_frame(struct bytes *b, struct burst_entry *e)
{
    *e = (struct burst_entry){0};
    e->size = get64(b);
    e->kind = get32(b);
    e->itype = get32(b);
    e->varid = get32(b);
    e->ndims = get32(b);
    e->data_off = get64(b);
    e->data_len = get64(b);
    e->nreqs = e->kind > 0 ? e->kind : 1;
    return !b->failed && e->size >= FRAME && (uint64_t)e->size <= b->size &&
           e->size % 4 == 0 && e->kind >= BURST_VARS && e->kind != 0 &&
           burst_conv_type(e->itype) >= 0 && e->varid >= 0 && e->ndims >= 0 &&
           e->ndims <= 1 << 20 && e->data_off >= 0 && e->data_len >= 0 &&
           e->data_len <= INT64_MAX - e->data_off && e->ndims * e->nreqs <= e->size / 8;
}

/* Where the arrays lie, of those numbers that there are room for. */
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
    e->seq = get64(&b);
    e->epoch = get64(&b);
    e->rank = get64(&b);
    e->flags = get64(&b) | (sum == good ? 0 : BURST_CANCELLED);
    e->data_sum = (uint64_t)get64(&b);
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

int burst_decode_entry0(struct burst_entry *e, const unsigned char *bytes, size_t length)
{
    struct bytes b = {.p = (unsigned char *)bytes, .size = length};
    if (!get_frame(&b, e) || !find_arrays(e, bytes + FRAME, (e->size - FRAME) / 8))
        return bad("an entry is broken");
    return NC_NOERR;
}
