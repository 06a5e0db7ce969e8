/* Finding a journal and trusting it, and clearing away one that is left.
 *
 * Datasets lie where others may write, too. A journal that is not a regular file, or not
 * of a user who may write the dataset, is never read, written or removed. A journal has
 * the dataset's rights, so that any user who may write the dataset can finish its
 * redefinition, and nobody reads values in it who may not read them there. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_rights.h"
#include "journal_impl.h"

/* May a user who may write the dataset have made the file? Its group shows that, unless
 * more people may write the file than the dataset. */
static bool is_trusted(const struct stat *st, const struct stat *dataset)
{
    mode_t more = st->st_mode & ~dataset->st_mode & (S_IWGRP | S_IWOTH);
    if (st->st_uid == geteuid() || st->st_uid == dataset->st_uid) return true;
    if (dataset->st_mode & S_IWOTH) return true;
    return (dataset->st_mode & S_IWGRP) && st->st_gid == dataset->st_gid && more == 0;
}

int journal_open_trusted(const char *path, int flags, const struct stat *dataset,
                         const char **why)
{
    struct stat st;
    int fd = base_open(path, flags | O_NOFOLLOW);
    *why = fd >= 0 ? NULL : errno == ELOOP ? "it is a symbolic link" : strerror(errno);
    if (fd < 0) return -1;
    if (fstat(fd, &st) != 0)
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *why = "it is no regular file";
    else if (!is_trusted(&st, dataset))
        *why = "it belongs to another user";
    if (*why == NULL) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* Reads what the file says it is of. NULL, or what is wrong; *size is -1 where the system
 * does not let it be read. */
static const char *read_facts(int fd, struct journal_facts *f, int64_t *size)
{
    unsigned char page[JOURNAL_PAGE] = {0};
    struct stat st;
    *size = -1;
    if (fstat(fd, &st) != 0) return strerror(errno);
    int64_t n = base_read_some(fd, 0, page, sizeof page);
    if (n < 0) return strerror(errno);
    *size = st.st_size;
    return journal_decode_facts(f, page, n < JOURNAL_PAGE ? n : st.st_size);
}

static bool same_file(const struct journal_facts *a, const struct journal_facts *b)
{
    return a->inode == b->inode &&
           (a->birth == 0 || b->birth == 0 || a->birth == b->birth);
}

/* ---- finding ---- */

static int refuse_journal(const struct journal *j, const char *why)
{
    return base_error_set(NC_ENOTNC,
                          "%s: a redefinition of this dataset was interrupted, and its "
                          "journal %s cannot be used: %s",
                          j->of, j->path, why);
}

static bool read_found_holder(struct journal *j)
{
    unsigned char page[JOURNAL_PAGE];
    int64_t at = JOURNAL_HOLDER_PAGE * (int64_t)JOURNAL_PAGE;
    return base_read_at(j->fd, at, page, sizeof page, j->path) == NC_NOERR &&
           journal_decode_holder(&j->holder, page);
}

bool journal_read_state(struct journal *j)
{
    unsigned char page[JOURNAL_PAGE];
    struct journal_state s;
    if (base_read_at(j->file, j->base, j->head, sizeof j->head, j->of) != NC_NOERR)
        return false;
    uint64_t name = journal_decode_mark(j->head);
    for (int i = 0; i < 2; i++) {
        int64_t at = (JOURNAL_STATE_PAGE + i) * (int64_t)JOURNAL_PAGE;
        if (base_read_at(j->fd, at, page, sizeof page, j->path) != NC_NOERR ||
            !journal_decode_state(&s, page, &j->facts))
            continue;
        j->named = name - (uint64_t)s.serial;
        j->state = s;
        if (name != 0 && (j->named == j->holder.owner.nonce ||
                          (j->named == j->holder.earlier && j->named != 0)))
            return true;
    }
    return false;
}

int journal_find(struct journal *j)
{
    const struct journal_facts of = j->facts;
    const char *why;
    int64_t size;
    j->fd = journal_open_trusted(j->path, O_RDWR, &j->model, &why);
    if (j->fd < 0) return refuse_journal(j, why);
    why = read_facts(j->fd, &j->facts, &size);
    if (why == NULL && !same_file(&j->facts, &of)) why = "it is of another file";
    /* Where only the header is replaced, values that nobody had synced may be missing
     * from the end since the power went: that is no matter of the journal's. */
    if (why == NULL && j->facts.new_size > j->facts.old_size &&
        of.old_size < j->facts.old_size)
        why = "the dataset is shorter";
    if (why == NULL && !read_found_holder(j)) why = "the record of its owner is damaged";
    j->state.phase = JOURNAL_NONE;
    if (why == NULL && !journal_read_state(j))
        why = j->state.phase == JOURNAL_NONE
                  ? "its state is damaged"
                  : "it is that of another redefinition, or of another time";
    return why == NULL ? NC_NOERR : refuse_journal(j, why);
}

/* Until a new header is written, the old one is in the file behind the mark; while new
 * variables are filled, what the new one does not need of it is emptied. */
static int compare_header(struct journal *j, const unsigned char *before)
{
    enum { FIXED = JOURNAL_MARK };
    const struct journal_facts *f = &j->facts;
    int64_t n = f->before < f->after ? f->before : f->after;
    if (j->state.phase > JOURNAL_FILLING || n <= FIXED) return NC_NOERR;
    unsigned char *there = base_malloc((size_t)n);
    if (there == NULL) return NC_ENOMEM;
    int err = base_read_at(j->file, j->base, there, n, j->of);
    if (err == NC_NOERR && memcmp(there + FIXED, before + FIXED, (size_t)n - FIXED) != 0)
        err = refuse_journal(j, "it is of another header");
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
        return refuse_journal(j, "its headers are damaged");
    return compare_header(j, bytes);
}

/* ---- what is left ---- */

/* Is it still being made, where no lock tells? Its first page comes last. */
static bool may_be_used(const struct journal *j, int fd, bool blank)
{
    enum { FRESH = 60 };
    unsigned char page[JOURNAL_PAGE];
    struct journal_holder h;
    struct stat st;
    if (j->guard >= 0 &&
        base_lock_look(j->guard, BASE_LOCK_LAYOUT, false) != BASE_LOCKLESS)
        return false; /* this opening has the lock */
    int64_t at = JOURNAL_HOLDER_PAGE * (int64_t)JOURNAL_PAGE;
    if (base_read_some(fd, at, page, sizeof page) == sizeof page &&
        journal_decode_holder(&h, page))
        return !h.released && base_owner_alive(&h.owner) != BASE_DEAD;
    return blank && fstat(fd, &st) == 0 && time(NULL) - st.st_mtime < FRESH;
}

/* Its dataset may have got another name, and may want it back. */
static const char *set_journal_aside(const struct journal *j, uint64_t sum)
{
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%s.%016llx", j->path, (unsigned long long)sum);
    return rename(j->path, name) == 0 ? NULL : strerror(errno);
}

/* NULL, or why it stays. */
static const char *clear(const struct journal *j, int fd)
{
    struct journal_facts left = {0};
    char first[7] = "";
    int64_t size = 0;
    const char *wrong = read_facts(fd, &left, &size);
    if (size < 0) return wrong;
    bool blank = base_read_some(fd, 0, first, sizeof first) <= 0 || first[0] == '\0';
    if (may_be_used(j, fd, blank)) return "another process uses it";
    if (wrong == NULL ? same_file(&left, &j->facts) : blank)
        return unlink(j->path) == 0 ? NULL : strerror(errno);
    if (wrong != NULL && !journal_is_named(first)) return wrong;
    return set_journal_aside(j, base_hash(&left, sizeof left, (uint64_t)size));
}

int journal_clear(struct journal *j)
{
    const char *why;
    int fd = journal_open_trusted(j->path, O_RDONLY, &j->model, &why);
    if (fd >= 0) {
        why = clear(j, fd);
        close(fd);
    }
    if (why == NULL) return NC_NOERR;
    return base_error_set(
        NC_EFILE, "cannot redefine: %s already exists (%s); inspect and remove it",
        j->path, why);
}

void journal_tidy(int guard, const char *dataset)
{
    struct journal j;
    struct stat st;
    if (journal_init(&j, dataset) == NC_NOERR && lstat(j.path, &st) == 0 &&
        journal_open_dataset(&j, 0) == NC_NOERR) {
        unsigned char head[JOURNAL_MARK] = "";
        j.guard = guard;
        if (base_read_some(j.file, j.base, head, sizeof head) == sizeof head &&
            head[0] == 'C')
            (void)journal_clear(&j);
    }
    journal_free(&j);
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
        j.file = base_open(j.of, O_RDONLY);
        if (j.file >= 0 && fstat(j.file, &st) == 0)
            j.fd = journal_open_trusted(j.path, O_RDONLY, &st, &why);
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
