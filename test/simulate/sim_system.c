/* Simulated system calls. The linker replaces each call to NAME in the library with a
 * call to __wrap_NAME. Files below SIM_STORE are simulated, as are the process id, host
 * name, time, random numbers and allocation failures. All other calls are passed to the
 * system. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "sim_files.h"
#include "sim_wrapped.h"

enum { BLOCK = 4096, DEVICE = 77 };

static bool simulated(const char *path)
{
    return strncmp(path, SIM_STORE, sizeof SIM_STORE - 2) == 0;
}

/* Returns whether a path is one of the two simulated directories, possibly followed by
 * "/" or "/.". */
static bool is_directory(const char *path)
{
    static const char *const those[] = {"/sim", SIM_LOGS};
    for (int i = 0; i < 2; i++) {
        const char *rest = path + strlen(those[i]);
        if (strncmp(path, those[i], strlen(those[i])) == 0 &&
            (*rest == '\0' || strcmp(rest, "/") == 0 || strcmp(rest, "/.") == 0))
            return true;
    }
    return false;
}

/* ---- identity, time and memory ---- */

pid_t __wrap_getpid(void)
{
    const struct sim_process *p = sim_self();
    return p != NULL ? (pid_t)p->pid : getpid();
}

int __wrap_gethostname(char *name, size_t n)
{
    const struct sim_process *p = sim_self();
    if (p == NULL) return gethostname(name, n);
    snprintf(name, n, "node%d", p->node);
    return 0;
}

/* All processes share one environment, but each may remove these variables from its
 * own. */
static const char *const removable[] = {"PNETCDF_HINTS", "PNETCDF_HINTS_FILE"};

char *__wrap_getenv(const char *name)
{
    const struct sim_process *p = sim_self();
    for (int i = 0; i < 2 && p != NULL; i++)
        if (p->has_unset[i] && strcmp(name, removable[i]) == 0) return NULL;
    return getenv(name);
}

int __wrap_unsetenv(const char *name)
{
    struct sim_process *p = sim_self();
    for (int i = 0; i < 2 && p != NULL; i++)
        if (strcmp(name, removable[i]) == 0) p->has_unset[i] = true;
    return p == NULL ? unsetenv(name) : 0;
}

int __wrap_kill(pid_t pid, int signal)
{
    const struct sim_process *p = sim_self();
    if (signal != 0) return fails(EPERM);
    return p != NULL && sim_find(p->node, pid) != NULL ? 0 : fails(ESRCH);
}

int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
    double now = sim_clock();
    (void)which;
    t->tv_sec = (time_t)now;
    t->tv_nsec = (long)((now - (double)t->tv_sec) * 1e9);
    return 0;
}

time_t __wrap_time(time_t *t)
{
    time_t now = (time_t)sim_clock();
    if (t != NULL) *t = now;
    return now;
}

ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags)
{
    static uint64_t state = 1;
    (void)flags;
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)sim_draw(&state, 256);
    return (ssize_t)n;
}

void *sim_room(size_t n)
{
    void *room = calloc(1, n + 1);
    if (room == NULL) sim_fail(SIM_BROKEN, "no memory for the simulation");
    return room;
}

void *__wrap_malloc(size_t n)
{
    return sim_memory() ? malloc(n) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return sim_memory() ? calloc(n, size) : NULL;
}

void *__wrap_realloc(void *old, size_t n)
{
    return sim_memory() ? realloc(old, n) : NULL;
}

/* ---- opening ---- */

/* Stores in `text` the contents of a /proc file that identifies a boot or a process. */
static bool text_of_proc(const char *path, char *text, size_t n)
{
    long long pid;
    int end = 0;
    const struct sim_process *p = sim_self();
    if (p == NULL) return false;
    if (strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        return snprintf(text, n, "boot-%d-of-node%d\n",
                        sim_boots() + sim_failures(p->node), p->node) > 0;
    if (sscanf(path, "/proc/%lld/stat%n", &pid, &end) != 1 || path[end] != '\0')
        return false;
    const struct sim_process *other = sim_find(p->node, pid);
    snprintf(text, n, "%lld (sim) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %lld 0",
             pid, other != NULL ? (long long)other->started : 0);
    return other != NULL;
}

static int open_file(const char *path, struct sim_file *f, int flags)
{
    struct sim_open *o = calloc(1, sizeof *o);
    if (o == NULL) return fails(ENOMEM);
    *o = (struct sim_open){.file = f, .flags = flags};
    snprintf(o->path, sizeof o->path, "%s", path);
    if (f != NULL && sim_self() != NULL) sim_node_opened(f);
    return sim_descriptor(o);
}

static int open_simulated(const char *path, int flags, mode_t mode)
{
    int error = sim_step("open", path, flags, 0);
    if (error != 0) return fails(error);
    if (is_directory(path))
        return flags & O_ACCMODE ? fails(EISDIR) : open_file(path, NULL, flags);
    if (flags & O_EXCL) sim_node_named(path); /* bypasses the name cached by the node */
    struct sim_file *f = sim_node_find(path);
    if (f != NULL ? f->links == 0 : !(flags & O_CREAT)) return fails(ENOENT);
    if (f != NULL && (flags & O_CREAT) && (flags & O_EXCL)) return fails(EEXIST);
    if (f == NULL) sim_name_set(path, f = sim_file_new(mode));
    sim_node_named(path);
    int fd = open_file(path, f, flags);
    if (flags & O_TRUNC && f->now.size > 0) sim_node_resize(f, 0);
    return fd;
}

int __wrap_open(const char *path, int flags, ...)
{
    char text[256];
    int number;
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (text_of_proc(path, text, sizeof text)) {
        struct sim_file *f = sim_file_new(0444);
        sim_file_write(f, 0, text, (int64_t)strlen(text));
        return open_file(path, f, O_RDONLY);
    }
    if (sscanf(path, "/proc/self/fd/%d", &number) == 1 && sim_open_of(number) != NULL)
        return open_file(sim_open_of(number)->path, sim_open_of(number)->file, flags);
    return simulated(path) ? open_simulated(path, flags, mode) : open(path, flags, mode);
}

/* Opens a simulated mountinfo file, which shows how the simulated file system is
 * mounted. */
FILE *__wrap_fopen(const char *path, const char *how)
{
    static char line[64];
    if (sim_self() == NULL || strcmp(path, "/proc/self/mountinfo") != 0)
        return fopen(path, how);
    int n = snprintf(line, sizeof line, "36 35 0:%d / /sim rw - %s store rw\n", DEVICE,
                     sim_mount_name(sim_the_plan()->mount));
    return fmemopen(line, (size_t)n, "r");
}

/* Creates an anonymous file. */
int __wrap_memfd_create(const char *name, unsigned flags)
{
    if (sim_the_plan()->seed < SIM_RICH) return memfd_create(name, flags);
    return open_file(name, sim_file_new(0600), O_RDWR);
}

int __wrap_mkostemp(char *template, int flags)
{
    static int made;
    if (!simulated(template)) return mkostemp(template, flags);
    char *at = template + strlen(template);
    for (int digit = 0, rest = made++; digit < 6; digit++, rest /= 10)
        *--at = (char)('0' + rest % 10);
    return open_simulated(template, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
}

int __wrap_close(int fd)
{
    if (sim_open_of(fd) == NULL) return close(fd);
    int error = sim_step("close", sim_open_of(fd)->path, 0, 0);
    sim_descriptor_close(fd);
    return error != 0 ? fails(error) : 0;
}

/* ---- reading and writing ---- */

static bool direct(const struct sim_open *o)
{
    return (o->flags & O_DIRECT) != 0;
}

static ssize_t readable(const struct sim_open *o)
{
    if (o->file == NULL) return fails(EISDIR);
    return (o->flags & O_ACCMODE) == O_WRONLY ? fails(EBADF) : 0;
}

static ssize_t writable(const struct sim_open *o)
{
    return o->file == NULL || (o->flags & O_ACCMODE) == O_RDONLY ? fails(EBADF) : 0;
}

ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t at)
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return pread(fd, bytes, n, at);
    if (readable(o) != 0) return -1;
    int error = sim_step("pread", o->path, at, (int64_t)n);
    if (error != 0) return fails(error);
    return sim_node_read(o->file, direct(o), at, bytes, (int64_t)n);
}

/* If the injected error is EAGAIN, writes only half of the bytes instead of failing. */
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return pwrite(fd, bytes, n, at);
    if (writable(o) != 0) return -1;
    int error = sim_step("pwrite", o->path, at, (int64_t)n);
    if (error == EAGAIN && n > 1) n /= 2;
    if (error != 0 && error != EAGAIN) {
        sim_node_write_failed(o->file, direct(o), at + (int64_t)n);
        return fails(error);
    }
    sim_node_write(o->file, direct(o), at, bytes, (int64_t)n);
    if (o->flags & O_DSYNC) sim_node_sync(o->file, at, at + (int64_t)n);
    return (ssize_t)n;
}

ssize_t __wrap_read(int fd, void *bytes, size_t n)
{
    struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return read(fd, bytes, n);
    ssize_t done = __wrap_pread(fd, bytes, n, o->at);
    if (done > 0) o->at += done;
    return done;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return write(fd, bytes, n);
    ssize_t done = __wrap_pwrite(fd, bytes, n, o->at);
    if (done > 0) o->at += done;
    return done;
}

typedef ssize_t transfer(int fd, void *bytes, size_t n, off_t at);

static ssize_t put(int fd, void *bytes, size_t n, off_t at)
{
    return __wrap_pwrite(fd, bytes, n, at);
}

static ssize_t each(transfer *move, int fd, const struct iovec *v, int n, off_t at)
{
    ssize_t all = 0;
    for (int i = 0; i < n; i++) {
        ssize_t done = move(fd, v[i].iov_base, v[i].iov_len, at + all);
        if (done < 0) return all > 0 ? all : -1;
        all += done;
        if ((size_t)done < v[i].iov_len) break;
    }
    return all;
}

ssize_t __wrap_preadv(int fd, const struct iovec *v, int n, off_t at)
{
    return sim_open_of(fd) == NULL ? preadv(fd, v, n, at)
                                   : each(__wrap_pread, fd, v, n, at);
}

ssize_t __wrap_pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    return sim_open_of(fd) == NULL ? pwritev(fd, v, n, at) : each(put, fd, v, n, at);
}

int __wrap_ftruncate(int fd, off_t size)
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return ftruncate(fd, size);
    if (writable(o) != 0) return fails(EINVAL);
    int error = sim_step("ftruncate", o->path, size, 0);
    if (error != 0 && error != EAGAIN) return fails(error);
    sim_node_resize(o->file, size);
    return 0;
}

int __wrap_fallocate(int fd, int mode, off_t at, off_t n)
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return fallocate(fd, mode, at, n);
    if (writable(o) != 0) return -1;
    int error = sim_step("fallocate", o->path, at, n);
    if (error != 0 && error != EAGAIN) return fails(error);
    if (mode & ~FALLOC_FL_KEEP_SIZE) return fails(EOPNOTSUPP);
    sim_node_reserve(o->file, mode == 0 ? at + n : 0);
    return 0;
}

int __wrap_posix_fallocate(int fd, off_t at, off_t n)
{
    if (sim_open_of(fd) == NULL) return posix_fallocate(fd, at, n);
    return __wrap_fallocate(fd, 0, at, n) == 0 ? 0 : errno;
}

/* Finds the next hole, which is always at the end of the file. Supports no other seek. */
off_t __wrap_lseek(int fd, off_t at, int whence)
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return lseek(fd, at, whence);
    int error = sim_step("lseek", o->path, at, whence);
    if (error != 0 && error != EAGAIN) return fails(error);
    return at < o->file->now.size ? o->file->now.size : fails(ENXIO);
}

/* ---- syncing ---- */

static int sync_fd(int fd, int (*real)(int))
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return real(fd);
    int error = sim_step("fsync", o->path, 0, 0);
    if (error != 0 && error != EAGAIN) {
        if (o->file != NULL) sim_node_sync_failed(o->file);
        return fails(error);
    }
    if (o->file != NULL) sim_node_sync(o->file, 0, INT64_MAX);
    sim_names_sync(); /* syncing a file also syncs names, as journaling file systems do */
    return 0;
}

int __wrap_fsync(int fd)
{
    return sync_fd(fd, fsync);
}

int __wrap_fdatasync(int fd)
{
    return sync_fd(fd, fdatasync);
}

int __wrap_sync_file_range(int fd, off_t at, off_t n, unsigned how)
{
    return sim_open_of(fd) == NULL ? sync_file_range(fd, at, n, how) : 0;
}

/* ---- file attributes ---- */

/* Fills in *st. Returns false if the file was deleted. */
static bool tell(struct sim_file *f, struct stat *st)
{
    struct sim_look seen;
    memset(st, 0, sizeof *st);
    st->st_dev = DEVICE;
    st->st_uid = geteuid();
    st->st_gid = getegid();
    st->st_blksize = BLOCK;
    st->st_mode = f == NULL ? S_IFDIR | 0755 : S_IFREG | (f->mode & 07777);
    if (f == NULL) return true;
    if (!sim_node_look(f, &seen)) return false;
    st->st_ino = (ino_t)f->inode;
    st->st_nlink = (nlink_t)f->links;
    st->st_size = seen.size;
    st->st_blocks = (seen.size + 511) / 512;
    st->st_mtim.tv_sec = (time_t)seen.modified;
    st->st_mtim.tv_nsec = (long)((seen.modified - (double)st->st_mtim.tv_sec) * 1e9);
    st->st_ctim.tv_sec = (time_t)seen.changed;
    st->st_ctim.tv_nsec = (long)((seen.changed - (double)st->st_ctim.tv_sec) * 1e9);
    return true;
}

static int look(const char *path, struct stat *st)
{
    int error = sim_step("stat", path, 0, 0);
    if (error != 0 && error != EAGAIN) return fails(error);
    struct sim_file *f = sim_node_find(path);
    if (f == NULL && !is_directory(path)) return fails(ENOENT);
    return tell(f, st) ? 0 : fails(ENOENT);
}

int __wrap_stat(const char *path, struct stat *st)
{
    return simulated(path) ? look(path, st) : stat(path, st);
}

int __wrap_lstat(const char *path, struct stat *st)
{
    return simulated(path) ? look(path, st) : lstat(path, st);
}

int __wrap_fstat(int fd, struct stat *st)
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return fstat(fd, st);
    int error = sim_step("fstat", o->path, 0, 0);
    if (error != 0 && error != EAGAIN) return fails(error);
    return tell(o->file, st) ? 0 : fails(ENOENT);
}

/* Returns the inode number as the birth time. Inode numbers are never reused, so the time
 * is unique. */
int __wrap_statx(int dir, const char *path, int flags, unsigned mask, struct statx *st)
{
    const struct sim_open *o = sim_open_of(dir);
    bool named = path != NULL && path[0] != '\0';
    if (named ? !simulated(path) : o == NULL) return statx(dir, path, flags, mask, st);
    struct sim_file *f = named ? sim_node_find(path) : o->file;
    if (f == NULL) return fails(ENOENT);
    if (flags & AT_STATX_FORCE_SYNC) sim_node_asks(f);
    memset(st, 0, sizeof *st);
    st->stx_mask = mask & (STATX_BASIC_STATS | STATX_BTIME);
    st->stx_ino = (uint64_t)f->inode;
    st->stx_size = (uint64_t)f->now.size;
    st->stx_btime.tv_sec = f->inode;
    return 0;
}

int __wrap_access(const char *path, int how)
{
    if (!simulated(path)) return access(path, how);
    return is_directory(path) || sim_node_find(path) != NULL ? 0 : fails(ENOENT);
}

char *__wrap_realpath(const char *path, char *to)
{
    if (!simulated(path)) return realpath(path, to);
    if (!is_directory(path) && sim_node_find(path) == NULL) {
        errno = ENOENT;
        return NULL;
    }
    return to != NULL ? strcpy(to, path) : strdup(path);
}

static int tell_fs(const char *path, struct statfs *fs)
{
    memset(fs, 0, sizeof *fs);
    fs->f_type = simulated(path) ? sim_mount_type() : PROC_SUPER_MAGIC;
    fs->f_bsize = BLOCK;
    fs->f_blocks = fs->f_bfree = fs->f_bavail = 1 << 20;
    return 0;
}

int __wrap_statfs(const char *path, struct statfs *fs)
{
    return simulated(path) ? tell_fs(path, fs) : statfs(path, fs);
}

int __wrap_fstatfs(int fd, struct statfs *fs)
{
    const struct sim_open *o = sim_open_of(fd);
    return o != NULL ? tell_fs(o->path, fs) : fstatfs(fd, fs);
}

int __wrap_statvfs(const char *path, struct statvfs *fs)
{
    if (!simulated(path)) return statvfs(path, fs);
    memset(fs, 0, sizeof *fs);
    fs->f_bsize = fs->f_frsize = BLOCK;
    fs->f_blocks = fs->f_bfree = fs->f_bavail = 1 << 20;
    return 0;
}

long __wrap_pathconf(const char *path, int what)
{
    if (!simulated(path)) return pathconf(path, what);
    return what == _PC_NAME_MAX ? 255 : -1;
}

int __wrap_ioctl(int fd, unsigned long what, void *argument)
{
    (void)what, (void)argument;
    return fails(sim_open_of(fd) != NULL ? ENOTTY : EINVAL);
}

ssize_t __wrap_fgetxattr(int fd, const char *name, void *value, size_t n)
{
    return sim_open_of(fd) != NULL ? fails(EOPNOTSUPP) : fgetxattr(fd, name, value, n);
}

int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t n, int flags)
{
    return sim_open_of(fd) != NULL ? fails(EOPNOTSUPP)
                                   : fsetxattr(fd, name, value, n, flags);
}

int __wrap_fremovexattr(int fd, const char *name)
{
    return sim_open_of(fd) != NULL ? fails(EOPNOTSUPP) : fremovexattr(fd, name);
}

int __wrap_fchmod(int fd, mode_t mode)
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return fchmod(fd, mode);
    if (o->file != NULL) o->file->mode = mode;
    return 0;
}

int __wrap_fchown(int fd, uid_t user, gid_t group)
{
    return sim_open_of(fd) != NULL ? 0 : fchown(fd, user, group);
}

int __wrap_futimens(int fd, const struct timespec t[2])
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return futimens(fd, t);
    if (o->file != NULL) o->file->changed = sim_clock();
    if (o->file != NULL && t != NULL && t[1].tv_nsec != UTIME_OMIT)
        o->file->modified = (double)t[1].tv_sec + (double)t[1].tv_nsec * 1e-9;
    if (o->file != NULL) sim_node_asks(o->file);
    return 0;
}

/* ---- names ---- */

int __wrap_rename(const char *from, const char *to)
{
    if (!simulated(from)) return rename(from, to);
    int error = sim_step("rename", to, 0, 0);
    if (error != 0 && error != EAGAIN) return fails(error);
    if (sim_name_find(from) == NULL) return fails(ENOENT);
    sim_name_move(from, to);
    sim_node_named(from);
    sim_node_named(to);
    return 0;
}

int __wrap_unlink(const char *path)
{
    if (!simulated(path)) return unlink(path);
    int error = sim_step("unlink", path, 0, 0);
    if (error != 0 && error != EAGAIN) return fails(error);
    if (sim_name_find(path) == NULL) return fails(ENOENT);
    sim_name_set(path, NULL);
    sim_node_named(path);
    return 0;
}

struct listing {
    uint64_t mark;
    char path[256];
    int next, fd;
    struct dirent entry;
};
static const uint64_t mark = 0x73696d2d64697221;

static struct listing *listing_of(DIR *d)
{
    struct listing *l = (struct listing *)d;
    return l->mark == mark ? l : NULL;
}

DIR *__wrap_opendir(const char *path)
{
    if (!simulated(path)) return opendir(path);
    struct listing *l = calloc(1, sizeof *l);
    if (l == NULL || !is_directory(path)) {
        errno = l == NULL ? ENOMEM : ENOENT;
        free(l);
        return NULL;
    }
    snprintf(l->path, sizeof l->path, "%s",
             strncmp(path, SIM_LOGS, strlen(SIM_LOGS)) == 0 ? SIM_LOGS "/" : SIM_STORE);
    l->mark = mark;
    l->fd = open_file(path, NULL, O_RDONLY);
    return (DIR *)l;
}

struct dirent *__wrap_readdir(DIR *d)
{
    struct listing *l = listing_of(d);
    if (l == NULL) return readdir(d);
    (void)sim_step("readdir", l->path, 0, 0);
    for (const char *name; (name = sim_name(l->next)) != NULL;) {
        size_t n = strlen(l->path);
        l->next++;
        if (strncmp(name, l->path, n) != 0 || strchr(name + n, '/') != NULL) continue;
        snprintf(l->entry.d_name, sizeof l->entry.d_name, "%s", name + n);
        l->entry.d_type = DT_REG;
        return &l->entry;
    }
    return NULL;
}

int __wrap_dirfd(DIR *d)
{
    return listing_of(d) != NULL ? listing_of(d)->fd : dirfd(d);
}

int __wrap_closedir(DIR *d)
{
    struct listing *l = listing_of(d);
    if (l == NULL) return closedir(d);
    sim_descriptor_close(l->fd);
    free(l);
    return 0;
}

/* ---- mapped files: private copies that are never written back ---- */

void *__wrap_mmap(void *at, size_t n, int how, int flags, int fd, off_t from)
{
    const struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return mmap(at, n, how, flags, fd, from);
    if (o->file == NULL || (how & PROT_WRITE && flags & MAP_SHARED)) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    void *copy =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy != MAP_FAILED) (void)sim_node_read(o->file, false, from, copy, (int64_t)n);
    return copy;
}

/* ---- fcntl and flock ---- */

static int lock_range(const struct sim_open *o, int what, struct flock *l)
{
    bool whole = l->l_len == 0, ofd = what == F_OFD_SETLK || what == F_OFD_GETLK;
    struct sim_lock wanted = {.owner = ofd ? (const void *)o : sim_self(),
                              .first = l->l_start,
                              .last = whole ? INT64_MAX - 1 : l->l_start + l->l_len - 1,
                              .exclusive = l->l_type == F_WRLCK};
    int error = sim_step("lock", o->path, l->l_start, l->l_len);
    if (sim_the_plan()->lockless && simulated(o->path)) return fails(ENOLCK);
    if (error != 0) return fails(error == EAGAIN ? EINTR : error);
    if (what == F_OFD_GETLK) {
        if (sim_lock_in_the_way(o->file, &wanted) == NULL) l->l_type = F_UNLCK;
        return 0;
    }
    if (l->l_type == F_UNLCK) {
        sim_node_unlocks(o->file);
        sim_lock_drop(o->file, &wanted);
        return 0;
    }
    while (!sim_lock_take(o->file, &wanted)) {
        if (what != F_SETLKW) return fails(EAGAIN);
        sim_wait(&o->file->locks, 0);
    }
    sim_node_locked(o->file);
    return 0;
}

int __wrap_fcntl(int fd, int what, ...)
{
    va_list args;
    va_start(args, what);
    void *argument = va_arg(args, void *);
    va_end(args);
    struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return fcntl(fd, what, argument);
    switch (what) {
    case F_GETFL:
        return o->flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
    case F_SETFL:
        o->flags = (o->flags & O_ACCMODE) | ((int)(intptr_t)argument & ~O_ACCMODE);
        return 0;
    case F_GETFD:
    case F_SETFD:
        return 0;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return sim_descriptor(o);
    case F_OFD_SETLK:
    case F_OFD_GETLK:
    case F_SETLK:
    case F_SETLKW:
        return o->file == NULL ? fails(EBADF) : lock_range(o, what, argument);
    default:
        return fails(EINVAL);
    }
}

int __wrap_flock(int fd, int what)
{
    struct sim_open *o = sim_open_of(fd);
    if (o == NULL) return flock(fd, what);
    struct sim_lock wanted = {
        .owner = o, .first = -2, .last = -2, .exclusive = what & LOCK_EX};
    int error = sim_step("flock", o->path, what, 0);
    if (sim_the_plan()->lockless) return fails(ENOLCK);
    if (error != 0) return fails(error == EAGAIN ? EINTR : error);
    if (o->file == NULL) return fails(EBADF);
    if (what & LOCK_UN) {
        sim_node_unlocks(o->file);
        sim_lock_drop(o->file, &wanted);
        return 0;
    }
    while (!sim_lock_take(o->file, &wanted)) {
        if (what & LOCK_NB) return fails(EWOULDBLOCK);
        sim_wait(&o->file->locks, 0);
    }
    sim_node_locked(o->file);
    return 0;
}
