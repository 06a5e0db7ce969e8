/* A dataset that keeps values in files of their own (the driver blob, doc/formats.md) has
 * one page more in front, the envelope: no reader of netCDF takes the file for one whose
 * values are all there. Behind it everything is as in any dataset, as many bytes later.
 */
#ifndef CDF_ENVELOPE_H
#define CDF_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CDF_ENVELOPE = 4096, CDF_COMMITTED = 3072, CDF_JOINER = 128 };

/* Which opening for writing a file's values are from, and after which of its syncs. */
struct cdf_moment {
    uint64_t opening; /* 1: the one that made the dataset */
    uint64_t
        nonce; /* of that opening: after a restore there may be another of its number */
    uint64_t syncs; /* by all processes, since it began */
};

/* What the last opening for writing has come to. */
enum cdf_stage {
    CDF_BEGINNING, /* nothing has changed yet; some subfiles are of the moment before */
    CDF_WRITING,   /* it goes on, or its job was killed */
    CDF_COMPLETE   /* it was closed */
};

struct cdf_envelope {
    uint64_t token[2]; /* of the dataset: its subfiles have the same */
    int64_t nprocs;    /* that made it */
    int64_t nsubfiles; /* 1 to nprocs */
    bool defined;      /* all subfiles have headers; before, one may be empty */
    bool shared;       /* several openings have settled variables in this moment */
    bool framed;       /* values of blobs are in frames */
    enum cdf_stage stage;
    struct cdf_moment now, before;
    unsigned char joiner[CDF_JOINER];       /* who makes one file of it; zeros: nobody */
    unsigned char committed[CDF_COMMITTED]; /* a bit for each decomposition that counts */
};

/* Does a decomposition count, 1 or more? Others were given up, or never completed. */
static inline bool cdf_is_committed(const struct cdf_envelope *e, int64_t number)
{
    return number > 0 && number < (int64_t)8 * CDF_COMMITTED &&
           (e->committed[number / 8] >> number % 8 & 1) != 0;
}

/* Does a file that starts with these bytes have one? */
bool cdf_is_envelope(const void *bytes, size_t length);

/* CDF_ENVELOPE bytes. */
void cdf_encode_envelope(const struct cdf_envelope *e, unsigned char *bytes);

/* NC_ENOTNC: cut off, or damaged; NC_ENOTBUILT: of a later version. With words. */
int cdf_decode_envelope(struct cdf_envelope *e, const unsigned char *bytes,
                        size_t length);

#endif
