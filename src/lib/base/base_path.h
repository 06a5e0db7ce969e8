/* Determines absolute paths, and the directories that contain files. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>

/* Returns the absolute path of a file, which need not exist. Returns the path itself if
 * the absolute path cannot be determined or is too long, and NULL if out of memory. */
char *base_path_absolute(const char *path);

/* Like base_path_absolute, but stores the path in the caller's buffer, truncated if it
 * does not fit. */
void base_path_absolute_to(const char *path, char *full, size_t size);

/* Returns the directory that contains a file, as a path that can be opened: "dir/." or
 * ".". Truncates the path if it does not fit. */
void base_path_folder(const char *path, char *folder, size_t size);

#endif
