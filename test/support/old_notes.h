/* Converts a burst buffer's logs to the format of earlier versions, which did not record
 * the st_ctim of the dataset's file. No program can set st_ctim. So if a test restores a
 * file and its log to their state when the job was killed, it must clear the time
 * recorded in the log. */
#ifndef OLD_NOTES_H
#define OLD_NOTES_H

/* Clears the recorded time in all logs of a directory. Returns the number of logs.
 * Local. */
int old_notes(const char *directory);

#endif
