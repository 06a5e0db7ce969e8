/* Interposes the C library's file functions. Counts the calls on files in a directory,
 * kills all processes at one of these calls, and records what would remain in the files
 * after a power cut. Controlled by environment variables, so programs need no changes:
 *
 *   BURST_CALLS_DIR   the directory, an absolute path
 *   BURST_KILL_AT     point at which to kill: 2 N is before call N, 2 N + 1 after it
 *   BURST_KILL_HOW    "stop": only stop the process, so that it can be continued later
 *   BURST_KILL_NEXT   point at which to kill the process after it has been continued
 *   BURST_KILL_RANK   rank of the process whose calls are counted (0)
 *   BURST_KILL_HALF   1: kill in the middle of call N, if it is a pwrite
 *   BURST_PIDS        a file that lists the processes to kill
 *   BURST_SHADOW      a directory for the device's contents, see burst_shadow.h
 *   BURST_BOOT        a file to read in place of the machine's boot id */
#ifndef BURST_CALLS_H
#define BURST_CALLS_H

#include <stdbool.h>

/* burst_calls returns the number of calls counted so far in this process.
 * burst_calls_rank reports the process's rank, which is compared with BURST_KILL_RANK. */
int burst_calls(void);
void burst_calls_rank(int rank);

/* Kills the process at a point, which is counted from now: 2 N is before the Nth call, 2
 * N + 1 after it, and 0 means never. If `stop` is true, only stops the process. */
void burst_calls_arm(int point, bool stop);

/* Stops or resumes counting calls made by this thread. */
void burst_calls_pause(int pause);

#endif
