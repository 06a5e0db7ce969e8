/* Opens, reads and writes files through descriptors, which no other module does.
 * Transfers are complete even if signals interrupt them. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct iovec;
struct stat;

/* Open a file with close-on-exec. Do not wait for the other end of a pipe or serial line,
 * and do not acquire a controlling terminal. New files are private to this user, unless
 * `rights` is their mode. Return -1 and set errno on error. */
int base_open(const char *path, int flags);
int base_open_with(const char *path, int flags, mode_t rights);

/* Opens a regular file. Fails with EPERM if it is not regular. */
int base_open_regular(const char *path, int flags);

/* Opens a regular file that this user owns. Otherwise fails with EPERM. */
int base_open_own(const char *path, int flags);

/* Duplicates a descriptor, with close-on-exec. Returns -1 and sets errno on error. */
int base_duplicate(int fd);

/* Returns whether a and b describe the same file: device and inode number are equal. */
bool base_same_file(const struct stat *a, const struct stat *b);

/* Returns whether the path refers to the open file and is not a symbolic link. */
bool base_has_name(int fd, const char *path);

/* Returns whether the open file is empty. */
bool base_is_empty(int fd);

/* Records that a name now refers to a different file, and returns NC_EFILE. */
int base_refuse_other_file(const char *path);

/* Returns whether the descriptor is read-only. */
bool base_reads_only(int fd);

/* Reads up to n bytes at an offset. Returns the number of bytes, which is less than n
 * only at the end of the file. Returns -1 and sets errno on error. */
int64_t base_read_some(int fd, int64_t at, void *bytes, int64_t n);

/* Transfer n bytes at an offset. Error messages name the file. NC_EREAD, also if the file
 * is too short; NC_EWRITE, NC_ENO_SPACE ... */
int base_read_at(int fd, int64_t at, void *bytes, int64_t n, const char *path);
int base_write_at(int fd, int64_t at, const void *bytes, int64_t n, const char *path);

/* Extends the file to `end` before a pwrite() through a descriptor that bypasses the
 * node's page cache (base_fs_bypass_cache). If the pwrite() then fails, data that other
 * nodes wrote beyond the end known to this node survive. Sets *unknown if fallocate() is
 * not supported, so they may not survive. Returns false and sets errno on error. */
bool base_extend_before_write(int fd, int64_t end, bool *unknown);

/* Writes a list of memory pieces to consecutive bytes of the file. Modifies the list.
 * NC_EWRITE ... */
int base_write_pieces(int fd, int64_t at, struct iovec *pieces, int n, const char *path);

/* Writes n bytes at the descriptor's position, for example to a pipe. Returns false and
 * sets errno on error. */
bool base_write_stream(int fd, const void *bytes, size_t n);

/* Syncs the data and the length of a file to the device. NC_EWRITE ... */
int base_sync_data(int fd, const char *path);

/* Starts writing a range to the device. The next sync reports any error. */
void base_write_back(int fd, int64_t at, int64_t n);

/* Syncs the directory that contains a file. NC_EWRITE ... */
int base_sync_directory(const char *path_of_file);

/* Extends the file to at least `size` (> 0) bytes. Never truncates it or changes a byte,
 * even if other programs extend it concurrently. NC_EWRITE, NC_ENO_SPACE ... */
int base_extend(int fd, int64_t size, const char *path);

/* Asks the file system to overwrite the blocks of a new, empty file in place. Btrfs would
 * otherwise allocate new blocks for each write, which fails when the disk is full. */
void base_write_in_place(int fd);

/* Sets the length, truncating the file if needed. Only for files that are not used
 * elsewhere. NC_EWRITE, NC_ENO_SPACE ... */
int base_resize(int fd, int64_t size, const char *path);

/* Returns whether n (> 0) bytes are all zero. Zeros need not be written to a new file. */
bool base_is_zero(const void *bytes, int64_t n);

#endif
