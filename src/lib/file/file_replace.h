/* Replaces a file that another job has open for writing with a new one. */
#ifndef FILE_REPLACE_H
#define FILE_REPLACE_H

#include "file.h"

/* Creates a file at a path, with flags as in MPI_File_open, and closes it again. */
typedef int file_maker(struct file *f, const char *path, int amode);

/* Replaces the dataset's file, which is open as d->fd, with a new, empty file of the same
 * name. d->fd becomes the new file's descriptor and the guard. *how is FILE_USED on
 * entry; it becomes FILE_LOCKED, or FILE_AGAIN if another file has since taken the name.
 * `make` creates the file; if it is NULL, system calls do. On error the name still refers
 * to the old file, which is unchanged. NC_EFILE, NC_EACCESS ... Local, on process 0. */
int file_replace(struct file *f, struct file_descriptor *d, file_maker *make,
                 enum file_lock_result *how);

/* Removes the empty file that a killed process may have left in an attempt to replace the
 * dataset's file, which is open as fd, exclusively locked, and not empty. Local. */
void file_replace_tidy(const struct dataset *ds, int fd);

#endif
