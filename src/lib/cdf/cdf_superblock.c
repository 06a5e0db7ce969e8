/* Encodes and decodes the superblock, the first page of a dataset with subfiles. */
#include "cdf_superblock.h"

#include <string.h>

#include "base_bytes.h"
#include "base_error.h"

/* The page contains a mark, 8-byte big-endian numbers, and a text for human readers. */
static const unsigned char mark[8] = {0x89, 'N', 'C', 'B', 'L', 'O', 'B', '\n'};
static const char words[] =
    "The values of this netCDF dataset are in files beside this one, of the same name\n"
    "and a number: NAME.0000, NAME.0001 ... Programs that use ncmpi's libpnetcdf read "
    "it\n"
    "like any other; ncmpijoin NAME OUT makes one ordinary file of all of them.\n";

enum {
    VERSION,
    TOKEN,
    TOKEN2,
    NPROCS,
    NSUBFILES,
    FLAGS,
    STAGE,
    NOW,
    BEFORE = NOW + 3,
    SUM = BEFORE + 3
};
enum { DEFINED = 1, FRAMED = 4 };
enum { WORDS_AT = 256, PURPOSE_AT = 768, DEFINITIONS_AT = 896, COMMITTED_AT = 1024 };
enum { UNCHECKED_VERSION = 2, THIS_VERSION = 3 };

static uint64_t get_field(const unsigned char *bytes, int field)
{
    const unsigned char *at = bytes + sizeof mark + 8 * (size_t)field;
    return base_get_word(&at);
}

static void put_field(unsigned char *bytes, int field, uint64_t value)
{
    (void)base_put_word(bytes + sizeof mark + 8 * (size_t)field, value);
}

static struct cdf_generation get_generation(const unsigned char *bytes, int field)
{
    return (struct cdf_generation){get_field(bytes, field), get_field(bytes, field + 1),
                                   get_field(bytes, field + 2)};
}

static void put_generation(unsigned char *bytes, int field,
                           const struct cdf_generation *m)
{
    put_field(bytes, field, m->opening);
    put_field(bytes, field + 1, m->nonce);
    put_field(bytes, field + 2, m->syncs);
}

static uint64_t sum(const unsigned char *bytes)
{
    uint64_t hash = base_fnv_add(BASE_FNV_BEGIN, bytes, sizeof mark + 8 * (size_t)SUM);
    return base_fnv_add(hash, bytes + CDF_OWNER_AT, CDF_SUPERBLOCK - CDF_OWNER_AT);
}

static void put_definitions(unsigned char *to, const struct cdf_superblock *e)
{
    for (int i = 0; i < 2; i++) {
        to = base_put_word(to, e->definitions[i].sum);
        to = base_put_word(to, (uint64_t)e->definitions[i].size);
    }
    (void)base_put_word(to, (uint64_t)e->numrecs);
}

static void get_definitions(struct cdf_superblock *e, const unsigned char *from)
{
    for (int i = 0; i < 2; i++) {
        e->definitions[i].sum = base_get_word(&from);
        e->definitions[i].size = (int64_t)base_get_word(&from);
    }
    e->numrecs = (int64_t)base_get_word(&from);
}

bool cdf_is_superblock(const void *bytes, size_t length)
{
    return length >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0;
}

void cdf_encode_superblock(const struct cdf_superblock *e, unsigned char *bytes)
{
    memset(bytes, 0, CDF_SUPERBLOCK);
    memcpy(bytes, mark, sizeof mark);
    put_field(bytes, VERSION, e->checked ? THIS_VERSION : UNCHECKED_VERSION);
    put_field(bytes, TOKEN, e->token[0]);
    put_field(bytes, TOKEN2, e->token[1]);
    put_field(bytes, NPROCS, (uint64_t)e->nprocs);
    put_field(bytes, NSUBFILES, (uint64_t)e->nsubfiles);
    put_field(bytes, FLAGS, (e->defined ? DEFINED : 0) | (e->framed ? FRAMED : 0));
    put_field(bytes, STAGE, e->stage);
    put_generation(bytes, NOW, &e->now);
    put_generation(bytes, BEFORE, &e->before);
    memcpy(bytes + CDF_OWNER_AT, e->owner, CDF_OWNER);
    (void)base_put_word(bytes + PURPOSE_AT, e->purpose);
    put_definitions(bytes + DEFINITIONS_AT, e);
    memcpy(bytes + COMMITTED_AT, e->committed, CDF_COMMITTED);
    put_field(bytes, SUM, sum(bytes));
    memcpy(bytes + WORDS_AT, words, sizeof words - 1);
}

int cdf_decode_superblock(struct cdf_superblock *e, const unsigned char *bytes,
                          size_t length)
{
    *e = (struct cdf_superblock){.nprocs = 0};
    if (!cdf_is_superblock(bytes, length) || length < CDF_SUPERBLOCK)
        return base_error_set(NC_ENOTNC, "its first page is truncated");
    uint64_t version = get_field(bytes, VERSION);
    if (version != THIS_VERSION && version != UNCHECKED_VERSION)
        return base_error_set(NC_ENOTBUILT,
                              "its values are in subfiles of version %llu, but this "
                              "library supports only versions %d and %d",
                              (unsigned long long)version, UNCHECKED_VERSION,
                              THIS_VERSION);
    if (get_field(bytes, SUM) != sum(bytes))
        return base_error_set(NC_ENOTNC, "its first page is corrupt");
    e->token[0] = get_field(bytes, TOKEN);
    e->token[1] = get_field(bytes, TOKEN2);
    e->nprocs = (int64_t)get_field(bytes, NPROCS);
    e->nsubfiles = (int64_t)get_field(bytes, NSUBFILES);
    e->defined = (get_field(bytes, FLAGS) & DEFINED) != 0;
    e->framed = (get_field(bytes, FLAGS) & FRAMED) != 0;
    e->checked = version == THIS_VERSION;
    uint64_t stage = get_field(bytes, STAGE);
    e->stage = (enum cdf_stage)stage;
    e->now = get_generation(bytes, NOW);
    e->before = get_generation(bytes, BEFORE);
    memcpy(e->owner, bytes + CDF_OWNER_AT, CDF_OWNER);
    const unsigned char *purpose = bytes + PURPOSE_AT;
    e->purpose = (enum cdf_purpose)base_get_word(&purpose);
    get_definitions(e, bytes + DEFINITIONS_AT);
    memcpy(e->committed, bytes + COMMITTED_AT, CDF_COMMITTED);
    if (stage > CDF_COMPLETE)
        return base_error_set(NC_ENOTNC, "its first page has an unknown stage, %llu",
                              (unsigned long long)stage);
    if (e->nprocs < 1 || e->nprocs > INT32_MAX || e->nsubfiles < 1 ||
        e->nsubfiles > e->nprocs)
        return base_error_set(
            NC_ENOTNC,
            "its first page has invalid numbers: %lld subfiles of %lld processes",
            (long long)e->nsubfiles, (long long)e->nprocs);
    return NC_NOERR;
}
