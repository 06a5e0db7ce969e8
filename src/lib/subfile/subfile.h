/* Subfiles of a dataset: their names and headers. No MPI.
 *
 * A subfile is a netCDF dataset that contains the blobs of a group of processes. The
 * driver and the tools read the bytes of subfiles in different ways; this module
 * interprets them. For each subfile that a caller opens, it sets up a struct subfile with
 * callbacks that read from the file. Files are untrusted, so every function validates
 * what it reads.
 *
 *     subfile          names, headers
 *     subfile_map      maps in memory; subfile_decomp reads them
 *     subfile_foreign  subfiles of other libraries
 *     subfile_open     the variables of a subfile, and their decompositions
 *     subfile_cache    values in frames: subfile_table finds chains, subfile_cache reads
 *                      them */
#ifndef SUBFILE_H
#define SUBFILE_H

#include "base_arena.h"
#include "cdf.h"
#include "cdf_superblock.h"
#include "pnetcdf_constants.h"

/* Return the first rank of a group, and the number of its processes, which is also the
 * number of blobs in its subfile. */
static inline int64_t subfile_first_rank(const struct cdf_superblock *e, int64_t group)
{
    return (group * e->nprocs + e->nsubfiles - 1) / e->nsubfiles;
}

static inline int64_t subfile_nblobs(const struct cdf_superblock *e, int64_t group)
{
    return subfile_first_rank(e, group + 1) - subfile_first_rank(e, group);
}

/* A list of n values: of a variable with one dimension, or of row `row` if it has two. */
struct subfile_numbers {
    int varid;
    int64_t row, first, n;
    int64_t *values;
};

/* Reads n lists. If `error` is not NC_NOERR, returns it. */
typedef int subfile_read(void *who, const struct subfile_numbers *lists, int n,
                         int error);

/* An open subfile. The caller sets the members up to `who`. */
struct subfile {
    const struct cdf_superblock *facts;    /* the master's first page */
    const struct cdf_header *master;       /* definitions of the whole dataset */
    const struct subfile_foreign *foreign; /* used if another library wrote the dataset */
    struct subfile_cache *cache;           /* shared by all subfiles of the dataset */
    struct cdf_header *h; /* the subfile's header; no variables if the file is blank */
    const char *path;
    int number;
    int64_t size; /* file size in bytes; INT64_MAX: unchecked, as this job extends it */
    bool owned;   /* only this process's group adds pages to the tables */
    /* Reads n bytes of the log. */
    int (*read_log)(void *who, int64_t at, void *bytes, int64_t n);
    subfile_read *read_numbers;
    void *who;

    int nvars;   /* number of the master's variables in `varids`; -1 if invalid */
    int *varids; /* the subfile's variable for each variable of the master; -1 if none */
    int log;     /* id of the variable that stores the frames; -1 if none */
    struct subfile_starts *starts; /* decompositions with cached starts of blobs */
    int64_t **pages; /* for each of npages variables, the cached offsets of its table's
                      * SUBFILE_LEVELS pages; NULL until read */
    int npages;
    struct base_arena arena; /* memory for these caches */
};

/* Returns the subfile's variable for a variable of the master; -1 if there is none. */
static inline int subfile_var(const struct subfile *s, int varid)
{
    return varid < s->nvars ? s->varids[varid] : -1;
}

/* Reads up to `most` integers of an attribute and returns their number. */
int subfile_get_att(const struct cdf_header *h, int varid, const char *name,
                    int64_t *values, int most);

/* Returns the path of a subfile, which the caller frees; NULL if out of memory. */
char *subfile_path(const char *master, int number);

/* Returns whether the subfile has no header yet: it is empty or begins with zeros,
 * because a job was killed before it wrote the header. Such a file contains no values. */
bool subfile_is_blank(const char *path);

/* Returns the temporary path of the file into which the dataset is joined; NULL if out of
 * memory. The caller frees it. */
char *subfile_join_path(const char *path, const struct cdf_superblock *e);

/* Checks that h is the header of subfile `number` of this dataset. Returns NULL if so;
 * otherwise a message that describes what is wrong. */
const char *subfile_check_header(struct cdf_header *h, const struct cdf_superblock *e,
                                 int number);

/* Sets *varid to the variable of the master whose values are stored in variable `id` of a
 * subfile; -1 if none. Returns NULL, or a message that describes what is wrong. */
const char *subfile_get_varid(struct cdf_header *h, int id,
                              const struct cdf_header *master, int *varid);

/* Returns whether the values of a subfile's variable are in frames. */
bool subfile_is_framed(const struct cdf_header *h, int id);

/* Returns the number of elements in one record of a subfile's variable. */
int64_t subfile_nelems(const struct cdf_header *h, int id, int decomposition);

/* Writes a text such as "variable 'T', record 3: the values that process 12 wrote".
 * Leaves out the process if `blob` is -1. */
enum { SUBFILE_TEXT = NC_MAX_NAME + 160 };
void subfile_describe(const struct subfile *s, int varid, int64_t record, int64_t blob,
                      char text[SUBFILE_TEXT]);

/* Sets and returns an error about the blob. The message states that the blob is damaged
 * if `err` is NC_ENOTNC, and otherwise that it cannot be read. */
int subfile_complain(const struct subfile *s, int varid, int64_t record, int64_t blob,
                     int err, const char *what);

/* ---- values in frames (subfile_frame.h) ---- */

/* Returns whether the log contains all of the n bytes at offset `at`. If necessary, gets
 * the current size of the file, because another job may be extending it. */
bool subfile_has_log(struct subfile *s, int64_t at, int64_t n);

/* For a variable with frames, the subfile stores the offsets of the pages of a table in
 * the log instead of values. Page p covers the 2^p records starting with record 2^p - 1.
 * For each of these records and each blob, it has the place of a chain. */
enum { SUBFILE_LEVELS = 40, SUBFILE_PLACE = 16 };

struct subfile_place {
    int64_t at, bytes; /* position of the chain in the log; if bytes is 0, the values are
                        * in the master */
};

static inline int subfile_level(int64_t record)
{
    return 63 - __builtin_clzll((unsigned long long)record + 1);
}

static inline int64_t subfile_page_size(int level, int64_t nblobs)
{
    return (INT64_C(1) << level) * nblobs * SUBFILE_PLACE;
}

/* Returns the offset at which the place of a blob's chain is stored. `page` is the offset
 * of the page that has the record. */
static inline int64_t subfile_place_offset(int64_t page, int64_t record, int64_t nblobs,
                                           int64_t blob)
{
    int64_t first = (INT64_C(1) << subfile_level(record)) - 1;
    return page + ((record - first) * nblobs + blob) * SUBFILE_PLACE;
}

/* Decodes n places. Returns false if any of them is invalid. */
bool subfile_places_decode(const struct cdf_superblock *e, struct subfile_place *list,
                           const unsigned char *bytes, int64_t n);
void subfile_place_encode(const struct cdf_superblock *e, const struct subfile_place *p,
                          unsigned char *bytes);

#endif
