/* What is known of the file system that a file lies on. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include <stdbool.h>
#include <stdint.h>

struct stat;

/* What a call of write() has written is what every read() gets from then on, wherever its
 * process runs, and the file has the same inode number there. False where that is not
 * known. */
bool base_fs_coherent(int fd);

/* On a file system that promises nothing because each node keeps pages and sizes for
 * itself (FUSE): from here on the descriptor reads and writes what the file system has,
 * not the node's pages, and the file's size is asked for. False: it is no such file
 * system, or it does not let itself be read like that, and nothing has changed. */
bool base_fs_go_around(int fd);

/* Does it go around the node's pages? */
bool base_fs_goes_around(int fd);

/* When a file was made, in nanoseconds since 1970; 0: not every file system knows. */
uint64_t base_fs_birth(int fd);

/* Does it go around the pages and yet not to the file system at once? The process that
 * serves the mount may keep writes until they are synced, and what it has read until
 * base_fs_refresh. True of every mount of FUSE that is not known to be better. */
bool base_fs_late(int fd);

/* Asks again for what may be old, where there is such a thing: the next fstat(), stat()
 * or read() knows what another node has synced. _stat is stat() of what is asked for so.
 * Where that takes a moment's waiting since the file is open for reading alone, _refresh
 * waits, if somebody has written to it just now, and _ask does not: for a size, when it
 * is known that there is more. False: see base_fs_lost. */
bool base_fs_ask(int fd);
bool base_fs_refresh(int fd);
int base_fs_stat(const char *path, struct stat *st);

/* The file has `size` (> 0) bytes at least, as others have told: where the node knows of
 * fewer, and keeps to that, it learns it, if the file may be written. False: see
 * base_fs_lost. */
bool base_fs_learn_size(int fd, int64_t size);

/* Has the file so many bytes (> 0) on its server, whatever the node knows? Only where
 * that can be asked without changing anything: false may be wrong. */
bool base_fs_has(int fd, int64_t size);

/* A block for one byte; the file reaches so far then, if it may get longer. 0, or an
 * errno: EOPNOTSUPP, ENOSYS and EINVAL where that cannot be done, ENOSPC ... */
int base_fs_reserve(int fd, int64_t at, bool longer);

/* A call that writes no values failed with that errno on a file for which base_fs_late is
 * true: may it have brought there what this node, whichever process, has put before, and
 * lost it? Nobody may be told of that a second time, not even who put it. */
bool base_fs_lost(int error);

/* A mount knows for seconds which file had a name before, or that none had (FUSE). False:
 * `path` is on no such mount, or these have passed; else a moment has been waited, and
 * what failed by that name is worth another try. *turn begins with 0. */
bool base_fs_late_names(const char *path);
bool base_fs_await_name(const char *path, int *turn);

/* Is nothing there by that name? On such a mount it is looked for as long. */
bool base_fs_gone(const char *path);

/* How the file system that has the file was mounted, for people: "fuse.sshfs
 * host:/folder". */
enum { BASE_FS_NAME = 128 };
void base_fs_name(int fd, char name[BASE_FS_NAME]);

/* A file has one cache on this host, its pages, that read(), write() and mappings share:
 * a store to a mapping changes the bytes it names, for all, and no others, and none is
 * lost when another process makes the file longer. */
bool base_fs_maps(int fd);

/* The same of a file system that nodes share: other nodes with this inode number have
 * this file, and a directory has the same names on all. */
bool base_fs_shared(int fd);

/* Is `path` on a file system that this host has to itself? False where that is not known.
 */
bool base_fs_of_host(const char *path);

/* How the file is spread: bytes of a stripe, and over how many servers; 0: not known.
 * Does a server lock all that it has of a file for the node that writes there, and take
 * that away when another node does? */
struct base_fs_stripes {
    int64_t unit, count;
    bool objects;
};
struct base_fs_stripes base_fs_stripes(int fd);

#endif
