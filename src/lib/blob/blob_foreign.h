/* Datasets in subfiles that other libraries wrote: E3SM-IO's blobs, PnetCDF's subfiles.
 * What one is as a whole, and where its values are. Only read; nothing in them is
 * believed. No MPI. */
#ifndef BLOB_FOREIGN_H
#define BLOB_FOREIGN_H

#include "base_arena.h"
#include "blob_source.h"
#include "cdf.h"

enum blob_foreign_kind { BLOB_FOREIGN_NONE, BLOB_FOREIGN_E3SM, BLOB_FOREIGN_PNETCDF };

/* Where a variable's elements are. */
struct blob_home {
    int number;         /* 1 or more: those of one number are dealt out alike */
    int dim;            /* PnetCDF: the fixed dimension that is divided; -1: none is */
    const int64_t *low; /* of it: where each subfile's part begins; at last its length */
    int before;    /* the one before it that is like none before; -1: it was the first */
    int64_t named; /* elements that the files have of it; fewer than all: E3SM's maps */
};

struct blob_foreign {
    enum blob_foreign_kind kind;
    bool stands_in; /* there is no master file: the first subfile tells the definitions */
    int nfiles;     /* with values: subfiles; PnetCDF's master is one more, the last */
    int64_t nprocs, ndecomps; /* E3SM's */
    int nvars;
    struct blob_home *homes; /* of each variable of the whole */
    int unlike;              /* the last divided one that is like none before; -1 */
    struct base_arena arena;
};

/* Whose is a file with this header? stands_in: it was opened because the dataset's own
 * name has no file. */
enum blob_foreign_kind blob_foreign_kind(const struct cdf_header *h, bool stands_in);

/* Has a file of so many bytes all values that its header tells of? Then it is an ordinary
 * one, whatever E3SM's attributes say. */
bool blob_foreign_is_complete(const struct cdf_header *h, int64_t size);

/* What such a file is in place of; NULL: its name ends otherwise, or no memory. The
 * caller frees it, and the name of the first subfile, which may be one. */
char *blob_foreign_stood_for(const char *path);
char *blob_foreign_first(const char *path);

/* The dataset as a whole, of no records yet, laid out as one file; h is the master's
 * header, or its stand-in's, path names that file in errors. NC_ENOTNC, NC_ENOMEM. Both
 * are to be freed, also after an error. */
int blob_foreign_begin(struct blob_foreign *f, const struct cdf_header *h, bool stands_in,
                       const char *path, struct cdf_header *whole);
void blob_foreign_free(struct blob_foreign *f);

/* How many of its files are subfiles: those before the others. */
int blob_foreign_subfiles(const struct blob_foreign *f);

/* The name of one of its files; NULL: no memory. The caller frees it. */
char *blob_foreign_path(const struct blob_foreign *f, const char *master, int number);

/* Is this the header of file `number`? varids: its variable for each of the whole; -1:
 * none, or it is of no account. NC_ENOTNC names the file. */
int blob_foreign_list(const struct blob_foreign *f, const struct cdf_header *whole,
                      const struct cdf_header *h, const char *path, int number,
                      int *varids);

/* Does it say so itself, beyond being like it? varids are of the list. */
bool blob_foreign_tells(const struct blob_foreign *f, const struct cdf_header *h,
                        int number, const int *varids);

/* What all files say together: of sums the sum over them, of most the largest. */
struct blob_tally {
    int64_t *sums, *most;
    int nsums, nmost;
};
int blob_tally_begin(struct blob_tally *t, const struct blob_foreign *f);
void blob_tally_add(struct blob_tally *t, const struct blob_foreign *f,
                    const struct cdf_header *h, const int *varids);
void blob_tally_free(struct blob_tally *t);

/* Takes what they say: the number of records, and E3SM's homes. NC_ENOTNC where it does
 * not go together; path is the dataset's. */
int blob_foreign_settle(struct blob_foreign *f, struct cdf_header *whole,
                        const char *path, const struct blob_tally *t);

/* Has file `number` values of a variable that count? Others may have some, too. */
bool blob_foreign_counts(const struct blob_foreign *f, int varid, int number);

/* What file s->sub has of a variable, its own `id`; s has all but that. */
int blob_foreign_source(const struct blob_foreign *f, const struct cdf_header *whole,
                        int varid, int id, struct blob_source *s);

/* Can n elements be read that a map has at `at` of record `record` of its variable `id`,
 * in a file of so many bytes? NC_ENOTNC with words. */
int blob_foreign_reaches(const struct cdf_header *h, const char *path, int64_t size,
                         int id, int64_t record, int64_t at, int64_t n);

/* No file has element `at` of a record of a variable. Where the variable's maps are of
 * fewer elements than it has (land in a model of the land) that one is 0, as in a file
 * that nobody has put it into; else NC_ENOTNC. */
int blob_foreign_hole(const struct blob_foreign *f, const struct cdf_header *whole,
                      const char *path, int varid, int64_t record, int64_t at);

/* Have all files together, as the index tells, the elements that they say? Called for one
 * part of the index after the other, from element 0 on; *found is for that. NC_ENOTNC. */
int blob_foreign_count(const struct blob_foreign *f, const struct cdf_header *whole,
                       const char *path, int varid, const struct blob_index *x,
                       int64_t *found);

#endif
