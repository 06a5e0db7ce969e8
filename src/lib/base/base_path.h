/* Paths that hold wherever the program goes. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>

/* The path from the root, of a file that need not be there; the path itself where that
 * cannot be found or would be too long for the system. NULL: no memory. */
char *base_path_absolute(const char *path);

/* The same into memory that is there; what does not fit is cut off. */
void base_path_absolute_to(const char *path, char *full, size_t size);

/* The directory that a file is in, by a path that can be opened: "dir/." or ".". What
 * does not fit is cut off. */
void base_path_folder(const char *path, char *folder, size_t size);

#endif
