/* Removes the parts of a dataset that is being deleted or replaced. Removes only files
 * whose headers prove that they belong to the dataset, because any other file may contain
 * someone else's data. Also acquires the lease, both for removing and for opening. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_number.h"
#include "blob.h"
#include "blob_lease.h"
#include "file_identity.h"
#include "subfile_digest.h"

/* ---- headers ---- */

/* Reads the header of the file at a path, in growing pieces until it is complete. Sets
 * *is to whether the header is valid, and *size to the file's size in bytes, or -1 if it
 * is not a regular file. After an error the contents are unknown. The caller frees h. */
static int read_dataset_head(const char *path, struct cdf_header *h, int64_t *size,
                             bool *is)
{
    enum { FIRST_READ = 1 << 16, GROWTH = 4 };
    struct stat st;
    unsigned char *bytes = NULL;
    int err = NC_NOERR, status = CDF_MORE, fd = base_open(path, O_RDONLY);
    cdf_init(h, 1);
    *size = -1;
    *is = false;
    if (fd < 0) return base_error_system(NC_EFILE, "opening", path);
    if (fstat(fd, &st) != 0) err = base_error_system(NC_EFILE, "examining", path);
    if (err == NC_NOERR && S_ISREG(st.st_mode)) *size = st.st_size;
    for (int64_t n = FIRST_READ; *size > 0 && err == NC_NOERR && status == CDF_MORE;
         n *= GROWTH) {
        if (n > *size) n = *size;
        unsigned char *grown = base_realloc(bytes, (size_t)n);
        if (grown == NULL) err = NC_ENOMEM;
        if (grown != NULL) bytes = grown;
        if (err == NC_NOERR) err = base_read_at(fd, 0, bytes, n, path);
        if (err == NC_NOERR) status = cdf_decode(h, bytes, (size_t)n, *size, NULL);
    }
    base_free(bytes);
    (void)close(fd);
    if (status == NC_ENOMEM) err = status;
    *is = err == NC_NOERR && status == NC_NOERR;
    return err;
}

/* Removes a file. It is not an error if the file is missing. */
static int remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return NC_NOERR;
    return base_error_system(NC_EFILE, "removing", path);
}

/* ---- subfiles ---- */

/* A dataset of another library, with the definitions of the whole dataset. */
struct parted {
    struct cdf_header head, whole;
    struct subfile_foreign foreign;
    char *master;
    int *varids;
};

/* Returns whether a file is subfile i of the dataset with page e or, if e is NULL, of
 * dataset d. `h` is the file's header; NULL if invalid. */
static bool is_own(const char *path, struct cdf_header *h, int i,
                   const struct cdf_superblock *e, const struct parted *d)
{
    if (e != NULL)
        return h == NULL ? subfile_is_blank(path) : subfile_check_header(h, e, i) == NULL;
    return h != NULL &&
           subfile_foreign_list(&d->foreign, &d->whole, h, path, i, d->varids) ==
               NC_NOERR &&
           subfile_foreign_is_numbered(&d->foreign, h, i, d->varids);
}

/* Removes the subfiles. Sets *any if there was at least one. The first subfile goes last:
 * if the removal is interrupted, a later create finds this subfile and is refused before
 * it changes the master. */
static int remove_subfiles(const char *master, const struct cdf_superblock *e,
                           const struct parted *d, bool *any)
{
    int first = NC_NOERR;
    int64_t n = e != NULL ? e->nsubfiles : subfile_foreign_subfiles(&d->foreign);
    for (int64_t i = n - 1; i >= 0; i--) {
        struct cdf_header h;
        int64_t size;
        bool is;
        char *path = e != NULL ? subfile_path(master, (int)i)
                               : subfile_foreign_path(&d->foreign, master, (int)i);
        int err = path == NULL ? NC_ENOMEM : read_dataset_head(path, &h, &size, &is);
        if (path != NULL) {
            bool own = err == NC_NOERR && is_own(path, is ? &h : NULL, (int)i, e, d);
            cdf_free(&h);
            *any = *any || own;
            if (own) err = remove_file(path);
            if (err == NC_ENOENT) err = NC_NOERR;
        }
        base_free(path);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

int blob_remove_subfiles(const char *master, const struct cdf_superblock *e)
{
    bool any = false;
    char *joining = subfile_join_path(master, e);
    int first = joining == NULL ? NC_ENOMEM : remove_file(joining);
    base_free(joining);
    int err = remove_subfiles(master, e, NULL, &any);
    return first != NC_NOERR ? first : err;
}

/* Finds the header that defines the dataset: the file's own or, if the file does not
 * exist, that of its first subfile. Returns false if the dataset has no subfiles. */
static bool find_parted(const char *path, struct parted *d, bool *stands_in)
{
    int64_t size;
    bool is;
    *stands_in = read_dataset_head(path, &d->head, &size, &is) == NC_ENOENT;
    if (*stands_in) {
        char *first = subfile_foreign_first(path);
        cdf_free(&d->head);
        if (first == NULL || read_dataset_head(first, &d->head, &size, &is) != NC_NOERR)
            is = false;
        base_free(first);
    }
    return is && subfile_foreign_is_parted(&d->head, *stands_in, size);
}

/* Removes the parts of another library's dataset. No-op if the dataset cannot be read.
 * Programs create E3SM's subfiles themselves, by name, possibly before the master. So
 * these are not removed when the master is replaced. */
static int remove_foreign(const char *path, bool anew, bool *all)
{
    struct parted d = {.master = NULL};
    bool stands_in, any = false;
    int err = NC_NOERR;
    cdf_init(&d.whole, 1);
    if (find_parted(path, &d, &stands_in) &&
        !(anew && subfile_foreign_kind(&d.head, stands_in) == SUBFILE_FOREIGN_E3SM)) {
        cdf_free(&d.whole);
        int begun = subfile_foreign_begin(&d.foreign, &d.head, stands_in, path, &d.whole);
        d.master = stands_in ? base_strdup(path) : blob_sub_master(path);
        d.varids = base_malloc((size_t)(d.whole.nvars + 1) * sizeof *d.varids);
        if (d.master == NULL || d.varids == NULL) begun = NC_ENOMEM;
        if (begun == NC_NOERR) err = remove_subfiles(d.master, NULL, &d, &any);
        if (begun == NC_ENOMEM) err = begun;
        *all = stands_in && any;
    }
    subfile_foreign_free(&d.foreign);
    cdf_free(&d.whole);
    cdf_free(&d.head);
    base_free(d.master);
    base_free(d.varids);
    return err;
}

int blob_remove_parts(const char *path, bool anew, bool *all)
{
    struct cdf_superblock e;
    *all = false;
    if (subfile_read_superblock(path, &e) != NC_NOERR)
        return remove_foreign(path, anew, all);
    char *master = blob_sub_master(path);
    int err = master == NULL ? NC_ENOMEM : blob_remove_subfiles(master, &e);
    base_free(master);
    return err;
}

/* ---- checks before anything is removed ---- */

/* Checks that this process may create files in the directory. Sets *sticky to true if it
 * may not remove other users' files there, because only the owner of a file or of the
 * directory can do that. */
static int check_folder(const char *master, bool *sticky)
{
    char folder[PATH_MAX] = ".";
    struct stat st;
    const char *slash = strrchr(master, '/');
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s/", (int)(slash - master), master);
    bool may = faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0;
    if (!may || stat(folder, &st) != 0)
        return base_error_system(NC_EFILE, "changing the files in", folder);
    *sticky = (st.st_mode & S_ISVTX) != 0 && geteuid() != 0 && st.st_uid != geteuid();
    return NC_NOERR;
}

/* Checks that a file can be removed and replaced if it is a subfile of the replaced
 * dataset. Sets *there to whether a file with that name exists. */
static int check_subfile(const char *path, const struct cdf_superblock *e, int number,
                         bool sticky, const struct dataset *anew, bool *there)
{
    struct stat st;
    struct cdf_header h;
    int64_t size;
    bool is;
    *there = lstat(path, &st) == 0;
    if (!*there) return NC_NOERR;
    int err = read_dataset_head(path, &h, &size, &is);
    bool own = is && e != NULL && subfile_check_header(&h, e, number) == NULL;
    cdf_free(&h);
    own = own || subfile_is_blank(path);
    if (own && sticky && st.st_uid != geteuid())
        return base_error_set(NC_EACCESS, "%s: only its owner may remove it", path);
    return own || anew == NULL ? err : blob_sub_refuse_foreign(anew, path);
}

/* Checks that all parts of the dataset can be removed. An empty file has no parts. If a
 * dataset in subfiles will replace it, `anew` is that dataset; otherwise NULL. */
static int check_parts(const char *path, const struct dataset *anew)
{
    struct cdf_superblock e;
    struct stat st;
    if (stat(path, &st) != 0 || st.st_size == 0) return NC_NOERR;
    bool has = subfile_read_superblock(path, &e) == NC_NOERR, there = true,
         sticky = false;
    if (!has && anew == NULL) return NC_NOERR;
    char *master = blob_sub_master(path);
    int err = master == NULL ? NC_ENOMEM : check_folder(master, &sticky);
    int64_t n = has ? e.nsubfiles : 0, most = anew == NULL ? 0 : anew->nprocs;
    for (int64_t i = 0; err == NC_NOERR && (i < n || (i < most && there)); i++) {
        char *sub = subfile_path(master, (int)i);
        err = sub == NULL
                  ? NC_ENOMEM
                  : check_subfile(sub, i < n ? &e : NULL, (int)i, sticky, anew, &there);
        base_free(sub);
    }
    base_free(master);
    return err;
}

/* ---- the lease ---- */

/* Returns whether the master is empty, has no header yet, or is being redefined. */
static bool is_unfinished(int fd)
{
    unsigned char head[12] = {0};
    int64_t n = base_read_some(fd, 0, head, sizeof head);
    if (n == 0) return true;
    if (n < 0 || !cdf_is_superblock(head, (size_t)n)) return false;
    memset(head, 0, sizeof head);
    n = base_read_some(fd, CDF_SUPERBLOCK, head, sizeof head);
    return n >= 0 && (head[0] == 0 || cdf_is_moving(head, sizeof head));
}

bool blob_is_wanted(const struct dataset *ds, bool create)
{
    const struct hints *h = &ds->hints;
    bool subfiles = h->subfiling == HINTS_ENABLE && h->num_subfiles > 1;
    if (ds->netcdf4 != 0) return false;
    if (!create && ds->base > 0) return true;
    if (!create)
        return ds->is_stand_in ||
               subfile_foreign_kind(&ds->header, false) != SUBFILE_FOREIGN_NONE;
    return (h->blob == HINTS_ENABLE || subfiles) && !h->no_indep_rw;
}

/* A reader waits for up to a second if a job is creating or redefining the dataset. A
 * process that may remove the file but not write to it only checks that no other job owns
 * the dataset. */
int blob_acquire(const struct dataset *ds, int fd, enum driver_intent intent,
                 struct blob_lease **lease)
{
    enum { TURNS = 200 };
    bool anew = intent == DRIVER_REPLACE && blob_is_wanted(ds, true);
    int err = NC_NOERR;
    if (intent == DRIVER_READ) {
        for (int i = 0;
             i < TURNS && fd >= 0 && is_unfinished(fd) && blob_lease_is_held(fd); i++)
            base_sleep_us(5000);
        return NC_NOERR;
    }
    if (intent == DRIVER_DELETE) {
        err = file_check_type(ds->full_path);
        if (err == NC_NOERR) {
            /* Locks an ordinary file, too, because a create may turn it into a dataset in
             * subfiles before it is removed. */
            err = blob_lease_acquire(ds->full_path, -1, CDF_DELETES, true, lease);
            if (err == NC_ENOENT) err = NC_NOERR;
            if (err == NC_EACCESS) err = blob_lease_look(ds->full_path);
        }
    } else if (anew || fd < 0 || (!base_is_empty(fd) && file_has_subfiles(fd)) ||
               blob_lease_is_held(fd)) {
        err = blob_lease_acquire(ds->full_path, fd, CDF_WRITES, anew, lease);
    }
    if (err == NC_ENOENT && fd < 0) err = NC_NOERR;
    if (err == NC_NOERR && intent != DRIVER_WRITE) {
        err = check_parts(ds->full_path, anew ? ds : NULL);
        if (err == NC_NOERR) return NC_NOERR;
        blob_release(*lease);
        *lease = NULL;
    }
    return err;
}

void blob_release(struct blob_lease *lease)
{
    (void)blob_lease_release(lease, NULL, true);
}
