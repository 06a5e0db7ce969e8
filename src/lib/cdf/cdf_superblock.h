/* A dataset that stores values in subfiles (the blob driver, doc/formats.md) starts with
 * an additional page, the superblock. Other netCDF readers therefore reject the file
 * instead of assuming that it contains all values. The rest of the file is an ordinary
 * dataset, shifted by the size of the page. */
#ifndef CDF_SUPERBLOCK_H
#define CDF_SUPERBLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CDF_SUPERBLOCK = 4096, CDF_COMMITTED = 3072, CDF_OWNER = 128, CDF_OWNER_AT = 640 };

/* Purpose of the lease. In version 2 of the superblock, only joins recorded an owner, and
 * this field was 0. */
enum cdf_purpose { CDF_JOINS, CDF_WRITES, CDF_COMPACTS, CDF_DELETES };

/* Identifies a header that the master file may have, by its size in bytes and its FNV-1a
 * checksum, computed with zero records. All members are zero if there is none. */
struct cdf_definitions {
    uint64_t sum;
    int64_t size;
};

/* Generation of a file's values: the opening for writing that wrote them, and the number
 * of syncs since that opening began. */
struct cdf_generation {
    uint64_t opening; /* 1 for the opening that created the dataset */
    uint64_t nonce; /* nonce of that opening; distinguishes openings with the same number
                     * after a backup is restored */
    uint64_t syncs; /* number of syncs by all processes since the opening began */
};

/* State of the last opening for writing. */
enum cdf_stage {
    CDF_BEGINNING, /* nothing has changed yet; some subfiles may belong to the previous
                    * generation */
    CDF_WRITING,   /* still open, or the job was killed */
    CDF_COMPLETE   /* closed */
};

struct cdf_superblock {
    uint64_t token[2]; /* token of the dataset, which its subfiles share */
    int64_t nprocs;    /* number of processes that created the dataset */
    int64_t nsubfiles; /* number of subfiles, 1 to nprocs */
    bool defined;      /* all subfiles have headers; if false, one may be empty */
    bool framed;       /* values of blobs are stored in frames */
    bool checked;      /* headers, maps and tables have checksums (version 3) */
    enum cdf_stage stage;
    struct cdf_generation now, before;
    /* Headers before and after the last change. The header in the file matches one of
     * them. */
    struct cdf_definitions definitions[2];
    int64_t numrecs; /* record count of the master file when it was closed; valid only if
                      * CDF_COMPLETE */
    unsigned char owner[CDF_OWNER];         /* owner of the lease, a base_owner; zeros if
                                             * none */
    enum cdf_purpose purpose;               /* purpose of the lease */
    unsigned char committed[CDF_COMMITTED]; /* one bit per committed decomposition */
};

/* Returns whether a decomposition, numbered from 1, is committed. All others were
 * abandoned or never completed. */
static inline bool cdf_is_committed(const struct cdf_superblock *e, int64_t number)
{
    return number > 0 && number < (int64_t)8 * CDF_COMMITTED &&
           (e->committed[number / 8] >> number % 8 & 1) != 0;
}

/* Returns whether a file that starts with these bytes has a superblock. */
bool cdf_is_superblock(const void *bytes, size_t length);

/* Encodes a superblock in CDF_SUPERBLOCK bytes. */
void cdf_encode_superblock(const struct cdf_superblock *e, unsigned char *bytes);

/* Decodes a superblock. Records a message on errors. NC_ENOTNC if truncated or damaged,
 * NC_ENOTBUILT if from a later version. */
int cdf_decode_superblock(struct cdf_superblock *e, const unsigned char *bytes,
                          size_t length);

#endif
