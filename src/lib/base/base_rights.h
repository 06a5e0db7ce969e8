/* Permissions for files that replace or accompany a dataset: joined files, subfiles,
 * journals, logs, staged copies, and output from the tools. They may contain the
 * dataset's values, so only users who may access the dataset may access them. */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

enum { BASE_RIGHTS_PRIVATE = 0600 }; /* mode for creating such a file */

/* Copies group, access control list and mode from one open file to another, which this
 * process has just created. Also copies the owner if permitted (superuser). If the group
 * or the list cannot be set, reduces permissions until no user has more than the original
 * grants. Error messages name the file (`path`). NC_EACCESS ... */
int base_rights_copy(int from, int to, const char *path);

#endif
