/* Reads a master's first page, and computes and checks checksums of headers and tables
 * (see subfile_digest.h). */
#include "subfile_digest.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_number.h"
#include "subfile_map.h"
#include "subfile_names.h"

enum { NUMRECS_AT = 4, SUM = 8 };

/* ---- the first page ---- */

/* The page may be read while it is being written. So reads it again until its checksum
 * matches or three reads have returned the same bytes. A file that does not begin with
 * the mark, which never changes, has no such page. */
int subfile_read_page(int fd, const char *master, struct cdf_superblock *e)
{
    unsigned char page[CDF_SUPERBLOCK], before[CDF_SUPERBLOCK] = {0};
    char why[256];
    int err = NC_NOERR;
    for (int same = 0; same < 3;) {
        err = base_read_at(fd, 0, page, sizeof page, master);
        if (err != NC_NOERR) return err;
        err = cdf_decode_superblock(e, page, sizeof page);
        if (err == NC_NOERR) return NC_NOERR;
        if (!cdf_is_superblock(page, sizeof page)) break;
        same = memcmp(page, before, sizeof page) == 0 ? same + 1 : 1;
        memcpy(before, page, sizeof page);
        base_sleep_us(100);
    }
    snprintf(why, sizeof why, "%s", base_error_detail(err));
    return base_error_set(err, "%s: %s", master, why);
}

int subfile_read_superblock(const char *master, struct cdf_superblock *e)
{
    int fd = base_open(master, O_RDONLY);
    if (fd < 0) return base_error_system(NC_EFILE, "opening", master);
    int err = subfile_read_page(fd, master, e);
    (void)close(fd);
    return err;
}

/* ---- headers ---- */

/* Returns the checksum of a header's bytes, with the number of records taken as 0. */
static uint64_t sum_bytes(int format, unsigned char *bytes, int64_t n)
{
    (void)cdf_encode_numrecs(format, 0, bytes + NUMRECS_AT);
    return base_fnv_add(BASE_FNV_BEGIN, bytes, (size_t)n);
}

int subfile_digest_master(const struct cdf_header *h, struct cdf_definitions *d)
{
    d->size = cdf_encoded_size(h);
    unsigned char *bytes = base_malloc((size_t)d->size);
    if (bytes == NULL) return NC_ENOMEM;
    cdf_encode(h, bytes);
    d->sum = sum_bytes(h->format, bytes, d->size);
    base_free(bytes);
    return NC_NOERR;
}

/* Reads the page, then the header, and checks whether the page has its checksum. */
static bool is_right_now(int format, struct cdf_superblock *e, int fd, const char *path)
{
    struct cdf_superblock now;
    bool good = subfile_read_page(fd, path, &now) == NC_NOERR;
    for (int i = 0; i < 2 && good; i++) {
        struct cdf_definitions is = {.size = now.definitions[i].size};
        unsigned char *bytes = is.size > SUM ? base_malloc((size_t)is.size) : NULL;
        bool read = bytes != NULL &&
                    base_read_some(fd, CDF_SUPERBLOCK, bytes, is.size) == is.size;
        if (read) is.sum = sum_bytes(format, bytes, is.size);
        base_free(bytes);
        if (!read || is.sum != now.definitions[i].sum) continue;
        e->definitions[0] = is;
        return true;
    }
    return false;
}

/* Retries, because a program that is defining something may be replacing the header. */
int subfile_digest_check_bytes(int format, struct cdf_superblock *e, int fd,
                               const char *path)
{
    enum { TRIES = 3 };
    if (!e->checked) return NC_NOERR;
    for (int i = 0; i < TRIES; i++)
        if (is_right_now(format, e, fd, path)) return NC_NOERR;
    return base_error_set(NC_ENOTNC,
                          "%s: its header, which starts at byte %d, is damaged: its "
                          "checksum differs from the one in the first page",
                          path, (int)CDF_SUPERBLOCK);
}

/* Compares h with the page. If they differ, reads the header from the file, because it
 * may have been replaced after h was read and before the page was. */
static int check_definitions(const struct cdf_header *h, struct cdf_superblock *e, int fd,
                             const char *path)
{
    struct cdf_definitions is;
    int err = subfile_digest_master(h, &is);
    if (err != NC_NOERR) return err;
    for (int i = 0; i < 2; i++)
        if (is.size == e->definitions[i].size && is.sum == e->definitions[i].sum) {
            e->definitions[0] = e->definitions[i];
            return NC_NOERR;
        }
    int own = fd < 0 ? base_open(path, O_RDONLY) : fd;
    if (own < 0) return base_error_system(NC_EFILE, "opening", path);
    err = subfile_digest_check_bytes(h->format, e, own, path);
    if (own != fd) (void)close(own);
    return err;
}

/* The header may have fewer records than the page: a power failure may lose a number that
 * was not synced, and a reader may have read the header before the dataset was closed. */
int subfile_digest_check_master(struct cdf_header *h, struct cdf_superblock *e, int fd,
                                const char *path)
{
    if (!e->checked) return NC_NOERR;
    int err = check_definitions(h, e, fd, path);
    if (err != NC_NOERR) return err;
    if (e->stage != CDF_COMPLETE || h->numrecs == e->numrecs) return NC_NOERR;
    if (h->numrecs > e->numrecs)
        return base_error_set(NC_ENOTNC,
                              "%s: its header is damaged: it contains %lld records, but "
                              "there were %lld when the dataset was closed",
                              path, (long long)h->numrecs, (long long)e->numrecs);
    h->numrecs = e->numrecs;
    return NC_NOERR;
}

/* Returns the attribute that contains a subfile's checksum; NULL if it is missing. */
static struct cdf_att *find_sum(const struct cdf_header *h)
{
    int i;
    if (cdf_find_att(h, NC_GLOBAL, SUBFILE_ATT_SUM, &i) != NC_NOERR) return NULL;
    struct cdf_att *a = &h->gatts.list[i];
    return a->type == NC_INT64 && a->nelems == 1 ? a : NULL;
}

/* Computes a subfile's checksum, with the value of the attribute itself taken as 0. */
static int sum_subfile(const struct cdf_header *h, struct cdf_att *a, uint64_t *sum)
{
    unsigned char was[SUM];
    struct cdf_definitions d = {.size = 0};
    memcpy(was, a->values, SUM);
    memset(a->values, 0, SUM);
    int err = subfile_digest_master(h, &d);
    memcpy(a->values, was, SUM);
    *sum = d.sum;
    return err;
}

int subfile_digest_seal(struct cdf_header *h)
{
    struct cdf_att *a = find_sum(h);
    uint64_t sum = 0;
    int err = a == NULL ? NC_ENOTATT : sum_subfile(h, a, &sum);
    if (err == NC_NOERR) (void)base_put_word(a->values, sum);
    return err;
}

int subfile_digest_check_subfile(const struct cdf_header *h,
                                 const struct cdf_superblock *e, const char *path)
{
    if (!e->checked) return NC_NOERR;
    struct cdf_att *a = find_sum(h);
    const unsigned char *stored = a == NULL ? NULL : a->values;
    uint64_t sum = 0;
    int err = a == NULL ? NC_NOERR : sum_subfile(h, a, &sum);
    if (err != NC_NOERR) return err;
    if (stored != NULL && base_get_word(&stored) == sum) return NC_NOERR;
    return base_error_set(NC_ENOTNC,
                          "%s: its header of %lld bytes is damaged: its checksum differs "
                          "from the one in attribute '%s'",
                          path, (long long)h->size, SUBFILE_ATT_SUM);
}

/* ---- tables of frames ---- */

static uint64_t seed_of(const struct cdf_superblock *e)
{
    return e->token[0] ^ e->token[1];
}

static int64_t low_bits(int64_t number, int bits)
{
    return (int64_t)((uint64_t)number & ((UINT64_C(1) << bits) - 1));
}

/* Uses the XOR of the offset's 16-bit words rather than a mix, to detect every change
 * within one byte: a wrong offset might lead to zeros, which mean that the values are in
 * the master. The result is never 0, so no change of a byte turns an offset into 0. */
static uint64_t page_check(const struct cdf_superblock *e, int varid, int level,
                           int64_t at)
{
    uint64_t x = (uint64_t)at;
    uint64_t check = (x ^ x >> 16 ^ x >> 32) & 0xffff;
    check ^= subfile_map_mix(seed_of(e) + (uint64_t)varid * 64 + (uint64_t)level) >>
             SUBFILE_DIGEST_PAGE_BITS;
    return check == 0 ? 0xffff : check;
}

int64_t subfile_digest_encode_page(const struct cdf_superblock *e, int varid, int level,
                                   int64_t at)
{
    if (!e->checked || at == 0) return at;
    return (int64_t)((uint64_t)at | page_check(e, varid, level, at)
                                        << SUBFILE_DIGEST_PAGE_BITS);
}

bool subfile_digest_decode_page(const struct cdf_superblock *e, int varid, int level,
                                int64_t *at)
{
    if (!e->checked || *at == 0) return true;
    int64_t stored = *at;
    *at = low_bits(stored, SUBFILE_DIGEST_PAGE_BITS);
    return *at != 0 && stored == subfile_digest_encode_page(e, varid, level, *at);
}

/* The check bits are never all 0, so that a length without check bits is detected. */
int64_t subfile_digest_encode_length(const struct cdf_superblock *e, int64_t at,
                                     int64_t bytes)
{
    if (!e->checked || bytes == 0) return bytes;
    uint64_t mix =
        subfile_map_mix(subfile_map_mix((uint64_t)at ^ seed_of(e)) ^ (uint64_t)bytes);
    uint64_t check = mix >> SUBFILE_DIGEST_LENGTH_BITS | 1;
    return (int64_t)((uint64_t)bytes | check << SUBFILE_DIGEST_LENGTH_BITS);
}

bool subfile_digest_decode_length(const struct cdf_superblock *e, int64_t at,
                                  int64_t *bytes)
{
    if (!e->checked) return true;
    int64_t stored = *bytes;
    if (stored == 0) return at == 0;
    *bytes = low_bits(stored, SUBFILE_DIGEST_LENGTH_BITS);
    return *bytes > 0 && stored == subfile_digest_encode_length(e, at, *bytes);
}
