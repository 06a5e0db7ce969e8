/* Writes chunks: as references to the bytes of a file, or as the bytes themselves. */
#include <stdio.h>
#include <string.h>

#include "base_compress.h"
#include "base_error.h"
#include "base_mem.h"
#include "refs.h"
#include "util_blob.h"
#include "util_message.h"
#include "util_number.h"

/* ---- where a chunk is ---- */

enum { COPIED = -1, PLAIN, ZSTD, KINDS, LZ4 = KINDS }; /* encoding of a chunk's bytes */

static int64_t first_element(const struct refs_var *p)
{
    int64_t element = 0;
    for (int d = p->apart ? 1 : 0; d < p->var->ndims; d++)
        element = element * p->shape[d] + p->at[d];
    return element;
}

/* Returns whether the part of the chunk that is inside the variable is the beginning of
 * the chunk. If so, whatever follows this part in the file is harmless: readers ignore
 * the rest of the chunk. Sets *whole if the entire chunk is inside. */
static bool is_prefix(const struct refs_var *p, bool *whole)
{
    bool first = true;
    *whole = true;
    for (int d = 0; d < p->var->ndims; d++) {
        bool cut_off = p->at[d] + p->chunk[d] > p->shape[d];
        if (cut_off) *whole = false;
        if (cut_off && !first) return false;
        if (p->chunk[d] > 1) first = false;
    }
    return true;
}

/* Finds the bytes of the chunk at p->at. Sets *kind to COPIED if they are not contiguous,
 * or not encoded as Zarr expects. On error, returns an NC_ error and sets a message. */
static int find_chunk(struct refs_var *p, int *kind, int *sub, struct util_range *range)
{
    struct util_location location;
    bool whole;
    *kind = COPIED;
    if (p->copied || !is_prefix(p, &whole)) return NC_NOERR;
    int err = util_location_find(&p->locations, first_element(p), &location);
    if (err == NC_NOERR) err = util_location_range(&p->locations, &location, range);
    if (err != NC_NOERR || range->bytes == 0) return err;
    *sub = location.sub;
    if (range->nelems == 0 && range->bytes >= p->nelems * p->size) {
        range->bytes = p->nelems * p->size;
        *kind = PLAIN;
    } else if (range->nelems == p->nelems && whole) {
        *kind = range->codec == BASE_CODEC_NONE   ? PLAIN
                : range->codec == BASE_CODEC_ZSTD ? ZSTD
                                                  : LZ4;
    }
    return NC_NOERR;
}

/* ---- chunks that must be copied ---- */

static int refuse(const struct refs *r, const struct refs_var *p, bool lz4)
{
    char words[320];
    snprintf(words, sizeof words,
             "%s: more than --copy allows (%lld bytes) would have "
             "to be copied",
             lz4 ? "Zarr cannot decode LZ4 blocks without a header"
                 : "the pieces written by processes, or their frames, are not chunks of "
                   "equal shape",
             (long long)r->copy_bytes);
    return refs_complain(r, p->var, words);
}

int refs_look(struct refs *r, struct refs_var *p)
{
    int64_t n[LZ4 + 2] = {0},
                    bytes =
                        p->nelems *
                        p->size; /* number of chunks of each kind, starting with COPIED */
    bool more = p->nchunks > 0;
    if (p->copied && p->locations.blobs == NULL)
        return 0; /* values shorter than a reference */
    for (refs_first_chunk(p); more; more = refs_next_chunk(p)) {
        struct util_range range;
        int kind, sub;
        int err = find_chunk(p, &kind, &sub, &range);
        if (err != NC_NOERR) return refs_complain(r, p->var, base_error_detail(err));
        n[kind + 1]++;
        if (n[COPIED + 1] + n[LZ4 + 1] > r->copy_bytes / bytes) break;
    }
    p->compressed = n[ZSTD + 1] > n[PLAIN + 1];
    int64_t some = n[COPIED + 1] + n[LZ4 + 1] + n[(p->compressed ? PLAIN : ZSTD) + 1];
    if (some > r->copy_bytes / bytes) return refuse(r, p, n[LZ4 + 1] > 0);
    if (some > p->nchunks / 2 && p->nchunks <= r->copy_bytes / bytes) refs_copy_all(r, p);
    return 0;
}

/* ---- copies ---- */

void refs_base64(const unsigned char *from, int64_t n, const char *before, char *to)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    to += sprintf(to, "\"%s", before);
    for (int64_t i = 0; i < n; i += 3, to += 4) {
        uint32_t bits = (uint32_t)from[i] << 16;
        if (i + 1 < n) bits |= (uint32_t)from[i + 1] << 8;
        if (i + 2 < n) bits |= from[i + 2];
        for (int k = 0; k < 4; k++)
            to[k] = digits[bits >> (18 - 6 * k) & 63];
        if (i + 1 >= n) to[2] = '=';
        if (i + 2 >= n) to[3] = '=';
    }
    memcpy(to, "\"", 2);
}

/* Memory for copying a chunk. */
struct copy {
    unsigned char *bytes, *packed;
    char *text;
    int64_t *at; /* position within the chunk */
    struct base_coder coder;
};

static void free_copy(struct copy *x)
{
    base_free(x->bytes);
    base_free(x->packed);
    base_free(x->text);
    base_free(x->at);
    base_coder_end(&x->coder);
    *x = (struct copy){.bytes = NULL};
}

/* Returns an upper bound on the size of n bytes after zstd compression. */
static int64_t most_packed(int64_t n)
{
    return n + n / 64 + 1024;
}

static bool make_copy(struct copy *x, const struct refs_var *p)
{
    if (x->text != NULL) return true;
    int64_t n = p->nelems * p->size, most = most_packed(n);
    x->coder = (struct base_coder){.codec = BASE_CODEC_ZSTD, .level = 1};
    x->bytes = base_malloc((size_t)n);
    x->packed = base_malloc(
        (size_t)(n + most)); /* the shuffled bytes, then the compressed ones */
    x->at = base_calloc((size_t)p->var->ndims + 1, sizeof *x->at);
    x->text = base_malloc((size_t)REFS_BASE64(most));
    return x->bytes != NULL && x->packed != NULL && x->at != NULL && x->text != NULL;
}

/* Advances to the next row of elements that are in the variable and contiguous in the
 * file. If the variable has only the record dimension, a row is a single element. */
static bool next_row(const struct refs_var *p, int64_t *at, int rows)
{
    for (int d = rows - 1; d >= 0; d--) {
        at[d]++;
        if (at[d] < p->chunk[d] && p->at[d] + at[d] < p->shape[d]) return true;
        at[d] = 0;
    }
    return false;
}

static int read_row(const struct refs *r, const struct refs_var *p, struct copy *x,
                    int rows)
{
    const struct cdf_header *h = &r->file.header;
    int64_t element = 0, to = 0, n = 1, record = 0;
    for (int d = 0; d < p->var->ndims; d++) {
        int64_t at = p->at[d] + x->at[d];
        to = to * p->chunk[d] + x->at[d];
        if (d == 0 && p->var->is_record && p->apart)
            record = at;
        else
            element = element * p->shape[d] + at;
        if (d < rows) continue;
        n = p->shape[d] - p->at[d] < p->chunk[d] ? p->shape[d] - p->at[d] : p->chunk[d];
    }
    int64_t offset = cdf_record_offset(h, p->var, record) + element * p->size;
    if (util_classic_read(&r->file, offset, x->bytes + to * p->size,
                          (size_t)(n * p->size)) >= 0)
        return 0;
    return refs_complain(r, p->var, util_classic_why(&r->file));
}

/* Reads a chunk. Elements outside the variable or after the end of the file are zero. */
static int read_chunk(const struct refs *r, const struct refs_var *p, struct copy *x)
{
    int rows = p->var->ndims - (p->var->ndims > (p->apart ? 1 : 0) ? 1 : 0), status = 0;
    memset(x->bytes, 0, (size_t)(p->nelems * p->size));
    do
        status = read_row(r, p, x, rows);
    while (status == 0 && next_row(p, x->at, rows));
    return status;
}

/* Encodes the chunk in the same way as the variable's other chunks. */
static int64_t pack(const struct refs_var *p, struct copy *x)
{
    int64_t n = p->nelems * p->size;
    for (int64_t i = 0; i < p->nelems; i++)
        for (int k = 0; k < p->size; k++)
            x->packed[k * p->nelems + i] = x->bytes[i * p->size + k];
    return base_compress(&x->coder, x->packed, n, 1, x->packed + n, most_packed(n));
}

static int copy_chunk(struct refs *r, struct refs_var *p, struct copy *x, const char *key)
{
    if (!make_copy(x, p)) return refs_complain(r, p->var, base_error_text(NC_ENOMEM));
    if (read_chunk(r, p, x) != 0) return -1;
    int64_t n = p->nelems * p->size, packed = p->compressed ? pack(p, x) : 0;
    if (p->compressed && packed == 0)
        return refs_complain(r, p->var,
                             "zstd is required, but this program was built without it");
    refs_base64(p->compressed ? x->packed + n : x->bytes, p->compressed ? packed : n,
                "base64:", x->text);
    util_json_raw(&r->j, key, x->text);
    return 0;
}

/* ---- references ---- */

static void put_reference(struct refs *r, const char *key, int sub,
                          const struct util_range *range)
{
    char text[2 * UTIL_NUMBER_MAX + 8], *end = text;
    *end++ = ',';
    end = util_put_int(end, range->offset);
    *end++ = ',';
    end = util_put_int(end, range->bytes);
    *end++ = ']';
    util_json_raw(&r->j, key, "[");
    util_out_text(&r->out, r->urls[sub + 1]);
    util_out_bytes(&r->out, text, (size_t)(end - text));
}

/* Appends the chunk's key, such as "0.1.2", to "NAME/". */
static void put_key(const struct refs_var *p, char *end)
{
    if (p->var->ndims == 0) *end++ = '0';
    for (int d = 0; d < p->var->ndims; d++) {
        if (d > 0) *end++ = '.';
        end = util_put_int(end, p->at[d] / p->chunk[d]);
    }
    *end = '\0';
}

int refs_chunks(struct refs *r, struct refs_var *p)
{
    size_t length = strlen(p->var->name) + 1;
    char *key = base_malloc(length + (size_t)(p->var->ndims + 1) * UTIL_NUMBER_MAX);
    struct copy copy = {.bytes = NULL};
    bool more = p->nchunks > 0;
    int status = 0;
    if (key == NULL) return refs_complain(r, p->var, base_error_text(NC_ENOMEM));
    sprintf(key, "%s/", p->var->name);
    for (refs_first_chunk(p); more && status == 0 && r->out.error == 0;
         more = refs_next_chunk(p)) {
        struct util_range range;
        int kind, sub;
        put_key(p, key + length);
        int err = find_chunk(p, &kind, &sub, &range);
        if (err != NC_NOERR)
            status = refs_complain(r, p->var, base_error_detail(err));
        else if (kind == (p->compressed ? ZSTD : PLAIN))
            put_reference(r, key, sub, &range);
        else
            status = copy_chunk(r, p, &copy, key);
    }
    free_copy(&copy);
    base_free(key);
    return status;
}
