/* The rights of files that replace or accompany a dataset: a joined file, subfiles, a
 * journal, logs, staged copies, what the tools write. They may hold its values, so nobody
 * may read or write them who may not read or write the dataset. */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

enum { BASE_RIGHTS_PRIVATE = 0600 }; /* the mode to create such a file with */

/* Gives an open file that this process has just created the group, access control list
 * and mode of another open file, and its owner if this process may (the superuser). Where
 * the group or the list cannot be given, rights shrink until no user has more than the
 * model allows. Errors, with words that name the file (`path`): NC_EACCESS ... */
int base_rights_copy(int from, int to, const char *path);

#endif
