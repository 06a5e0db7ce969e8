/* Bytes of a file through its descriptor: all of them, however often the system stops. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n bytes at a place. Errors, with words that name the file: NC_EREAD, also where it ends
 * before; NC_EWRITE, NC_ENO_SPACE ... */
int base_read_at(int fd, int64_t at, void *bytes, int64_t n, const char *path);
int base_write_at(int fd, int64_t at, const void *bytes, int64_t n, const char *path);

/* n bytes where the descriptor is, as of a pipe or a file that is appended to. False:
 * errno says why. */
bool base_write_on(int fd, const void *bytes, size_t n);

/* The bytes of a file, and how long it is, are on the device. NC_EWRITE ... */
int base_sync_data(int fd, const char *path);

/* The names in the directory that a file is in are on the device. NC_EWRITE ... */
int base_sync_directory(const char *path_of_file);

/* Makes the file at least `size` (> 0) bytes long. It never gets shorter, and no byte of
 * it another value, whatever other programs add at this moment. NC_EWRITE, NC_ENO_SPACE
 * ... */
int base_extend(int fd, int64_t size, const char *path);

/* Are n (> 0) bytes all zero? In a new file they need not be written. */
bool base_is_zero(const void *bytes, int64_t n);

#endif
