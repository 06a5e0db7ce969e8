/* The journal's file, and what is done to the dataset on its behalf.
 *
 * Whatever is written here is on the device when the call returns, but for areas. The
 * dataset is opened with O_DSYNC, so that nobody waits for data that others have written
 * to it.
 *
 * Datasets lie where others may write, too. A journal that is not a regular file, or not
 * this user's or the dataset's owner's, is never read, written or removed. */
#define _GNU_SOURCE /* statx, fallocate, sync_file_range */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_path.h"
#include "cdf_envelope.h"
#include "journal.h"

enum { PIECE = 1 << 20, PAGE_OF_STATE = 1 };

/* ---- names and owners ---- */

/* Beside the file itself, whatever links lead there. */
static char *name_of(const char *dataset)
{
    char real[PATH_MAX];
    const char *path = realpath(dataset, real) == NULL ? dataset : real;
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    size_t size = strlen(path) + 32, length = strlen(base);
    char *name = base_malloc(size);
    if (name == NULL) return NULL;
    int n = (int)(base - path);
    if (length + sizeof ".redef" <= NAME_MAX)
        snprintf(name, size, "%s.redef", path);
    else
        snprintf(name, size, "%.*s%.200s.%016llx.redef", n, path, base,
                 (unsigned long long)base_hash(base, length, 0));
    return name;
}

int journal_init(struct journal *j, const char *dataset)
{
    *j = (struct journal){.fd = -1, .file = -1};
    j->of = base_path_absolute(dataset);
    j->path = j->of == NULL ? NULL : name_of(j->of);
    return j->path == NULL ? NC_ENOMEM : NC_NOERR;
}

void journal_free(struct journal *j)
{
    if (j->fd >= 0) close(j->fd);
    if (j->file >= 0) close(j->file);
    base_free(j->path);
    base_free(j->of);
    *j = (struct journal){.fd = -1, .file = -1};
}

/* When the file was made; 0: not every file system knows. */
static uint64_t birth_of(int fd)
{
#ifdef STATX_BTIME
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) == 0 &&
        (st.stx_mask & STATX_BTIME))
        return (uint64_t)(st.stx_btime.tv_sec * 1000000000LL + st.stx_btime.tv_nsec);
#endif
    return 0;
}

/* A pipe must not keep us waiting. */
static int open_file(const char *path, int flags)
{
    return open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
}

int journal_open_dataset(struct journal *j, uint64_t inode)
{
    struct stat st;
    j->file = open_file(j->of, O_RDWR | O_DSYNC);
    if (j->file < 0) return base_error_system(NC_EFILE, "opening", j->of);
    if (fstat(j->file, &st) != 0) return base_error_system(NC_EFILE, "looking at", j->of);
    if (!S_ISREG(st.st_mode) || (inode != 0 && (uint64_t)st.st_ino != inode))
        return base_error_set(NC_EFILE, "%s: another file has taken this name", j->of);
    unsigned char first[8] = {0};
    if (st.st_size >= (off_t)sizeof first) {
        int err = base_read_at(j->file, 0, first, sizeof first, j->of);
        if (err != NC_NOERR) return err; /* where the header is, is not known */
    }
    j->base = cdf_is_envelope(first, sizeof first) ? CDF_ENVELOPE : 0;
    j->facts.inode = (uint64_t)st.st_ino;
    j->facts.birth = birth_of(j->file);
    j->facts.old_size = j->facts.new_size = st.st_size - j->base;
    return NC_NOERR;
}

/* The journal's file, if it may be trusted; errno as of open. `owner` is the dataset's.
 */
static int open_trusted(const char *path, int flags, uid_t owner, const char **why)
{
    struct stat st;
    int fd = open_file(path, flags | O_NOFOLLOW);
    *why = fd >= 0 ? NULL : errno == ELOOP ? "it is a symbolic link" : strerror(errno);
    if (fd < 0) return -1;
    if (fstat(fd, &st) != 0)
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *why = "it is no regular file";
    else if (st.st_uid != geteuid() && st.st_uid != owner)
        *why = "it belongs to another user";
    if (*why == NULL) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

static uid_t owner_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_uid : geteuid();
}

/* Reads what the file says it is of. NULL, or what is wrong. */
static const char *read_facts(int fd, struct journal_facts *f, int64_t *size)
{
    unsigned char page[JOURNAL_PAGE] = {0};
    struct stat st;
    if (fstat(fd, &st) != 0) return strerror(errno);
    *size = st.st_size;
    ssize_t n = pread(fd, page, sizeof page, 0);
    if (n < 0) return strerror(errno);
    return journal_decode_facts(f, page, n < JOURNAL_PAGE ? n : st.st_size);
}

static bool same_file(const struct journal_facts *a, const struct journal_facts *b)
{
    return a->inode == b->inode &&
           (a->birth == 0 || b->birth == 0 || a->birth == b->birth);
}

/* ---- making ---- */

/* Blocks for length bytes at offset. */
static int reserve_space(int fd, int64_t at, int64_t length, const char *path)
{
#ifdef __linux__
    /* Not posix_fallocate: where the file system cannot, that writes to the file. */
    while (length > 0 && fallocate(fd, 0, at, length) != 0) {
        if (errno == EINTR) continue;
        if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return NC_NOERR;
        return base_error_system(NC_EWRITE, "making room in", path);
    }
#endif
    return NC_NOERR;
}

/* Where bytes are moved to; between records lies what is new, and will be written. */
static int reserve_moved(const struct journal *j, const struct cdf_header *before,
                         const struct cdf_header *after)
{
    struct cdf_move_state state = {0};
    struct cdf_move move;
    int64_t records = j->facts.new_size;
    int err = NC_NOERR;
    while (err == NC_NOERR && cdf_next_move(before, after, &state, &move)) {
        if (move.to >= after->begin_record)
            records = move.to;
        else
            err = reserve_space(j->file, j->base + move.to, move.length, j->of);
    }
    if (err != NC_NOERR) return err;
    return reserve_space(j->file, j->base + records, j->facts.new_size - records, j->of);
}

/* A number of records that was never written would be taken from the file's size. */
static int settle_numrecs(const struct journal *j, const struct cdf_header *before)
{
    unsigned char there[8], field[8];
    int width = cdf_encode_numrecs(before->format, before->numrecs, field);
    int err = base_read_at(j->file, j->base + 4, there, width, j->of);
    if (err != NC_NOERR || memcmp(there, field, (size_t)width) == 0) return err;
    return base_write_at(j->file, j->base + 4, field, width, j->of);
}

int journal_make_room(struct journal *j, const struct cdf_header *before,
                      const struct cdf_header *after)
{
    int err = settle_numrecs(j, before);
    int64_t wanted = cdf_file_size(after);
    if (err != NC_NOERR) return err;
    if (wanted > j->facts.new_size) j->facts.new_size = wanted;
    err = reserve_moved(j, before, after);
    struct stat st;
    if (err == NC_NOERR && (fstat(j->file, &st) != 0 || st.st_size < j->base + wanted) &&
        ftruncate(j->file, j->base + wanted) != 0)
        err = base_error_system(NC_EWRITE, "making room in", j->of);
    if (err != NC_NOERR) journal_drop(j);
    return err;
}

/* Of a dataset whose first byte is its own a journal says nothing that anybody needs; so
 * one of this very file goes, and one that is not complete, which was left while it was
 * made. Anything else is somebody's. */
static int remove_left(struct journal *j)
{
    struct journal_facts left = {0};
    const char *why;
    int64_t size = 0;
    int fd = open_trusted(j->path, O_RDONLY, owner_of(j->file), &why);
    if (fd >= 0) {
        unsigned char first = 0;
        const char *wrong = read_facts(fd, &left, &size);
        bool blank = pread(fd, &first, 1, 0) == 0 || first == 0;
        if (wrong == NULL && !same_file(&left, &j->facts))
            why = "it is of another file";
        else if (wrong != NULL && !blank)
            why = wrong;
        close(fd);
    }
    if (why == NULL && unlink(j->path) != 0) why = strerror(errno);
    if (why == NULL) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s is in the way of a redefinition: %s; see what it is, and "
                          "remove it",
                          j->path, why);
}

static int make_file(struct journal *j)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    j->fd = open_file(j->path, flags);
    if (j->fd >= 0) return NC_NOERR;
    if (errno != EEXIST) return base_error_system(NC_EFILE, "making", j->path);
    int err = remove_left(j);
    if (err != NC_NOERR) return err;
    j->fd = open_file(j->path, flags);
    return j->fd >= 0 ? NC_NOERR : base_error_system(NC_EFILE, "making", j->path);
}

/* Both headers and the fill modes, as bytes. */
static int gather_headers(const struct journal *j, const struct cdf_header *after,
                          unsigned char *bytes)
{
    const struct journal_facts *f = &j->facts;
    int err = base_read_at(j->file, j->base, bytes, f->before, j->of);
    if (err != NC_NOERR) return err;
    if (bytes[0] != 'C')
        return base_error_set(NC_EFILE, "%s was changed by somebody else", j->of);
    (void)cdf_encode_numrecs(after->format, after->numrecs, bytes + 4);
    cdf_encode(after, bytes + f->before);
    for (int id = 0; id < after->nvars; id++)
        bytes[f->before + f->after + id] = after->vars[id].fill;
    return NC_NOERR;
}

/* The first page comes last: a journal without it is none. */
static int fill_file(struct journal *j, const unsigned char *headers, int64_t n)
{
    unsigned char page[JOURNAL_PAGE];
    int64_t size = journal_size(&j->facts);
    int err = reserve_space(j->fd, 0, size, j->path);
    if (err == NC_NOERR && ftruncate(j->fd, size) != 0)
        err = base_error_system(NC_EWRITE, "making room in", j->path);
    if (err == NC_NOERR)
        err = base_write_at(j->fd, journal_headers_at(), headers, n, j->path);
    if (err == NC_NOERR) err = journal_record(j, j->state);
    journal_encode_facts(&j->facts, page);
    if (err == NC_NOERR) err = base_write_at(j->fd, 0, page, sizeof page, j->path);
    if (err == NC_NOERR) err = base_sync_data(j->fd, j->path);
    return err == NC_NOERR ? base_sync_directory(j->path) : err;
}

int journal_mark(struct journal *j)
{
    const unsigned char byte = CDF_MOVING;
    return base_write_at(j->file, j->base, &byte, 1, j->of);
}

int journal_start(struct journal *j, int64_t before, const struct cdf_header *after,
                  int64_t area, enum journal_phase phase)
{
    struct journal_facts *f = &j->facts;
    f->before = before;
    f->after = after->size;
    f->fills = after->nvars;
    f->area = area;
    j->state = (struct journal_state){.phase = phase};
    int64_t n = f->before + f->after + f->fills;
    unsigned char *headers = base_malloc((size_t)n);
    int err = headers == NULL ? NC_ENOMEM : make_file(j);
    if (err == NC_NOERR) err = gather_headers(j, after, headers);
    if (err == NC_NOERR) {
        f->sum = base_hash(headers, (size_t)n, 0);
        err = fill_file(j, headers, n);
    }
    /* Size and blocks of a room that was made are on the device, too. */
    if (err == NC_NOERR && f->new_size > f->old_size)
        err = base_sync_data(j->file, j->of);
    if (err == NC_NOERR) err = journal_mark(j);
    base_free(headers);
    if (err != NC_NOERR) journal_drop(j);
    return err;
}

/* Where the mark may have been written though that failed. */
static bool unmark(const struct journal *j)
{
    const unsigned char byte = 'C';
    unsigned char there = 0;
    if (j->fd < 0) return true;
    if (pread(j->file, &there, 1, (off_t)j->base) == 1 && there == byte) return true;
    return base_write_at(j->file, j->base, &byte, 1, j->of) == NC_NOERR;
}

void journal_drop(struct journal *j)
{
    struct stat st;
    if (j->file < 0) return;
    j->pending = !unmark(j);
    if (j->pending) return;
    if (fstat(j->file, &st) == 0 && st.st_size > j->base + j->facts.old_size)
        (void)!ftruncate(j->file, j->base + j->facts.old_size);
    if (j->fd < 0) return;
    (void)unlink(j->path);
    close(j->fd);
    j->fd = -1;
}

/* ---- the record, and the areas ---- */

/* What could not be written, wholly or in part, is written over by the next one. */
int journal_record(struct journal *j, struct journal_state s)
{
    unsigned char page[JOURNAL_PAGE];
    int64_t last = j->state.serial;
    s.serial = last + 1;
    journal_encode_state(&s, page);
    int64_t at = (PAGE_OF_STATE + s.serial % 2) * JOURNAL_PAGE;
    int err = base_write_at(j->fd, at, page, sizeof page, j->path);
    if (err == NC_NOERR) err = base_sync_data(j->fd, j->path);
    if (err != NC_NOERR) s.serial = last;
    j->state = s;
    return err;
}

int journal_read_area(struct journal *j, int area, int64_t at, void *bytes, int64_t n)
{
    return base_read_at(j->fd, journal_area_at(&j->facts, area) + at, bytes, n, j->path);
}

int journal_write_area(struct journal *j, int area, int64_t at, const void *bytes,
                       int64_t n)
{
    int64_t offset = journal_area_at(&j->facts, area) + at;
    j->dirty = true;
    int err = base_write_at(j->fd, offset, bytes, n, j->path);
#ifdef __linux__
    /* The device begins while the next bytes are fetched; what fails here the sync tells.
     */
    if (err == NC_NOERR) (void)sync_file_range(j->fd, offset, n, SYNC_FILE_RANGE_WRITE);
#endif
    return err;
}

int journal_sync_areas(struct journal *j)
{
    int err = j->dirty ? base_sync_data(j->fd, j->path) : NC_NOERR;
    if (err == NC_NOERR) j->dirty = false;
    return err;
}

int journal_join(struct journal *j)
{
    const char *why;
    if (j->fd >= 0) return NC_NOERR;
    struct stat st;
    uid_t owner = stat(j->of, &st) == 0 ? st.st_uid : geteuid();
    j->fd = open_trusted(j->path, O_RDWR, owner, &why);
    if (j->fd >= 0) return NC_NOERR;
    return base_error_set(NC_EFILE, "%s: %s", j->path, why);
}

/* ---- finding ---- */

static int refuse(const struct journal *j, const char *why)
{
    return base_error_set(NC_ENOTNC,
                          "%s: a redefinition of this dataset was interrupted, and its "
                          "journal %s is of no use: %s",
                          j->of, j->path, why);
}

/* The later of the two states that are whole. */
static bool read_state(struct journal *j)
{
    unsigned char page[JOURNAL_PAGE];
    struct journal_state s;
    j->state.serial = -1;
    for (int i = 0; i < 2; i++) {
        int64_t at = (PAGE_OF_STATE + i) * (int64_t)JOURNAL_PAGE;
        if (base_read_at(j->fd, at, page, sizeof page, j->path) == NC_NOERR &&
            journal_decode_state(&s, page, &j->facts) && s.serial > j->state.serial)
            j->state = s;
    }
    return j->state.serial >= 0;
}

int journal_find(struct journal *j)
{
    const struct journal_facts of = j->facts;
    const char *why;
    int64_t size;
    j->fd = open_trusted(j->path, O_RDWR, owner_of(j->file), &why);
    if (j->fd < 0) return refuse(j, why);
    why = read_facts(j->fd, &j->facts, &size);
    if (why == NULL && !same_file(&j->facts, &of)) why = "it is of another file";
    if (why == NULL && of.old_size < j->facts.old_size) why = "the dataset is shorter";
    if (why == NULL && !read_state(j)) why = "its state is damaged";
    return why == NULL ? NC_NOERR : refuse(j, why);
}

/* Until a new header is written, the old one is in the file, but for its first byte and
 * the number of records. */
static int compare_header(struct journal *j, const unsigned char *before)
{
    enum { FIXED = 12 };
    int64_t n = j->facts.before;
    if (j->state.phase > JOURNAL_FILLING || n <= FIXED) return NC_NOERR;
    unsigned char *there = base_malloc((size_t)n);
    if (there == NULL) return NC_ENOMEM;
    int err = base_read_at(j->file, j->base, there, n, j->of);
    if (err == NC_NOERR && memcmp(there + FIXED, before + FIXED, (size_t)n - FIXED) != 0)
        err = refuse(j, "it is of another header");
    base_free(there);
    return err;
}

int journal_read_headers(struct journal *j, unsigned char *bytes)
{
    const struct journal_facts *f = &j->facts;
    int64_t n = f->before + f->after + f->fills;
    int err = base_read_at(j->fd, journal_headers_at(), bytes, n, j->path);
    if (err != NC_NOERR) return err;
    if (base_hash(bytes, (size_t)n, 0) != f->sum)
        return refuse(j, "its headers are damaged");
    return compare_header(j, bytes);
}

/* ---- the end ---- */

/* All but the first byte of a header, from the journal. */
static int write_header(const struct journal *j, int64_t from, int64_t n)
{
    int64_t most = n < PIECE ? n : PIECE;
    unsigned char *piece = base_malloc((size_t)most);
    int err = piece == NULL ? NC_ENOMEM : NC_NOERR;
    for (int64_t at = 1, m; at < n && err == NC_NOERR; at += m) {
        m = n - at < most ? n - at : most;
        err = base_read_at(j->fd, journal_headers_at() + from + at, piece, m, j->path);
        if (err == NC_NOERR) err = base_write_at(j->file, j->base + at, piece, m, j->of);
    }
    base_free(piece);
    return err;
}

int journal_finish(struct journal *j)
{
    const unsigned char first = 'C';
    const struct journal_facts *f = &j->facts;
    bool commit = j->state.phase == JOURNAL_COMMITTING;
    int err = write_header(j, commit ? f->before : 0, commit ? f->after : f->before);
    if (err == NC_NOERR && !commit && f->new_size > f->old_size) {
        if (ftruncate(j->file, j->base + f->old_size) != 0)
            err = base_error_system(NC_EWRITE, "cutting", j->of);
        else
            err = base_sync_data(j->file, j->of);
    }
    if (err == NC_NOERR) err = base_write_at(j->file, j->base, &first, 1, j->of);
    if (err != NC_NOERR) return err;
    /* Should it stay, or come back with the power, it is of no meaning any more. */
    (void)unlink(j->path);
    (void)base_sync_directory(j->path);
    return NC_NOERR;
}

int journal_replace(struct journal *j, int64_t before, const struct cdf_header *after)
{
    int err = journal_start(j, before, after, 0, JOURNAL_COMMITTING);
    if (err != NC_NOERR) return err;
    err = journal_finish(j);
    if (err == NC_NOERR) return err;
    j->pending = journal_mark(j) != NC_NOERR ||
                 journal_record(j, (struct journal_state){.serial = j->state.serial,
                                                          .phase = JOURNAL_RETURNING}) !=
                     NC_NOERR ||
                 journal_finish(j) != NC_NOERR;
    return err;
}

char *journal_of(const char *dataset)
{
    struct journal j;
    struct journal_facts left = {0};
    const char *why;
    int64_t size;
    char *path = NULL;
    struct stat st;
    if (journal_init(&j, dataset) == NC_NOERR && lstat(j.path, &st) == 0) {
        j.file = open_file(j.of, O_RDONLY);
        if (j.file >= 0 && fstat(j.file, &st) == 0)
            j.fd = open_trusted(j.path, O_RDONLY, st.st_uid, &why);
        if (j.fd >= 0 && read_facts(j.fd, &left, &size) == NULL &&
            left.inode == (uint64_t)st.st_ino)
            path = base_strdup(j.path);
    }
    journal_free(&j);
    return path;
}

void journal_forget(char *path)
{
    if (path != NULL) (void)unlink(path);
    base_free(path);
}
