/* Paths that hold wherever the program goes. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

/* The path from the root, of a file that need not be there; the path itself where that
 * cannot be found or would be too long for the system. NULL: no memory. */
char *base_path_absolute(const char *path);

#endif
