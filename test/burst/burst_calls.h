/* Stands before the C library's file functions: counts the calls that have to do with the
 * files of a directory, kills all processes at one of them, and keeps what a power cut
 * would leave. All by environment variables, so that programs need no change:
 *
 *   BURST_CALLS_DIR   the directory, an absolute path
 *   BURST_KILL_AT     kill at this point: 2 N before call N, 2 N + 1 behind it
 *   BURST_KILL_HOW    stop: this process alone is stopped there, and may be continued
 *   BURST_KILL_NEXT   then it is killed at this point
 *   BURST_KILL_RANK   in the process of this rank (0)
 *   BURST_KILL_HALF   1: in the middle of call N, if it is a pwrite
 *   BURST_PIDS        a file in which the processes to be killed are noted
 *   BURST_SHADOW      a directory for what is on the device, see burst_shadow.h
 *   BURST_BOOT        a file to be read for the number of the machine's start */
#ifndef BURST_CALLS_H
#define BURST_CALLS_H

/* Calls of this process up to now; its rank decides whether it is the one to kill. */
int burst_calls(void);
void burst_calls_rank(int rank);

/* The calls of this thread do not count any more, or do again. */
void burst_calls_pause(int pause);

#endif
