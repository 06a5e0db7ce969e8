/* File systems, told apart by what statfs says. */
#define _GNU_SOURCE /* O_DIRECT, statx, fallocate */
#include "base_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_path.h"

bool base_fs_await_name(const char *path, int *turn)
{
    enum { TURNS = 30 }; /* six seconds: what mounts keep names for is one to five */
    const struct timespec moment = {0, 200000000};
    if (*turn >= TURNS || !base_fs_late_names(path)) return false;
    ++*turn;
    (void)nanosleep(&moment, NULL);
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

bool base_fs_gone(const char *path)
{
    int turn = 0;
    struct stat st;
    bool gone = lstat(path, &st) != 0;
    while (!gone && base_fs_await_name(path, &turn))
        gone = lstat(path, &st) != 0;
    return gone;
}

/* FUSE passes the question for a hole on to the server, which has none behind the end. */
bool base_fs_has(int fd, int64_t size)
{
#ifdef SEEK_HOLE
    return lseek(fd, size - 1, SEEK_HOLE) >= 0;
#else
    return (void)fd, (void)size, false;
#endif
}

#ifndef __linux__
bool base_fs_coherent(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_go_around(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_goes_around(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_late(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_late_names(const char *path)
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

bool base_fs_ask(int fd)
{
    (void)fd;
    return true;
}

bool base_fs_learn_size(int fd, int64_t size)
{
    (void)fd, (void)size;
    return true;
}

bool base_fs_lost(int error)
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

bool base_fs_maps(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_shared(int fd)
{
    (void)fd;
    return false;
}

bool base_fs_of_host(const char *path)
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

/* Those that keep the promise of POSIX: a read() that begins after a write() has returned
 * gets what that wrote.
 *
 * - One host has the file system to itself. A file has one cache there, in the kernel,
 *   which all descriptors share. Processes on another host do not find the file at all.
 * - Nodes share it under its own locks: a node that writes has the lock of these bytes,
 *   and gives it up, with what it has cached, before another node reads them. Their
 *   protocol does so for every read() and write().
 *
 * Left out are those that write late or read what is old: NFS and SMB (caches agree when
 * a file is closed and opened), BeeGFS (each client has buffers of its own, as it is
 * usually mounted), FUSE (whatever is behind it), 9p; and all that nobody has looked at.
 *
 * Numbers are those of Linux' <linux/magic.h> and of statfs(2) unless said otherwise.
 *
 * Of those of one host, the first are known for what they do to the page in which a file
 * ends, and when, so that stores to it outlive that: see file_scatter.c. Btrfs has lost
 * some. */
static const uint32_t with_pages[] = {
    0x0000ef53, /* ext2, ext3, ext4 */
    0x58465342, /* XFS */
    0x01021994, /* tmpfs */
};
static const uint32_t of_one_host[] = {
    0x9123683e, /* Btrfs */
    0xf2f52010, /* F2FS */
    0xca451a4e, /* bcachefs */
    0x3153464a, /* JFS */
    0x858458f6, /* ramfs */
    0x2fc12fc1, /* ZFS: OpenZFS, ZFS_SUPER_MAGIC */
    0x794c7630, /* overlayfs */
};
static const uint32_t of_nodes[] = {
    LUSTRE,     /* lustre_user.h, LL_SUPER_MAGIC: extent locks (LDLM) */
    GPFS,       /* GNU coreutils, S_MAGIC_GPFS: byte-range tokens */
    0x00c36400, /* CephFS: capabilities; caches are off where several write */
    0x01161970, /* GFS2: glocks */
    0x7461636f, /* OCFS2: its DLM */
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
    return is_in(with_pages, sizeof with_pages, type) ||
           is_in(of_one_host, sizeof of_one_host, type);
}

bool base_fs_maps(int fd)
{
    return is_in(with_pages, sizeof with_pages, type_of_fs(fd));
}

bool base_fs_shared(int fd)
{
    return is_in(of_nodes, sizeof of_nodes, type_of_fs(fd));
}

bool base_fs_of_host(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && is_of_host((uint32_t)fs.f_type);
}

bool base_fs_coherent(int fd)
{
    uint32_t type = type_of_fs(fd);
    return is_of_host(type) || is_in(of_nodes, sizeof of_nodes, type);
}

/* ---- FUSE: around the pages of a node ----
 * It keeps pages of a file on each node, and whatever is behind it may be the same file
 * for all: what another node has written is read old, and with a write-back cache a page
 * is written back as a whole, over what another node has put into it. A descriptor with
 * O_DIRECT sends each read and write to who serves the mount, byte for byte, whatever
 * their places are (fs/fuse/file.c: no alignment is asked for), and a write drops the
 * pages it goes past. It is set behind open(), so that the server does not see it: some
 * would hand it on to a disk, where places have to be multiples of blocks. Where the
 * kernel itself hands reads on like that (FUSE passthrough), one at an odd place fails,
 * and the flag is taken back.
 *
 * Sizes are kept for seconds, too, and a read behind such a size is empty: statx() with
 * AT_STATX_FORCE_SYNC asks for it. */

bool base_fs_late_names(const char *path)
{
    struct statfs fs;
    char folder[PATH_MAX];
    base_path_folder(path, folder, sizeof folder);
    return statfs(folder, &fs) == 0 && (uint32_t)fs.f_type == FUSE;
}

static void ask_for_size(int fd, const char *path, int how)
{
#ifdef STATX_SIZE
    struct statx size;
    (void)statx(fd, path, how | AT_STATX_FORCE_SYNC, STATX_SIZE, &size);
#else
    (void)fd, (void)path, (void)how;
#endif
}

bool base_fs_goes_around(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_DIRECT) != 0;
}

/* ---- FUSE: who serves the mount ----
 * Behind the pages is a process that may have a cache of its own: what it is, the mount's
 * type tells. CephFS' sees to it by locks that all get the same. Of the others MooseFS'
 * keeps what is written until a sync, and GlusterFS' what was read, and sizes, for a
 * second, even if another node writes: a call on the same file that might change it makes
 * it forget them. fallocate() for a first byte that there is, with the size kept, changes
 * nothing, and is of those. Who may not write has to wait for that second. */

static const char ceph[] = "fuse.ceph-fuse";
static const char gluster[] = "fuse.glusterfs";

/* The last mount that was looked up: a job has its files on few. */
static struct {
    pthread_mutex_t lock;
    dev_t device;
    char name[BASE_FS_NAME];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A number and what ends it. */
static bool read_number(char **at, char end, unsigned *number)
{
    *number = (unsigned)strtoul(*at, at, 10);
    return *(*at)++ == end;
}

/* A line of mountinfo (see proc(5)): "36 35 98:0 / /mnt rw - fuse.sshfs host:/folder rw",
 * which becomes type and source. */
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

/* A line longer than that is read in parts, the last of which tells nothing. */
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

bool base_fs_late(int fd)
{
    char name[BASE_FS_NAME];
    if (!base_fs_goes_around(fd)) return false;
    base_fs_name(fd, name);
    return !is_type(name, ceph);
}

/* What was read a second ago is not used any more. */
static void wait_for_gluster(int fd)
{
    enum { SOON = 5 }; /* seconds; clocks may differ by some */
    char name[BASE_FS_NAME];
    struct stat st;
    struct timespec keeps = {1, 100000000};
    base_fs_name(fd, name);
    if (!is_type(name, gluster)) return;
    (void)fsync(fd); /* which brings the times */
    if (fstat(fd, &st) == 0 && st.st_mtime < time(NULL) - SOON) return;
    while (nanosleep(&keeps, &keeps) != 0 && errno == EINTR)
        continue;
}

/* Those are left out that say that the call is not for this file or not known, and that
 * there is no room: what cannot be written for that reason a client keeps, or tells who
 * syncs. */
bool base_fs_lost(int error)
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
    do
        failed = fallocate(fd, longer ? 0 : FALLOC_FL_KEEP_SIZE, (off_t)at, 1);
    while (failed && errno == EINTR);
    return failed ? errno : 0;
}

/* 0, or an errno. The server's process was not asked if the file is open for reading
 * alone (EBADF). */
static int ask_again(int fd)
{
    int failed = base_fs_late(fd) ? base_fs_reserve(fd, 0, false) : 0;
    ask_for_size(fd, "", AT_EMPTY_PATH);
    return errno = failed;
}

bool base_fs_ask(int fd)
{
    return !base_fs_goes_around(fd) || !base_fs_lost(ask_again(fd));
}

bool base_fs_refresh(int fd)
{
    int failed = base_fs_goes_around(fd) ? ask_again(fd) : 0;
    if (failed == EBADF || failed == ENOSPC || failed == EDQUOT) {
        wait_for_gluster(fd);
        ask_for_size(fd, "", AT_EMPTY_PATH);
    }
    return !base_fs_lost(failed);
}

/* With a write-back cache the kernel never asks for a size, and reads nothing behind the
 * one it has. fallocate() for a byte that is there changes nothing in the file, and the
 * kernel takes the byte's end for a size it has reached (fs/fuse/file.c). */
bool base_fs_learn_size(int fd, int64_t size)
{
    struct stat st;
    return fstat(fd, &st) != 0 || st.st_size >= size ||
           !base_fs_lost(base_fs_reserve(fd, size - 1, true));
}

int base_fs_stat(const char *path, struct stat *st)
{
    ask_for_size(AT_FDCWD, path, 0);
    return stat(path, st);
}

/* Another error than that of an odd place is a later read's to report: without the flag
 * the file would be read through the node's pages for as long as it is open. */
static bool reads_anywhere(int fd)
{
    char byte;
    return pread(fd, &byte, 1, 1) >= 0 || errno != EINVAL;
}

bool base_fs_go_around(int fd)
{
    if (type_of_fs(fd) != FUSE) return false;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_DIRECT) != 0) return false;
    (void)base_fs_refresh(fd); /* nothing was put by it */
    if (reads_anywhere(fd)) return true;
    (void)fcntl(fd, F_SETFL, flags);
    return false;
}

/* ---- Lustre tells stripes by an extended attribute, little-endian ----
 * A server (OST) grows the lock of a range that it grants as far as no other node's is in
 * the way, and calls such a lock back as a whole (LDLM's extent policy).
 * struct lov_user_md_v1 and _v3, lov_comp_md_v1 of lustre_user.h. */

static int64_t number(const unsigned char *bytes, size_t at, size_t width)
{
    uint32_t four = 0;
    memcpy(&four, bytes + at, width);
    return (int64_t)le32toh(four);
}

static struct base_fs_stripes lustre_layout(const unsigned char *bytes, size_t length)
{
    enum { V1 = 0x0bd10bd0, V3 = 0x0bd30bd0, UNIT = 24, COUNT = 28, END = 32 };
    enum { LEAST = 65536, ALL = 0xffff }; /* of a stripe; all servers there are */
    struct base_fs_stripes none = {0, 0, true};
    if (length < END) return none;
    int64_t magic = number(bytes, 0, 4);
    if (magic != V1 && magic != V3) return none;
    int64_t unit = number(bytes, UNIT, 4), count = number(bytes, COUNT, 2);
    if (unit == 0 || unit % LEAST != 0) return none;
    return (struct base_fs_stripes){unit, count == ALL ? 0 : count, true};
}

/* A file of several layouts, one behind the other: the last one has all that is large. */
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
    unsigned char layout[65536]; /* the most an attribute has */
    struct stat st;
    uint32_t type = type_of_fs(fd);
    if (type == LUSTRE) {
        ssize_t n = fgetxattr(fd, "lustre.lov", layout, sizeof layout);
        return n > 0 ? lustre_stripes(layout, (size_t)n)
                     : (struct base_fs_stripes){0, 0, true};
    }
    /* A block is what is written whole. It tells nothing of how many disks there are. */
    if (type == GPFS && fstat(fd, &st) == 0)
        return (struct base_fs_stripes){(int64_t)st.st_blksize, 0, false};
    return (struct base_fs_stripes){0, 0, false};
}
#endif
