/* Properties of the file system that stores a file. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include <stdbool.h>
#include <stdint.h>

struct stat;

/* Returns whether every read() returns the data of all completed write() calls, on all
 * nodes where the file has the same inode number. Returns false if unknown. */
bool base_fs_is_coherent(int fd);

/* Makes a descriptor bypass this node's page cache and cached sizes if the file system's
 * caches are not coherent (FUSE). Returns false, and changes nothing, on other file
 * systems and if this one does not support the bypass. */
bool base_fs_bypass_cache(int fd);

/* Returns whether the descriptor bypasses the node's page cache. */
bool base_fs_bypasses_cache(int fd);

/* Returns the creation time of a file in nanoseconds since 1970, or 0 if unknown. */
uint64_t base_fs_birth(int fd);

/* Ids stored in extended attributes of a file. */
enum base_fs_id {
    BASE_FS_DATASET, /* user.ncmpi.id: distinguishes the dataset from later ones in the
                      * same file; set when the file first has logs */
    BASE_FS_LOGS     /* user.ncmpi.logs: token from the last opening with logs; invalid
                      * once a later opening writes to the file */
};

/* Returns the id, or 0 if the file has none. */
uint64_t base_fs_id(int fd, enum base_fs_id which);

/* Stores an id in a writable file. Returns false and sets errno if the file system does
 * not support such attributes. */
bool base_fs_set_id(int fd, enum base_fs_id which, uint64_t id);

/* Returns whether a descriptor that bypasses the page cache may still return stale data,
 * because the process that serves the mount delays writes until a sync, or caches reads
 * until base_fs_refresh. True for every FUSE mount that is not known to be coherent. */
bool base_fs_may_be_stale(int fd);

/* Invalidate cached data and sizes, so that the next fstat(), stat() or read() sees what
 * another node has synced. base_fs_stat also calls stat(). If the file is open read-only
 * and was modified recently, base_fs_refresh waits for the cache to expire.
 * base_fs_refresh_size does not wait, so it is reliable only for the size of a file known
 * to have grown. If one of these returns false, see base_fs_is_data_lost. */
bool base_fs_refresh_size(int fd);
bool base_fs_refresh(int fd);
int base_fs_stat(const char *path, struct stat *st);

/* Makes this node aware that the file has at least `size` (> 0) bytes, which other
 * processes have reported. Works only if the file is writable. If it returns false, see
 * base_fs_is_data_lost. */
bool base_fs_set_known_size(int fd, int64_t size);

/* Returns whether the file has at least `size` (> 0) bytes on its server. A result of
 * false is not reliable: some servers cannot be queried without changing the file. */
bool base_fs_has_bytes(int fd, int64_t size);

/* Returns whether this process may write to a file up to byte `end`. If not
 * (RLIMIT_FSIZE, set by `ulimit -f`), sets errno to EFBIG: the write would end the
 * program with SIGXFSZ. All base_io functions that write check this first, so the
 * library's internal files never end the program. */
bool base_can_write_to(int64_t end);

/* Allocates a block for the byte at `at`, and extends the file to it if `longer` is set.
 * Returns 0 or an errno. EOPNOTSUPP, ENOSYS or EINVAL mean that this is not supported. */
int base_fs_reserve(int fd, int64_t at, bool longer);

/* Returns whether a failed call's error means that values written earlier by processes on
 * this node may be lost. The failed call itself wrote no values. Valid only for files for
 * which base_fs_may_be_stale returns true. The system may report the loss only once, and
 * to a process other than the writer. */
bool base_fs_is_data_lost(int error);

/* A FUSE mount caches for a few seconds which file a name refers to, or that a name does
 * not exist. base_fs_await_name waits briefly and returns true if it is worth retrying a
 * failed look-up of `path`. It returns false on other mounts and after the last retry.
 * *turn must initially be 0. */
bool base_fs_caches_names(const char *path);
bool base_fs_await_name(const char *path, int *turn);

/* Returns whether no file has this name. Retries on a mount that caches names. */
bool base_fs_is_name_free(const char *path);

/* Returns the type and source of the mount, for messages: "fuse.sshfs host:/folder". */
enum { BASE_FS_NAME = 128 };
void base_fs_name(int fd, char name[BASE_FS_NAME]);

/* Returns whether stores through a mapping of the file are visible to read() and write()
 * in every process on this host, and cannot fail where blocks have been reserved. */
bool base_fs_can_map(int fd);

/* Returns whether the file system is coherent and shared by nodes. On other nodes the
 * same inode number then means the same file, and a directory contains the same names. */
bool base_fs_is_shared(int fd);

/* Returns whether the file system of `path` is used only by this host. Returns false if
 * unknown. */
bool base_fs_is_local(const char *path);

/* Striping of a file: stripe size in bytes and number of servers; 0 if unknown. If
 * `objects` is true, a server locks its whole part of the file for the node that writes
 * there, and revokes that lock when another node writes. */
struct base_fs_stripes {
    int64_t unit, count;
    bool objects;
};
struct base_fs_stripes base_fs_stripes(int fd);

#endif
