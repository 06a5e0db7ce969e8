/* Simulates a killed job: saves the files in the case's directory while datasets are
 * open, and restores them after the datasets have been closed. Both functions are
 * collective. */
#ifndef KEPT_FILES_H
#define KEPT_FILES_H

void kept_files_keep(void);

/* Restores all saved files with their inodes and modification times, and removes any
 * other files. Clears the status change times recorded in logs, because ctime cannot be
 * restored (see old_notes.h). */
void kept_files_put_back(void);

#endif
