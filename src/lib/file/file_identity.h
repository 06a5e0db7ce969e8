/* The file of a dataset through descriptors of the system. Process 0 opens it first, and
 * notes which one it is; who opens it later gets that one or none. */
#ifndef FILE_IDENTITY_H
#define FILE_IDENTITY_H

#include "file_descriptor.h"

/* Opens ds->path, creates it if the flags of open() say so, and notes which file it is.
 * It is a regular one. NC_ENOENT, NC_EEXIST, NC_EACCESS, NC_EFILE ... */
int file_first(struct dataset *ds, int flags, struct file_descriptor *d);

/* Opens it where others have, or copies ds->lent. It may have got another name since, or
 * not be there for this process: NC_ENOENT, NC_EACCESS ...; NC_EFILE if that is another
 * file by now. */
int file_again(struct dataset *ds, struct file_descriptor *d);

/* Is a descriptor that another process opened of that file, and may it do as much? */
bool file_is(const struct dataset *ds, int fd);

/* The same two for those who open it by its name through others: is there a file at path
 * that cannot be a dataset's? Which file is it? */
int file_refuse(const char *path);
void file_note(struct dataset *ds);

/* Is the file at path the dataset's? Has it no other name? False where that cannot be
 * told. */
bool file_has(const struct dataset *ds, const char *path);
bool file_only(const struct dataset *ds, const char *path);

/* Does ds->full still lead to that file, or to nothing? Else NC_EFILE. */
int file_check(const struct dataset *ds);

#endif
