/* Creates files that accompany or replace a dataset, and renames files that have a
 * temporary name until they are complete.
 *
 * Other users may be able to write to the directory. So once a file has been created, its
 * name is used only to rename or remove it: its creator keeps the descriptor, and checks
 * before the rename that the name still refers to the same file. */
#ifndef FILE_TEMPORARY_H
#define FILE_TEMPORARY_H

#include "file_descriptor.h"

/* Creates an empty file with the permissions of the open file `model`. Leaves it open as
 * *made, which the caller closes. NC_EEXIST if the name exists. Local. */
int file_create_like(int model, const char *path, struct file_descriptor *made);

/* Same as file_create_like, but removes a file of that name that a killed process has
 * left, and locks the new file (BASE_LOCK_PARTS) to show that it is in use. Unless the
 * caller is the `only` one that may create it, checks that the old file is not locked.
 * NC_EFILE if another process is or may be writing it. Local. */
int file_temporary_create(int model, const char *path, bool only,
                          struct file_descriptor *made);

/* Renames the file, which is open as fd, from `path` to `to`, unlocks it, and syncs the
 * directory. NC_EFILE if another file has the name. Local. */
int file_temporary_rename(int fd, const char *path, const char *to);

#endif
