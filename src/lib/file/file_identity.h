/* Identifies a dataset's file by descriptor. Process 0 opens the file first and records
 * its identity. Later opens find the same file or fail. */
#ifndef FILE_IDENTITY_H
#define FILE_IDENTITY_H

#include "file_descriptor.h"

/* Opens ds->path, creating it if the flags include O_CREAT, or adopts the descriptor in
 * ds->created_descriptor. Records the file's device and inode in the dataset. It must be
 * a regular file. NC_ENOENT, NC_EEXIST, NC_EACCESS, NC_EFILE ... */
int file_open_first(struct dataset *ds, int flags, struct file_descriptor *d);

/* Opens the file that process 0 has opened, or duplicates ds->shared_descriptor. Returns
 * NC_ENOENT, NC_EACCESS ... if the file was renamed or is not visible to this process,
 * and NC_EFILE if the name now refers to another file. */
int file_open_again(struct dataset *ds, struct file_descriptor *d);

/* Opens the dataset's file by name for one task, such as locking it or reading one page.
 * The caller closes *fd, which is -1 on error. Returns NC_EFILE if another file has taken
 * the name, as far as this host can determine; does not touch that file. */
int file_reopen(const struct dataset *ds, int flags, int *fd);

/* Return whether a descriptor refers to the dataset's file; file_is_dataset_fd also
 * requires that it has the dataset's access mode. Return false if this cannot be
 * determined. */
bool file_is_fd(const struct dataset *ds, int fd);
bool file_is_dataset_fd(const struct dataset *ds, int fd);

/* For files opened through MPI-IO. file_check_type returns an error if the file at path
 * cannot be a dataset; file_record_identity records the identity of the file at
 * ds->path. */
int file_check_type(const char *path);
void file_record_identity(struct dataset *ds);

/* Records that the dataset's file is the one open as `fd`. NC_EFILE. */
int file_record_fd(struct dataset *ds, int fd);

/* Return whether the file at path is the dataset's; file_is_only_at_path also requires
 * that the file has no other name. Return false if this cannot be determined. */
bool file_is_at_path(const struct dataset *ds, const char *path);
bool file_is_only_at_path(const struct dataset *ds, const char *path);

/* Returns NC_EFILE if ds->full_path now refers to another file. */
int file_check(const struct dataset *ds);

/* Returns whether the open file is the master file of a dataset stored in subfiles. */
bool file_has_subfiles(int fd);

/* Returns whether ds->full_path refers to the file open as `fd`. */
bool file_path_is_fd(const struct dataset *ds, int fd);

/* Returns NC_EFILE if the file is lost: it no longer has a name, and another file has
 * taken that name, so this process's writes can never be read. A file that was only
 * renamed or deleted is not lost. Returns NC_NOERR on a process without a descriptor.
 * Local. */
int file_check_replaced(const struct dataset *ds);

/* Sets the message for `err` on a process that received this error code from process 0 in
 * a collective call. Local. */
void file_explain_replaced(const struct dataset *ds, int err);

#endif
