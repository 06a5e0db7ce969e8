/* How the files of a log go, and what is left when somebody dies over it.
 *
 *     making    PATH.meta.new, locked; PATH.data; then it is named PATH.meta
 *     removing  PATH.meta is named PATH.meta.done; PATH.data goes, then that
 *
 * So a data log beside either of those holds nothing that anybody waits for. One that
 * stands alone was left by a power cut, if it holds nothing; else not by us: somebody
 * took its metadata log away, and what it holds may be wanted.
 *
 * A metadata log is on the device before it has its name: one that is empty, or has no
 * head, was damaged, and is refused.
 *
 * Logs lie where others may write, too. What bears a log's name and is not a regular file
 * of this user's is never read, written, waited for or removed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_io.h"
#include "base_lock.h"
#include "burst_log.h"

struct names {
    char making[PATH_MAX], meta[PATH_MAX], done[PATH_MAX], data[PATH_MAX];
};

static bool set_names(struct names *n, const char *path, size_t length)
{
    if (length + sizeof ".meta.done" > PATH_MAX) return false;
    snprintf(n->making, sizeof n->making, "%.*s.meta.new", (int)length, path);
    snprintf(n->meta, sizeof n->meta, "%.*s.meta", (int)length, path);
    snprintf(n->done, sizeof n->done, "%.*s.meta.done", (int)length, path);
    snprintf(n->data, sizeof n->data, "%.*s.data", (int)length, path);
    return true;
}

static bool log_has_ending(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n > m && strcmp(text + n - m, ending) == 0;
}

enum burst_whose burst_whose(const char *path, int64_t *user)
{
    struct stat st;
    if (lstat(path, &st) != 0) return BURST_NOBODYS;
    *user = st.st_uid;
    return S_ISREG(st.st_mode) && st.st_uid == geteuid() ? BURST_OURS : BURST_OTHERS;
}

static bool there(const char *path)
{
    int64_t user;
    return burst_whose(path, &user) == BURST_OURS;
}

int burst_open_own(const char *path, bool anybody)
{
    int (*open_it)(const char *, int) = anybody ? base_open_regular : base_open_own;
    int fd = open_it(path, O_RDWR | O_NOFOLLOW);
    if (fd < 0 && (errno == EACCES || errno == EROFS))
        fd = open_it(path, O_RDONLY | O_NOFOLLOW);
    if (fd < 0 && errno == ELOOP) errno = EPERM;
    return fd;
}

void burst_remove(const char *meta_path, bool wanted)
{
    struct names n;
    if (!set_names(&n, meta_path, strlen(meta_path) - (sizeof ".meta" - 1))) return;
    if (rename(n.meta, n.done) != 0) unlink(n.meta);
    if (wanted) base_sync_directory(meta_path);
    unlink(n.data);
    unlink(n.done);
}

/* What a data log's file holds. Others have files whose names end so, too; and of a log
 * that was being made when the power went there may be all that comes before values, or
 * less. */
static enum burst_left look_into(const char *path)
{
    static const char magic[] = "PnetCDF";
    char bytes[sizeof magic] = "";
    struct stat st = {.st_size = 0};
    int fd = burst_open_own(path, true);
    if (fd < 0) return BURST_LEFT_NOTHING;
    bool looked =
        fstat(fd, &st) == 0 && base_read_some(fd, 0, bytes, sizeof magic - 1) >= 0;
    close(fd);
    if (!looked) return BURST_LEFT_NOTHING;
    for (size_t i = 0; i < sizeof bytes; i++)
        if (bytes[i] != 0 && bytes[i] != magic[i]) return BURST_LEFT_NOTHING;
    if (st.st_size <= (off_t)sizeof magic) return BURST_LEFT_EMPTY;
    return strcmp(bytes, magic) == 0 ? BURST_LEFT_VALUES : BURST_LEFT_NOTHING;
}

/* Is a log being made? */
static bool is_locked(const char *path)
{
    int fd = burst_open_own(path, false);
    if (fd < 0) return false;
    bool locked = base_lock_whole(fd, true) != BASE_LOCKED;
    close(fd);
    return locked;
}

/* They are looked for in the order in which a log has these names, so that none that
 * lives is missed. */
enum burst_left burst_left(const char *path, bool remove)
{
    static const char *const endings[] = {".data", ".meta.new", ".meta.done"};
    struct names n;
    size_t length = 0;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (log_has_ending(path, endings[i])) length = strlen(path) - strlen(endings[i]);
    if (length == 0 || !set_names(&n, path, length)) return BURST_LEFT_NOTHING;
    bool making = there(n.making);
    if (making && is_locked(n.making)) return BURST_LEFT_NOTHING;
    if (there(n.meta)) return BURST_LEFT_NOTHING;
    enum burst_left left = making || there(n.done) ? BURST_LEFT_EMPTY : look_into(n.data);
    if (left == BURST_LEFT_EMPTY && remove) {
        unlink(n.data);
        unlink(n.done);
        unlink(n.making);
    }
    return left;
}
