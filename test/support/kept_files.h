/* A job that is killed, played: the files of the case's directory are kept while nothing
 * is closed, and put back when all is. Both are collective. */
#ifndef KEPT_FILES_H
#define KEPT_FILES_H

void kept_files_keep(void);

/* As they were, with their times of change, in the same inodes; others are removed. */
void kept_files_put_back(void);

#endif
