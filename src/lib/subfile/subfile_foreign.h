/* Datasets that other libraries stored in subfiles: E3SM-IO's blobs and PnetCDF's
 * subfiles. Builds the definitions of the whole dataset and locates its values. Such
 * files are only read, and everything in them is validated. No MPI. */
#ifndef SUBFILE_FOREIGN_H
#define SUBFILE_FOREIGN_H

#include "base_arena.h"
#include "cdf.h"
#include "subfile_decomp.h"

enum subfile_foreign_kind {
    SUBFILE_FOREIGN_NONE,
    SUBFILE_FOREIGN_E3SM,
    SUBFILE_FOREIGN_PNETCDF
};

/* Location of a variable's elements. */
struct subfile_location {
    int number; /* at least 1; variables with equal numbers are distributed alike */
    int dim;    /* for PnetCDF, the fixed dimension that is divided; -1 if none */
    const int64_t *low; /* start of each subfile's part of dim, then dim's length */
    int before;         /* previous variable with a new distribution; -1 if none */
    int64_t named;      /* number of elements in the files; E3SM's maps may omit some */
};

struct subfile_foreign {
    enum subfile_foreign_kind kind;
    bool stands_in; /* without a master file, the first subfile has the definitions */
    int nfiles;     /* number of files with values: the subfiles, then PnetCDF's master */
    int64_t nprocs, ndecomps; /* E3SM only */
    int nvars;
    struct subfile_location *locations; /* one for each variable of the whole dataset */
    int unlike; /* last divided variable with a new distribution; -1 if none */
    struct base_arena arena;
};

/* Returns whether the subfile's dataset was written by another library. */
static inline bool subfile_is_foreign(const struct subfile *s)
{
    return s->foreign->kind != SUBFILE_FOREIGN_NONE;
}

/* Returns which library wrote a file with this header. `stands_in` means that the file
 * was opened because there is no file with the dataset's own name. */
enum subfile_foreign_kind subfile_foreign_kind(const struct cdf_header *h,
                                               bool stands_in);

/* Returns whether a file of `size` bytes contains all values that its header defines. If
 * so, it is an ordinary file, even if it has E3SM's attributes. */
bool subfile_foreign_is_complete(const struct cdf_header *h, int64_t size);

/* Returns whether another library has stored the values of a dataset in subfiles, given
 * the header of a file of `size` bytes. */
bool subfile_foreign_is_parted(const struct cdf_header *h, bool stands_in, int64_t size);

/* Return names, which the caller frees. subfile_foreign_dataset returns the name of the
 * dataset that this file can represent; NULL if the file does not have the suffix of a
 * first subfile, or if out of memory. subfile_foreign_first returns the name of a
 * dataset's first subfile. */
char *subfile_foreign_dataset(const char *path);
char *subfile_foreign_first(const char *path);

/* Builds the definitions of the whole dataset, without records, with the layout of a
 * single file. h is the header of the master or of the file opened in its place; errors
 * name `path`. NC_ENOTNC, NC_ENOMEM. The caller must free f and whole in any case. */
int subfile_foreign_begin(struct subfile_foreign *f, const struct cdf_header *h,
                          bool stands_in, const char *path, struct cdf_header *whole);
void subfile_foreign_free(struct subfile_foreign *f);

/* Returns the number of subfiles, which come first in the list of files. */
int subfile_foreign_subfiles(const struct subfile_foreign *f);

/* Returns the path of file `number`, which the caller frees; NULL if out of memory. */
char *subfile_foreign_path(const struct subfile_foreign *f, const char *master,
                           int number);

/* Validates the header of file `number`. Sets varids[i] to the file's variable for
 * variable i of the whole dataset; -1 if the file has none or it is irrelevant. NC_ENOTNC
 * with a message that names the file. */
int subfile_foreign_list(const struct subfile_foreign *f, const struct cdf_header *whole,
                         const struct cdf_header *h, const char *path, int number,
                         int *varids);

/* Returns whether the header itself states that this is file `number`;
 * subfile_foreign_list checks only that it could be. varids is the list set by
 * subfile_foreign_list. */
bool subfile_foreign_is_numbered(const struct subfile_foreign *f,
                                 const struct cdf_header *h, int number,
                                 const int *varids);

/* Totals over the headers of all subfiles. `sums` is used only for subfiles of other
 * libraries: the number of blobs, then the number of elements of each decomposition.
 * `most` has the largest decomposition number (or number of records, for another
 * library), then for each variable the maximum of its decomposition's number, then for
 * each variable that of the negated number; the number is 0 without a committed
 * decomposition. */
struct subfile_tally {
    int64_t *sums, *most;
    int nsums, nmost;
};

/* Applies the totals over all files: sets the number of records and E3SM's locations.
 * NC_ENOTNC if the files are inconsistent. `path` is the dataset's path. */
int subfile_foreign_assign(struct subfile_foreign *f, struct cdf_header *whole,
                           const char *path, const struct subfile_tally *t);

/* Returns the number of a variable's decomposition in an E3SM file with header h; 0 if
 * there is none, -1 if it is invalid. */
int64_t subfile_foreign_number(const struct subfile_foreign *f,
                               const struct cdf_header *h, int id);

/* Returns whether a variable's values in file `number` are used. Other files may also
 * have values of the variable. */
bool subfile_foreign_is_used(const struct subfile_foreign *f, int varid, int number);

/* Describes in *d which values of a variable are in d->file. */
int subfile_foreign_decomp(int varid, struct subfile_decomp *d);

/* Checks that a file contains the n elements at `at` in a record of its variable `id`, to
 * which a map refers. NC_ENOTNC with a message. */
int subfile_foreign_check_size(const struct subfile *s, int id, int64_t record,
                               int64_t at, int64_t n);

/* Handles element `at` of a record, which is in no file. If the maps have fewer elements
 * than the variable (a land model has none at sea), the element reads as 0, as if no
 * process had put it. Otherwise returns NC_ENOTNC. */
int subfile_foreign_check_gap(const struct subfile_foreign *f,
                              const struct cdf_header *whole, const char *path, int varid,
                              int64_t record, int64_t at);

/* Checks that the index contains as many elements as the files claim. Must be called for
 * each part of the index, starting with element 0; *found accumulates the count.
 * NC_ENOTNC. */
int subfile_foreign_check_count(const struct subfile_foreign *f,
                                const struct cdf_header *whole, const char *path,
                                int varid, const struct subfile_index *x, int64_t *found);

#endif
