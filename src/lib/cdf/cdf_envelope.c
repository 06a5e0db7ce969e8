/* The page in front of a dataset whose values are partly in other files. */
#include "cdf_envelope.h"

#include <string.h>

#include "base_bytes.h"
#include "base_error.h"

/* Bytes of the page: a mark, then numbers of 8 bytes, big-endian; a line for people. */
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
enum { DEFINED = 1, SHARED = 2, FRAMED = 4 };
enum { WORDS_AT = 256, JOINER_AT = 640, COMMITTED_AT = 1024, THIS_VERSION = 2 };

static uint64_t get_field(const unsigned char *bytes, int field)
{
    const unsigned char *at = bytes + sizeof mark + 8 * (size_t)field;
    return base_get_word(&at);
}

static void put_field(unsigned char *bytes, int field, uint64_t value)
{
    (void)base_put_word(bytes + sizeof mark + 8 * (size_t)field, value);
}

static struct cdf_moment get_moment(const unsigned char *bytes, int field)
{
    return (struct cdf_moment){get_field(bytes, field), get_field(bytes, field + 1),
                               get_field(bytes, field + 2)};
}

static void put_moment(unsigned char *bytes, int field, const struct cdf_moment *m)
{
    put_field(bytes, field, m->opening);
    put_field(bytes, field + 1, m->nonce);
    put_field(bytes, field + 2, m->syncs);
}

/* FNV-1a: the same on every machine. */
static uint64_t sum(const unsigned char *bytes)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < sizeof mark + 8 * (size_t)SUM; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    for (size_t i = JOINER_AT; i < CDF_ENVELOPE; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

bool cdf_is_envelope(const void *bytes, size_t length)
{
    return length >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0;
}

void cdf_encode_envelope(const struct cdf_envelope *e, unsigned char *bytes)
{
    memset(bytes, 0, CDF_ENVELOPE);
    memcpy(bytes, mark, sizeof mark);
    put_field(bytes, VERSION, THIS_VERSION);
    put_field(bytes, TOKEN, e->token[0]);
    put_field(bytes, TOKEN2, e->token[1]);
    put_field(bytes, NPROCS, (uint64_t)e->nprocs);
    put_field(bytes, NSUBFILES, (uint64_t)e->nsubfiles);
    put_field(bytes, FLAGS,
              (e->defined ? DEFINED : 0) | (e->shared ? SHARED : 0) |
                  (e->framed ? FRAMED : 0));
    put_field(bytes, STAGE, e->stage);
    put_moment(bytes, NOW, &e->now);
    put_moment(bytes, BEFORE, &e->before);
    memcpy(bytes + JOINER_AT, e->joiner, CDF_JOINER);
    memcpy(bytes + COMMITTED_AT, e->committed, CDF_COMMITTED);
    put_field(bytes, SUM, sum(bytes));
    memcpy(bytes + WORDS_AT, words, sizeof words - 1);
}

int cdf_decode_envelope(struct cdf_envelope *e, const unsigned char *bytes, size_t length)
{
    *e = (struct cdf_envelope){.nprocs = 0};
    if (!cdf_is_envelope(bytes, length) || length < CDF_ENVELOPE)
        return base_error_set(NC_ENOTNC, "its first page is cut off");
    if (get_field(bytes, VERSION) != THIS_VERSION)
        return base_error_set(NC_ENOTBUILT,
                              "its values are in subfiles of version %llu; this library "
                              "knows version %d",
                              (unsigned long long)get_field(bytes, VERSION),
                              THIS_VERSION);
    if (get_field(bytes, SUM) != sum(bytes))
        return base_error_set(NC_ENOTNC, "its first page is damaged");
    e->token[0] = get_field(bytes, TOKEN);
    e->token[1] = get_field(bytes, TOKEN2);
    e->nprocs = (int64_t)get_field(bytes, NPROCS);
    e->nsubfiles = (int64_t)get_field(bytes, NSUBFILES);
    e->defined = (get_field(bytes, FLAGS) & DEFINED) != 0;
    e->shared = (get_field(bytes, FLAGS) & SHARED) != 0;
    e->framed = (get_field(bytes, FLAGS) & FRAMED) != 0;
    uint64_t stage = get_field(bytes, STAGE);
    e->stage = (enum cdf_stage)stage;
    e->now = get_moment(bytes, NOW);
    e->before = get_moment(bytes, BEFORE);
    memcpy(e->joiner, bytes + JOINER_AT, CDF_JOINER);
    memcpy(e->committed, bytes + COMMITTED_AT, CDF_COMMITTED);
    if (stage > CDF_COMPLETE)
        return base_error_set(NC_ENOTNC, "its first page has no stage %llu",
                              (unsigned long long)stage);
    if (e->nprocs < 1 || e->nprocs > INT32_MAX || e->nsubfiles < 1 ||
        e->nsubfiles > e->nprocs)
        return base_error_set(NC_ENOTNC,
                              "its first page tells of %lld subfiles by %lld "
                              "processes",
                              (long long)e->nsubfiles, (long long)e->nprocs);
    return NC_NOERR;
}
