/* The staged file. It has a byte more than all places together from the beginning on,
 * which nobody writes: where somebody cuts it off, who is its user and gets at it through
 * the system's list of open files, its size never is the same again, whatever is written
 * later. Without that, places before what is written later would read as zeros.
 *
 * Its first process makes it, under a name that nobody can have had
 * before; when all of the node have it open, the name goes. What has such a name for
 * longer, and nobody has locked, is of a program that was killed in between. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
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

/* Only a file of this user, and none that a link leads to. -1: it is not. */
static int open_own_stage(const char *path, int flags)
{
    return base_open_own(path, flags | O_RDWR | O_NOFOLLOW);
}

/* ---- what is left ---- */

static void sweep_one(const char *path)
{
    enum { OLD = 60 }; /* seconds; who makes one has it named for a moment */
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
    const int64_t mixed[] = {now.tv_sec, now.tv_nsec, getpid(), ds->rank, ds->inode};
    return base_hash(mixed, sizeof mixed, 0);
}

static int64_t whole(const struct stage_shared *all)
{
    return (all->mirror ? all->nblocks : all->nslots) * all->block + 1;
}

/* Beyond the limit of a process the system ends it by a signal. */
static int make_long(int fd, int64_t n, const char *path)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        most.rlim_cur < (rlim_t)n)
        return base_error_set(NC_EFILE, "%s: no file may be as large as that", path);
    return base_resize(fd, n, path);
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
        return base_error_set(NC_EBAD_FILE, "the path of the stage is too long");
    s->file = open_own_stage(path, O_CREAT | O_EXCL);
    if (s->file < 0) return base_error_system(NC_EFILE, "making", path);
    (void)base_lock_whole(s->file, true);
    int err = make_long(s->file, whole(plan), path);
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

/* Where nodes share a file system its servers are asked for the size each time. */
bool stage_space_is_watched(int file)
{
    return file >= 0 && !base_fs_shared(file);
}

bool stage_space_is_whole(const struct stage_shared *all, int file)
{
    struct stat st;
    return !all->watched || (fstat(file, &st) == 0 && (int64_t)st.st_size == whole(all));
}
