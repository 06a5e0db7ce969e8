/* Removes a log's files, and handles those that a crash leaves behind. The order in which
 * these files are created and removed shows which of them are still needed:
 *
 *     create  PATH.meta.new, locked; PATH.data; then rename it to PATH.meta
 *     remove  rename PATH.meta to PATH.meta.done; unlink PATH.data, then PATH.meta.done
 *
 * 1. If PATH.meta.new or PATH.meta.done exists, no value in PATH.data is still needed.
 * 2. An empty data log without any of the other files was left by a power cut. If it is
 *    not empty, its metadata log was removed, and its values may be needed.
 * 3. A metadata log is on the device before it gets its final name. So one that is empty
 *    or has no head is damaged, and is rejected.
 * 4. Other users may have files in the directory. A file with a log's name is never read,
 *    written, waited for or removed unless it is a regular file of this user. */
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

struct log_names {
    char making[PATH_MAX], meta[PATH_MAX], done[PATH_MAX], data[PATH_MAX];
};

static bool set_log_names(struct log_names *n, const char *path, size_t length)
{
    if (length + sizeof ".meta.done" > PATH_MAX) return false;
    snprintf(n->making, sizeof n->making, "%.*s.meta.new", (int)length, path);
    snprintf(n->meta, sizeof n->meta, "%.*s.meta", (int)length, path);
    snprintf(n->done, sizeof n->done, "%.*s.meta.done", (int)length, path);
    snprintf(n->data, sizeof n->data, "%.*s.data", (int)length, path);
    return true;
}

bool burst_has_ending(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n > m && strcmp(text + n - m, ending) == 0;
}

enum burst_owner burst_get_owner(const char *path, int64_t *user)
{
    struct stat st;
    if (lstat(path, &st) != 0) return BURST_NO_FILE;
    *user = st.st_uid;
    return S_ISREG(st.st_mode) && st.st_uid == geteuid() ? BURST_OWN : BURST_FOREIGN;
}

static bool is_own_file(const char *path)
{
    int64_t user;
    return burst_get_owner(path, &user) == BURST_OWN;
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
    struct log_names n;
    if (!set_log_names(&n, meta_path, strlen(meta_path) - (sizeof ".meta" - 1))) return;
    if (rename(n.meta, n.done) != 0) unlink(n.meta);
    if (wanted) base_sync_directory(meta_path);
    unlink(n.data);
    unlink(n.done);
}

/* Classifies a data log by its contents, because an unrelated file may have such a name.
 * If power was cut while the log was being created, the file contains at most the magic
 * number, or a part of it. */
static enum burst_orphans classify_data_log(const char *path)
{
    static const char magic[] = "PnetCDF";
    char bytes[sizeof magic] = "";
    struct stat st = {.st_size = 0};
    int fd = burst_open_own(path, true);
    if (fd < 0) return BURST_LEFT_NOTHING;
    bool readable =
        fstat(fd, &st) == 0 && base_read_some(fd, 0, bytes, sizeof magic - 1) >= 0;
    close(fd);
    if (!readable) return BURST_LEFT_NOTHING;
    for (size_t i = 0; i < sizeof bytes; i++)
        if (bytes[i] != 0 && bytes[i] != magic[i]) return BURST_LEFT_NOTHING;
    if (st.st_size <= (off_t)sizeof magic) return BURST_LEFT_EMPTY;
    return strcmp(bytes, magic) == 0 ? BURST_LEFT_VALUES : BURST_LEFT_NOTHING;
}

/* Returns whether the file is locked, because a process is creating the log. */
static bool is_locked(const char *path)
{
    int fd = burst_open_own(path, false);
    if (fd < 0) return false;
    bool locked = base_lock_whole(fd, true) != BASE_LOCKED;
    close(fd);
    return locked;
}

/* Checks the names in the order in which a log's metadata file has them, so that a live
 * log is never missed. */
enum burst_orphans burst_orphans(const char *path, bool remove)
{
    static const char *const endings[] = {".data", ".meta.new", ".meta.done"};
    struct log_names n;
    size_t length = 0;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (burst_has_ending(path, endings[i]))
            length = strlen(path) - strlen(endings[i]);
    if (length == 0 || !set_log_names(&n, path, length)) return BURST_LEFT_NOTHING;
    bool making = is_own_file(n.making);
    if (making && is_locked(n.making)) return BURST_LEFT_NOTHING;
    if (is_own_file(n.meta)) return BURST_LEFT_NOTHING;
    enum burst_orphans left =
        making || is_own_file(n.done) ? BURST_LEFT_EMPTY : classify_data_log(n.data);
    if (left == BURST_LEFT_EMPTY && remove) {
        unlink(n.data);
        unlink(n.done);
        unlink(n.making);
    }
    return left;
}
