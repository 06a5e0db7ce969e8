/* Clears a journal that was left next to a dataset. Compares the dataset's first bytes
 * with the headers in the journal. Removes the journal only if this proves that the
 * redefinition ended, or if the journal was never completed. Renames a journal that
 * belongs to another file: its dataset may have been renamed. */
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

/* Returns whether some process may be creating or using the journal although no lock
 * shows it. The first page is written last, so a journal whose first page is blank may
 * still be under construction. */
static bool may_be_used(const struct journal *j, int fd, bool blank)
{
    enum { FRESH = 60 };
    struct journal_record h;
    struct stat st;
    if (j->guard >= 0 &&
        base_lock_test(j->guard, BASE_LOCK_LAYOUT, false) != BASE_LOCKLESS)
        return false; /* this process has the lock */
    if (journal_read_record(fd, &h))
        return !h.released && base_owner_alive(&h.owner) != BASE_DEAD;
    return blank && fstat(fd, &st) == 0 && time(NULL) - st.st_mtime < FRESH;
}

/* Renames the journal instead of removing it: its dataset may have been renamed and may
 * still need the journal. */
static const char *rename_journal(const struct journal *j, uint64_t sum)
{
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%s.%016llx", j->path, (unsigned long long)sum);
    return rename(j->path, name) == 0 ? NULL : strerror(errno);
}

/* Compares the dataset's first bytes with the journal next to it, if the journal is
 * intact and belongs to the same file. */
static enum journal_head classify_head(const struct journal *j, int fd)
{
    struct journal left = *j;
    enum journal_head is = JOURNAL_HEAD_OTHER;
    left.fd = fd;
    if (journal_belongs(&left) && journal_examine_head(&left, &is) != NC_NOERR)
        is = JOURNAL_HEAD_UNSURE;
    return is;
}

/* Removes or renames a journal. Returns NULL, or the reason why it was left in place. */
static const char *clear(const struct journal *j, int fd)
{
    struct journal_facts left = {0};
    char first[7] = "";
    int64_t size = 0;
    const char *wrong = journal_read_facts(fd, &left, &size);
    if (size < 0) return wrong;
    bool blank = base_read_some(fd, 0, first, sizeof first) <= 0 || first[0] == '\0';
    if (may_be_used(j, fd, blank)) return "it is in use by another process";
    if (wrong != NULL && !blank && !journal_is_named(first)) return wrong;
    bool ended = wrong != NULL && blank; /* the dataset was never marked */
    if (wrong == NULL && journal_same_file(&left, &j->facts)) {
        enum journal_head is = classify_head(j, fd);
        if (is > JOURNAL_HEAD_OURS)
            return "the first bytes of the dataset do not show that its redefinition has "
                   "ended";
        ended = is == JOURNAL_HEAD_OURS;
    }
    if (ended) return unlink(j->path) == 0 ? NULL : strerror(errno);
    return rename_journal(j, base_hash(&left, sizeof left, (uint64_t)size));
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
        NC_EFILE, "cannot redefine: %s already exists (%s); examine and remove it",
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
        j.file = base_open(j.dataset_path, O_RDONLY);
        if (j.file >= 0 && fstat(j.file, &st) == 0)
            j.fd = journal_open_trusted(j.path, O_RDONLY, &st, &why);
        if (j.fd >= 0 && journal_read_facts(j.fd, &left, &size) == NULL &&
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
