/* What goes with a dataset that is deleted, or made anew: of the files beside it those
 * that are surely its own, by what their headers say. Any other is somebody's. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "blob.h"
#include "blob_source.h"

/* ---- headers ---- */

/* The first bytes, more and more of them until the header is complete; *is: there is one
 * that can be decoded. */
static int decode_head(int fd, const char *path, int64_t size, struct cdf_header *h,
                       bool *is)
{
    enum { FIRST_READ = 1 << 16, GROWTH = 4 };
    unsigned char *bytes = NULL;
    int err = NC_NOERR, status = CDF_MORE;
    for (int64_t n = FIRST_READ; err == NC_NOERR && status == CDF_MORE; n *= GROWTH) {
        if (n > size) n = size;
        unsigned char *grown = base_realloc(bytes, (size_t)n);
        if (grown == NULL) err = NC_ENOMEM;
        if (grown != NULL) bytes = grown;
        if (err == NC_NOERR) err = base_read_at(fd, 0, bytes, n, path);
        if (err == NC_NOERR) status = cdf_decode(h, bytes, (size_t)n, size, NULL);
    }
    base_free(bytes);
    if (status == NC_ENOMEM) err = status;
    *is = err == NC_NOERR && status == NC_NOERR;
    return err;
}

/* What is at a path: *is, a dataset with this header; and how many bytes it has, -1: it
 * is no file. An error: nobody knows. The header is to be freed, also then. */
static int read_dataset_head(const char *path, struct cdf_header *h, int64_t *size,
                             bool *is)
{
    struct stat st;
    cdf_init(h, 1);
    *size = -1;
    *is = false;
    int fd = base_open(path, O_RDONLY);
    if (fd < 0) return base_error_system(NC_EFILE, "opening", path);
    int err =
        fstat(fd, &st) == 0 ? NC_NOERR : base_error_system(NC_EFILE, "asking", path);
    if (err == NC_NOERR && S_ISREG(st.st_mode)) *size = st.st_size;
    if (*size > 0) err = decode_head(fd, path, *size, h, is);
    (void)close(fd);
    return err;
}

/* A file that is not there is none to be removed. */
static int remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return NC_NOERR;
    return base_error_system(NC_EFILE, "removing", path);
}

/* ---- this library's ---- */

static int remove_own(const char *path, const struct cdf_envelope *e, int number)
{
    struct cdf_header h;
    int64_t size;
    bool is;
    int err = read_dataset_head(path, &h, &size, &is);
    bool own = is ? blob_source_foreign(&h, e, number) == NULL : blob_source_blank(path);
    cdf_free(&h);
    if (err == NC_ENOENT) return NC_NOERR;
    return err == NC_NOERR && own ? remove_file(path) : err;
}

int blob_remove_subfiles(const char *master, const struct cdf_envelope *e)
{
    char *joining = blob_source_joining(master, e);
    int first = joining == NULL ? NC_ENOMEM : remove_file(joining);
    base_free(joining);
    for (int64_t i = 0; i < e->nsubfiles; i++) {
        char *path = blob_source_path(master, (int)i);
        int err = path == NULL ? NC_ENOMEM : NC_NOERR;
        if (err == NC_NOERR) err = remove_own(path, e, (int)i);
        base_free(path);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

/* ---- other libraries' ---- */

/* A dataset that is read as one. */
struct parted {
    struct cdf_header head, whole;
    struct blob_foreign foreign;
    char *master;
    int *varids;
};

static int remove_part(struct parted *d, const char *path, int number, bool *any)
{
    const struct blob_foreign *f = &d->foreign;
    struct cdf_header h;
    int64_t size;
    bool is;
    int err = read_dataset_head(path, &h, &size, &is);
    is = is && blob_foreign_list(f, &d->whole, &h, path, number, d->varids) == NC_NOERR &&
         blob_foreign_tells(f, &h, number, d->varids);
    cdf_free(&h);
    if (err == NC_ENOENT) return NC_NOERR;
    if (err != NC_NOERR || !is) return err;
    *any = true;
    return remove_file(path);
}

static int remove_subfiles(struct parted *d, bool *any)
{
    int first = NC_NOERR, n = blob_foreign_subfiles(&d->foreign);
    for (int i = 0; i < n; i++) {
        char *path = blob_foreign_path(&d->foreign, d->master, i);
        int err = path == NULL ? NC_ENOMEM : remove_part(d, path, i, any);
        base_free(path);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

/* The header that tells of the dataset: of the file, or, where there is none, of its
 * first subfile. False: it is no dataset in subfiles. */
static bool find_parted(const char *path, struct parted *d, bool *stands_in)
{
    int64_t size;
    bool is;
    *stands_in = read_dataset_head(path, &d->head, &size, &is) == NC_ENOENT;
    if (*stands_in) {
        char *first = blob_foreign_first(path);
        cdf_free(&d->head);
        if (first == NULL || read_dataset_head(first, &d->head, &size, &is) != NC_NOERR)
            is = false;
        base_free(first);
    }
    if (!is) return false;
    enum blob_foreign_kind kind = blob_foreign_kind(&d->head, *stands_in);
    bool complete = !*stands_in && blob_foreign_is_complete(&d->head, size);
    return kind == BLOB_FOREIGN_PNETCDF || (kind == BLOB_FOREIGN_E3SM && !complete);
}

static int take_dataset(const char *path, struct parted *d, bool stands_in)
{
    int err = blob_foreign_begin(&d->foreign, &d->head, stands_in, path, &d->whole);
    d->master = stands_in ? base_strdup(path) : blob_sub_master(path);
    d->varids = base_malloc((size_t)(d->whole.nvars + 1) * sizeof *d->varids);
    return d->master == NULL || d->varids == NULL ? NC_ENOMEM : err;
}

/* One that could not be read has no parts that are surely its own. Programs make E3SM's
 * subfiles themselves, by their names, and may do so before they make the file that tells
 * of them: these stay when that is made anew. */
static int remove_foreign(const char *path, bool anew, bool *all)
{
    struct parted d = {.master = NULL};
    bool stands_in, any = false;
    int err = NC_NOERR;
    cdf_init(&d.whole, 1);
    if (find_parted(path, &d, &stands_in) &&
        !(anew && blob_foreign_kind(&d.head, stands_in) == BLOB_FOREIGN_E3SM)) {
        cdf_free(&d.whole);
        int taken = take_dataset(path, &d, stands_in);
        if (taken == NC_NOERR) err = remove_subfiles(&d, &any);
        if (taken == NC_ENOMEM) err = taken;
        *all = stands_in && any;
    }
    blob_foreign_free(&d.foreign);
    cdf_free(&d.whole);
    cdf_free(&d.head);
    base_free(d.master);
    base_free(d.varids);
    return err;
}

/* ---- both ---- */

static int remove_parts(const char *path, bool anew, bool *all)
{
    struct cdf_envelope e;
    *all = false;
    if (blob_source_envelope(path, &e) != NC_NOERR)
        return remove_foreign(path, anew, all);
    char *master = blob_sub_master(path);
    int err = master == NULL ? NC_ENOMEM : blob_remove_subfiles(master, &e);
    base_free(master);
    return err;
}

/* Quietly: most files have none, and other words must stay. */
int blob_remove_parts(const char *path, bool anew, bool *all)
{
    struct base_error_note words;
    base_error_keep(&words);
    int err = remove_parts(path, anew, all);
    if (err == NC_NOERR) base_error_restore(&words);
    return err;
}
