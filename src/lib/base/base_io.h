/* Files by descriptors of the system: the one place that opens, reads and writes them.
 * Transfers are whole, however often the system stops. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct iovec;

/* open(), which waits neither for the other end of a pipe nor for a line, takes no
 * terminal, and is closed in programs that this process starts. Files that are made are
 * this user's alone, or have `rights`. -1: errno says why. */
int base_open(const char *path, int flags);
int base_open_with(const char *path, int flags, mode_t rights);

/* The same, of a regular file; whatever else is there is EPERM. */
int base_open_regular(const char *path, int flags);

/* The same, of this user; anybody else's is EPERM, too. */
int base_open_own(const char *path, int flags);

/* Was it opened for reading alone? */
bool base_reads_only(int fd);

/* Bytes from a place on, of n those that the file has. -1: errno says why. */
int64_t base_read_some(int fd, int64_t at, void *bytes, int64_t n);

/* n bytes at a place. Errors, with words that name the file: NC_EREAD, also where it ends
 * before; NC_EWRITE, NC_ENO_SPACE ... */
int base_read_at(int fd, int64_t at, void *bytes, int64_t n, const char *path);
int base_write_at(int fd, int64_t at, const void *bytes, int64_t n, const char *path);

/* Before a pwrite() that ends there, by a descriptor that goes around a node's pages
 * (base_fs_go_around): should it fail, what others have written behind the end that the
 * node knows stays. Not so if *unknown, since there is no fallocate(). False: errno says
 * why not. */
bool base_reach(int fd, int64_t end, bool *unknown);

/* Pieces of memory, one behind the other in the file; they are changed. NC_EWRITE ... */
int base_write_pieces(int fd, int64_t at, struct iovec *pieces, int n, const char *path);

/* n bytes where the descriptor is, as of a pipe or a file that is appended to. False:
 * errno says why. */
bool base_write_on(int fd, const void *bytes, size_t n);

/* The bytes of a file, and how long it is, are on the device. NC_EWRITE ... */
int base_sync_data(int fd, const char *path);

/* The device may begin with what was written there; what fails the sync tells. */
void base_write_back(int fd, int64_t at, int64_t n);

/* The names in the directory that a file is in are on the device. NC_EWRITE ... */
int base_sync_directory(const char *path_of_file);

/* Makes the file at least `size` (> 0) bytes long. It never gets shorter, and no byte of
 * it another value, whatever other programs add at this moment. NC_EWRITE, NC_ENO_SPACE
 * ... */
int base_extend(int fd, int64_t size, const char *path);

/* Asks the file system to overwrite the blocks of a new, empty file in place. Btrfs would
 * write new blocks each time, and fail when the disk is full. */
void base_write_in_place(int fd);

/* Makes it that long, and cuts off what is behind: of a file that nobody else has.
 * NC_EWRITE, NC_ENO_SPACE ... */
int base_resize(int fd, int64_t size, const char *path);

/* Are n (> 0) bytes all zero? In a new file they need not be written. */
bool base_is_zero(const void *bytes, int64_t n);

#endif
