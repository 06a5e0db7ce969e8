/* File systems, told apart by what statfs says. */
#define _GNU_SOURCE /* O_DIRECT, statx */
#include "base_fs.h"

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

void base_fs_refresh(int fd)
{
    (void)fd;
}

void base_fs_refresh_path(const char *path)
{
    (void)path;
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
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

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

/* ---- around the pages of a node ----
 * FUSE keeps pages of a file on each node, and whatever is behind it may be the same file
 * for all: what another node has written is read old, and with a write-back cache a page
 * is written back as a whole, over what another node has put into it. A descriptor with
 * O_DIRECT sends each read and write to the file system, byte for byte, whatever their
 * places are (fs/fuse/file.c: no alignment is asked for), and a write drops the pages it
 * goes past. It is set behind open(), so that who serves the file system does not see it:
 * some would hand it on to a disk, where places have to be multiples of blocks. Where
 * the kernel itself hands reads on like that (FUSE passthrough), one at an odd place
 * fails, and the flag is taken back.
 *
 * Sizes are kept for seconds, too, and a read behind such a size is empty: statx() with
 * AT_STATX_FORCE_SYNC asks for it. */

static bool reads_anywhere(int fd)
{
    char byte;
    return pread(fd, &byte, 1, 1) >= 0 || errno == EBADF; /* not open for reading */
}

bool base_fs_go_around(int fd)
{
    if (type_of_fs(fd) != FUSE) return false;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_DIRECT) != 0) return false;
    base_fs_refresh(fd);
    if (reads_anywhere(fd)) return true;
    (void)fcntl(fd, F_SETFL, flags);
    return false;
}

bool base_fs_goes_around(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_DIRECT) != 0;
}

static void ask_for_size(int fd, const char *path, int how)
{
    struct statx known;
    (void)statx(fd, path, how | AT_STATX_FORCE_SYNC, STATX_SIZE, &known);
}

void base_fs_refresh(int fd)
{
    if (base_fs_goes_around(fd)) ask_for_size(fd, "", AT_EMPTY_PATH);
}

void base_fs_refresh_path(const char *path)
{
    ask_for_size(AT_FDCWD, path, 0);
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
