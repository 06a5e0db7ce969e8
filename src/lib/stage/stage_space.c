/* Creates, opens and checks the staged file.
 *
 * It is one byte longer than all slots, and its last byte is never written. Therefore, if
 * another process of the user truncates the file (through /proc), later writes cannot
 * restore its size and so hide that earlier slots now read as zeros.
 *
 * The node's first process creates the file under a unique name. It is unlinked when all
 * processes on the node have opened it. A file that is older than a minute and not locked
 * was left by a program that was killed before the unlink. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_names.h"
#include "stage.h"

static const char prefix[] = ".ncmpi-stage-";

/* Opens a file owned by this user, not following symbolic links. Returns -1 on error. */
static int open_own_stage(const char *path, int flags)
{
    return base_open_own(path, flags | O_RDWR | O_NOFOLLOW);
}

/* ---- leftovers ---- */

static void sweep_one(const char *path)
{
    enum { OLD = 60 }; /* seconds; files in use are unlinked much earlier */
    struct stat st;
    if (lstat(path, &st) != 0 || st.st_mtime > time(NULL) - OLD) return;
    int fd = open_own_stage(path, 0);
    if (fd < 0) return;
    if (base_lock_whole(fd, true) == BASE_LOCKED) (void)unlink(path);
    (void)close(fd);
}

static void sweep_stages(const char *directory)
{
    char path[PATH_MAX];
    struct dirent *e;
    DIR *d = opendir(directory);
    while (d != NULL && (e = readdir(d)) != NULL) {
        if (strncmp(e->d_name, prefix, sizeof prefix - 1) != 0) continue;
        int n = snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        if (n > 0 && (size_t)n < sizeof path) sweep_one(path);
    }
    if (d != NULL) (void)closedir(d);
}

/* ---- the file ---- */

static uint64_t new_stage_token(const struct dataset *ds)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t mixed[] = {now.tv_sec, now.tv_nsec, getpid(), ds->rank,
                             ds->identity.inode};
    return base_hash(mixed, sizeof mixed, 0);
}

static int64_t staged_file_size(const struct stage_shared *all)
{
    return (all->mirror ? all->nblocks : all->nslots) * all->block + 1;
}

int stage_space_create(struct stage *s, const struct stage_shared *plan, char *path,
                       size_t size)
{
    const struct dataset *ds = s->ds;
    const char *directory = ds->hints.stage_dirname;
    sweep_stages(directory);
    int n = snprintf(path, size, "%s/%s%016llx", directory, prefix,
                     (unsigned long long)new_stage_token(ds));
    if (n < 0 || (size_t)n >= size)
        return base_error_set(NC_EBAD_FILE, "the path of the staged file is too long");
    s->file = open_own_stage(path, O_CREAT | O_EXCL);
    if (s->file < 0) return base_error_system(NC_EFILE, "creating", path);
    (void)base_lock_whole(s->file, true);
    int err = base_resize(s->file, staged_file_size(plan), path);
    if (err == NC_NOERR) return NC_NOERR;
    (void)unlink(path);
    (void)close(s->file);
    s->file = -1;
    return err;
}

int stage_space_open(struct stage *s, const char *path)
{
    s->file = open_own_stage(path, 0);
    return s->file < 0 ? base_error_system(NC_EFILE, "opening", path) : NC_NOERR;
}

void stage_space_record_identity(const struct stage *s)
{
    struct stat st = {0};
    if (s->file >= 0 && fstat(s->file, &st) != 0) st.st_ino = 0;
    s->shared->device = (int64_t)st.st_dev;
    s->shared->inode = (int64_t)st.st_ino;
}

void stage_space_check(struct stage *s)
{
    struct stat st;
    if (s->file < 0) return;
    if (fstat(s->file, &st) == 0 && (int64_t)st.st_dev == s->shared->device &&
        (int64_t)st.st_ino == s->shared->inode)
        return;
    (void)close(s->file);
    s->file = -1;
}

/* Returns false on shared file systems, where each check would be a server request. */
bool stage_space_is_watched(int file)
{
    return file >= 0 && !base_fs_is_shared(file);
}

bool stage_space_is_complete(const struct stage_shared *all, int file)
{
    struct stat st;
    return !all->watched ||
           (fstat(file, &st) == 0 && (int64_t)st.st_size == staged_file_size(all));
}
