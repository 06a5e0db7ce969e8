/* Determines properties of file systems, which are identified by their statfs type. On
 * systems other than Linux, the results are conservative. */
#define _GNU_SOURCE /* O_DIRECT, statx, fallocate */
#include "base_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_bytes.h"
#include "base_number.h"
#include "base_path.h"

bool base_fs_await_name(const char *path, int *turn)
{
    enum { TURNS = 30 }; /* six seconds in total: mounts cache names for one to five */
    if (*turn >= TURNS || !base_fs_caches_names(path)) return false;
    ++*turn;
    base_sleep_us(200000);
    return true;
}

uint64_t base_fs_birth(int fd)
{
#ifdef STATX_BTIME
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) == 0 &&
        (st.stx_mask & STATX_BTIME))
        return (uint64_t)st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec;
#endif
    return 0;
}

bool base_fs_is_name_free(const char *path)
{
    int turn = 0;
    struct stat st;
    bool gone = lstat(path, &st) != 0;
    while (!gone && base_fs_await_name(path, &turn))
        gone = lstat(path, &st) != 0;
    return gone;
}

/* FUSE passes SEEK_HOLE to the server, where it fails beyond the end of the file. */
bool base_fs_has_bytes(int fd, int64_t size)
{
#ifdef SEEK_HOLE
    return lseek(fd, size - 1, SEEK_HOLE) >= 0;
#else
    return (void)fd, (void)size, false;
#endif
}

bool base_can_write_to(int64_t end)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
        (rlim_t)end <= most.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

#ifndef __linux__
uint64_t base_fs_id(int fd, enum base_fs_id which)
{
    return (void)fd, (void)which, 0;
}

bool base_fs_set_id(int fd, enum base_fs_id which, uint64_t id)
{
    (void)fd, (void)which, (void)id;
    errno = ENOTSUP;
    return false;
}

bool base_fs_is_coherent(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_bypass_cache(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_bypasses_cache(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_may_be_stale(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_caches_names(const char *path)
{
    (void)path;
    return false;
}

void base_fs_name(int fd, char name[BASE_FS_NAME])
{
    (void)fd;
    name[0] = '\0';
}

bool base_fs_refresh(int fd)
{
    (void)fd;
    return true;
}

bool base_fs_refresh_size(int fd)
{
    (void)fd;
    return true;
}

bool base_fs_set_known_size(int fd, int64_t size)
{
    (void)fd, (void)size;
    return true;
}

bool base_fs_is_data_lost(int error)
{
    (void)error;
    return false;
}

int base_fs_reserve(int fd, int64_t at, bool longer)
{
    (void)fd, (void)at, (void)longer;
    return ENOSYS;
}

int base_fs_stat(const char *path, struct stat *st)
{
    return stat(path, st);
}

bool base_fs_can_map(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_is_shared(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_is_local(const char *path)
{
    (void)path;
    return false;
}

struct base_fs_stripes base_fs_stripes(int fd)
{
    (void)fd;
    return (struct base_fs_stripes){0, 0, false};
}
#else
#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

enum { LUSTRE = 0x0bd00bd0, GPFS = 0x47504653, FUSE = 0x65735546 };

/* File systems with POSIX semantics: a read() that begins after a write() has returned
 * sees the data of that write(). There are two kinds:
 *
 * - Only one host uses the file system. Its kernel has one cache per file, which all
 *   descriptors share. Other hosts cannot access the file.
 * - Nodes share the file system, which has its own locks. A node that writes bytes holds
 *   a lock on them. Before another node reads the bytes, the first node flushes its
 *   cached data and releases the lock. The protocol guarantees this for every read() and
 *   write().
 *
 * The lists below exclude file systems that delay writes or return stale data: NFS, SMB
 * (close-to-open consistency), BeeGFS (clients buffer in the usual configuration), FUSE
 * (depends on the server), 9p, and all file systems that have not been examined.
 *
 * Magic numbers are from <linux/magic.h> and statfs(2) unless noted otherwise.
 *
 * On the file systems in page_cache_types, stores to a mapping (burst_log.c) go to the
 * blocks that posix_fallocate has reserved. On Btrfs they do not. */
static const uint32_t page_cache_types[] = {
    0x0000ef53, /* ext2, ext3, ext4 */
    0x58465342, /* XFS */
    0x01021994, /* tmpfs */
};
static const uint32_t local_types[] = {
    0x9123683e, /* Btrfs */
    0xf2f52010, /* F2FS */
    0xca451a4e, /* bcachefs */
    0x3153464a, /* JFS */
    0x858458f6, /* ramfs */
    0x2fc12fc1, /* ZFS: OpenZFS, ZFS_SUPER_MAGIC */
    0x794c7630, /* overlayfs */
};
static const uint32_t shared_types[] = {
    LUSTRE,     /* lustre_user.h, LL_SUPER_MAGIC: extent locks (LDLM) */
    GPFS,       /* GNU coreutils, S_MAGIC_GPFS: byte-range tokens */
    0x00c36400, /* CephFS: capabilities; no caching if several clients write */
    0x01161970, /* GFS2: glocks */
    0x7461636f, /* OCFS2: DLM */
};

static uint32_t type_of_fs(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 ? (uint32_t)fs.f_type : 0;
}

static bool is_in(const uint32_t *types, size_t bytes, uint32_t type)
{
    for (size_t i = 0; i < bytes / sizeof *types; i++)
        if (types[i] == type) return true;
    return false;
}

static bool is_of_host(uint32_t type)
{
    return is_in(page_cache_types, sizeof page_cache_types, type) ||
           is_in(local_types, sizeof local_types, type);
}

bool base_fs_can_map(int fd)
{
    return is_in(page_cache_types, sizeof page_cache_types, type_of_fs(fd));
}

bool base_fs_is_shared(int fd)
{
    return is_in(shared_types, sizeof shared_types, type_of_fs(fd));
}

bool base_fs_is_local(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && is_of_host((uint32_t)fs.f_type);
}

bool base_fs_is_coherent(int fd)
{
    uint32_t type = type_of_fs(fd);
    return is_of_host(type) || is_in(shared_types, sizeof shared_types, type);
}

/* ---- extended attributes ---- */

static const char *const id_names[] = {"user.ncmpi.id", "user.ncmpi.logs"};

uint64_t base_fs_id(int fd, enum base_fs_id which)
{
    unsigned char bytes[8];
    const unsigned char *p = bytes;
    ssize_t n = fgetxattr(fd, id_names[which], bytes, sizeof bytes);
    return n == sizeof bytes ? base_get_word(&p) : 0;
}

bool base_fs_set_id(int fd, enum base_fs_id which, uint64_t id)
{
    unsigned char bytes[8];
    base_put_word(bytes, id);
    return fsetxattr(fd, id_names[which], bytes, sizeof bytes, 0) == 0;
}

/* ---- FUSE: bypassing a node's page cache ----
 * FUSE caches pages of a file on each node, even if nodes share the file. After another
 * node has written, reads return stale data. A write-back cache also writes whole pages,
 * and so overwrites data from other nodes. With O_DIRECT, a descriptor sends each read
 * and write to the server unchanged, at any offset (fs/fuse/file.c requires no
 * alignment), and a write invalidates the pages that it bypasses. The flag is set after
 * open() so that the server does not see it: some servers would pass it on to a disk,
 * where offsets must be multiples of the block size. If the kernel itself reads the
 * underlying file (FUSE passthrough), a read at an odd offset fails, and the flag is
 * cleared again.
 *
 * Sizes are also cached for seconds, and a read beyond the cached size returns nothing.
 * statx() with AT_STATX_FORCE_SYNC refreshes the size. */

bool base_fs_caches_names(const char *path)
{
    struct statfs fs;
    char folder[PATH_MAX];
    base_path_folder(path, folder, sizeof folder);
    return statfs(folder, &fs) == 0 && (uint32_t)fs.f_type == FUSE;
}

static void query_size(int fd, const char *path, int how)
{
#ifdef STATX_SIZE
    struct statx size;
    (void)statx(fd, path, how | AT_STATX_FORCE_SYNC, STATX_SIZE, &size);
#else
    (void)fd, (void)path, (void)how;
#endif
}

bool base_fs_bypasses_cache(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_DIRECT) != 0;
}

/* ---- FUSE: the server process ----
 * The process that serves the mount may also have a cache. The mount type identifies the
 * kind of server. CephFS ensures coherence with locks. MooseFS delays writes until a
 * sync. GlusterFS caches reads and sizes for a second, even if another node writes, but
 * invalidates the cache in any call that might change the file. fallocate() on an
 * existing first byte is such a call, and changes neither the data nor the size. A
 * process without write permission must wait until the second has passed. */

static const char ceph[] = "fuse.ceph-fuse";
static const char gluster[] = "fuse.glusterfs";

/* The last look-up, cached because a job's files are on few mounts. */
static struct {
    pthread_mutex_t lock;
    dev_t device;
    char name[BASE_FS_NAME];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Parses a number and the character that follows it. */
static bool read_number(char **at, char end, unsigned *number)
{
    *number = (unsigned)strtoul(*at, at, 10);
    return *(*at)++ == end;
}

/* Parses a line of mountinfo (see proc(5)) such as "36 35 98:0 / /mnt rw - fuse.sshfs
 * host:/folder rw". Stores type and source in `name`. */
static bool read_mount(char *line, dev_t device, char name[BASE_FS_NAME])
{
    unsigned skipped, upper, lower;
    const char *type = strstr(line, " - ");
    if (type == NULL || !read_number(&line, ' ', &skipped) ||
        !read_number(&line, ' ', &skipped) || !read_number(&line, ':', &upper) ||
        !read_number(&line, ' ', &lower) || makedev(upper, lower) != device)
        return false;
    type += strlen(" - ");
    size_t length = strcspn(type, " \n");
    if (type[length] == ' ') length += 1 + strcspn(type + length + 1, " \n");
    snprintf(name, BASE_FS_NAME, "%.*s", (int)length, type);
    return true;
}

/* Searches the mount table for a device. A line longer than the buffer is read in parts,
 * of which only the first can match. */
static void look_up(dev_t device, char name[BASE_FS_NAME])
{
    char line[4096];
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    bool found = false;
    while (mounts != NULL && !found && fgets(line, sizeof line, mounts) != NULL)
        found = read_mount(line, device, name);
    if (!found) name[0] = '\0';
    if (mounts != NULL) (void)fclose(mounts);
}

void base_fs_name(int fd, char name[BASE_FS_NAME])
{
    struct stat st;
    memset(name, 0, BASE_FS_NAME);
    if (fstat(fd, &st) != 0) return;
    const dev_t device = st.st_dev;
    (void)pthread_mutex_lock(&known.lock);
    if (known.device != device || known.name[0] == '\0') {
        look_up(device, known.name);
        known.device = device;
    }
    memcpy(name, known.name, BASE_FS_NAME);
    (void)pthread_mutex_unlock(&known.lock);
}

static bool is_type(const char *name, const char *type)
{
    size_t n = strlen(type);
    return strncmp(name, type, n) == 0 && (name[n] == ' ' || name[n] == '\0');
}

bool base_fs_may_be_stale(int fd)
{
    char name[BASE_FS_NAME];
    if (!base_fs_bypasses_cache(fd)) return false;
    base_fs_name(fd, name);
    return !is_type(name, ceph);
}

/* Waits a second for cached data to expire. Returns immediately if the file was not
 * modified recently, or is not on GlusterFS. */
static void wait_for_gluster(int fd)
{
    enum { SOON = 5 }; /* seconds; tolerates small clock skew */
    char name[BASE_FS_NAME];
    struct stat st;
    struct timespec keeps = {1, 100000000};
    base_fs_name(fd, name);
    if (!is_type(name, gluster)) return;
    (void)fsync(fd); /* refreshes the times */
    if (fstat(fd, &st) == 0 && st.st_mtime < time(NULL) - SOON) return;
    while (nanosleep(&keeps, &keeps) != 0 && errno == EINTR)
        continue;
}

/* The listed errors mean that the call is unsupported or that there is no space. The
 * client then retains the data, or reports the error at the next sync. */
bool base_fs_is_data_lost(int error)
{
    static const int others[] = {0,      EBADF,  EINVAL, ENODEV,
                                 ENOSYS, ENOSPC, EDQUOT, EOPNOTSUPP};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (error == others[i]) return false;
    return true;
}

int base_fs_reserve(int fd, int64_t at, bool longer)
{
    int failed;
    if (longer && !base_can_write_to(at + 1)) return errno;
    do
        failed = fallocate(fd, longer ? 0 : FALLOC_FL_KEEP_SIZE, (off_t)at, 1);
    while (failed && errno == EINTR);
    return failed ? errno : 0;
}

/* Refreshes cached data. Returns 0 or an errno. EBADF means that the file is open
 * read-only, so the server process was not asked to refresh its cache. */
static int refresh_cache(int fd)
{
    int failed = base_fs_may_be_stale(fd) ? base_fs_reserve(fd, 0, false) : 0;
    query_size(fd, "", AT_EMPTY_PATH);
    return errno = failed;
}

bool base_fs_refresh_size(int fd)
{
    return !base_fs_bypasses_cache(fd) || !base_fs_is_data_lost(refresh_cache(fd));
}

bool base_fs_refresh(int fd)
{
    int failed = base_fs_bypasses_cache(fd) ? refresh_cache(fd) : 0;
    if (failed == EBADF || failed == ENOSPC || failed == EDQUOT) {
        wait_for_gluster(fd);
        query_size(fd, "", AT_EMPTY_PATH);
    }
    return !base_fs_is_data_lost(failed);
}

/* Increases the file size that the kernel knows. A kernel with a write-back cache never
 * asks the server for the size, and reads nothing beyond the size it knows. fallocate()
 * on an existing byte does not change the file, but shows the kernel that the file
 * includes that byte (fs/fuse/file.c). */
bool base_fs_set_known_size(int fd, int64_t size)
{
    struct stat st;
    return fstat(fd, &st) != 0 || st.st_size >= size ||
           !base_fs_is_data_lost(base_fs_reserve(fd, size - 1, true));
}

int base_fs_stat(const char *path, struct stat *st)
{
    query_size(AT_FDCWD, path, 0);
    return stat(path, st);
}

/* Tests whether reads at odd offsets work. Ignores all other errors, which a later read
 * reports: clearing the flag would make all reads use the node's page cache. */
static bool can_read_unaligned(int fd)
{
    char byte;
    return pread(fd, &byte, 1, 1) >= 0 || errno != EINVAL;
}

bool base_fs_bypass_cache(int fd)
{
    if (type_of_fs(fd) != FUSE) return false;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_DIRECT) != 0) return false;
    (void)base_fs_refresh(fd); /* nothing has been written, so no data are lost */
    if (can_read_unaligned(fd)) return true;
    (void)fcntl(fd, F_SETFL, flags);
    return false;
}

/* ---- Lustre: stripes from an extended attribute, little-endian ----
 * A server (OST) extends a lock that it grants up to the next conflicting lock held by
 * another node, and revokes a lock only as a whole (LDLM's extent policy). See struct
 * lov_user_md_v1, lov_user_md_v3 and lov_comp_md_v1 in lustre_user.h. */

static int64_t number(const unsigned char *bytes, size_t at, size_t width)
{
    uint32_t four = 0;
    memcpy(&four, bytes + at, width);
    return (int64_t)le32toh(four);
}

static struct base_fs_stripes lustre_layout(const unsigned char *bytes, size_t length)
{
    enum { V1 = 0x0bd10bd0, V3 = 0x0bd30bd0, UNIT = 24, COUNT = 28, END = 32 };
    enum { LEAST = 65536, ALL = 0xffff }; /* minimum unit; count for "all servers" */
    struct base_fs_stripes none = {0, 0, true};
    if (length < END) return none;
    int64_t magic = number(bytes, 0, 4);
    if (magic != V1 && magic != V3) return none;
    int64_t unit = number(bytes, UNIT, 4), count = number(bytes, COUNT, 2);
    if (unit == 0 || unit % LEAST != 0) return none;
    return (struct base_fs_stripes){unit, count == ALL ? 0 : count, true};
}

/* For a composite layout, uses the last component, which covers most of a large file. */
static struct base_fs_stripes lustre_stripes(const unsigned char *bytes, size_t length)
{
    enum { COMPOSITE = 0x0bd60bd0, ENTRIES = 14, HEAD = 32, ENTRY = 48, OFFSET = 24 };
    if (length < HEAD || number(bytes, 0, 4) != COMPOSITE)
        return lustre_layout(bytes, length);
    size_t n = (size_t)number(bytes, ENTRIES, 2);
    if (n == 0 || length < HEAD + n * ENTRY) return (struct base_fs_stripes){0, 0, true};
    size_t at = (size_t)number(bytes, HEAD + (n - 1) * ENTRY + OFFSET, 4);
    return lustre_layout(at < length ? bytes + at : bytes, at < length ? length - at : 0);
}

struct base_fs_stripes base_fs_stripes(int fd)
{
    unsigned char layout[65536]; /* maximum size of an attribute */
    struct stat st;
    uint32_t type = type_of_fs(fd);
    if (type == LUSTRE) {
        ssize_t n = fgetxattr(fd, "lustre.lov", layout, sizeof layout);
        return n > 0 ? lustre_stripes(layout, (size_t)n)
                     : (struct base_fs_stripes){0, 0, true};
    }
    /* GPFS writes whole blocks. The number of disks is unknown. */
    if (type == GPFS && fstat(fd, &st) == 0)
        return (struct base_fs_stripes){(int64_t)st.st_blksize, 0, false};
    return (struct base_fs_stripes){0, 0, false};
}
#endif
