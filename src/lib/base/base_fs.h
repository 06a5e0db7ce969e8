/* What is known of the file system that a file lies on. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include <stdbool.h>
#include <stdint.h>

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

/* Asks for the size again, where it may be an old one: the next fstat(), stat() or read()
 * knows it. */
void base_fs_refresh(int fd);
void base_fs_refresh_path(const char *path);

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
