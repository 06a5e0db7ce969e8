/* The threads that drain the log in the background. Functions that take a pool are no-ops
 * if it is NULL, which means that there are no threads. */
#ifndef BURST_POOL_H
#define BURST_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct burst;
struct burst_pool;

/* Returns whether threads can write to the file at all; constant while it is open. */
bool burst_pool_can_write(const struct burst *b);
/* Starts the threads if the hints ask for background draining. */
void burst_pool_start(struct burst *b);
void burst_pool_stop(struct burst *b);
/* Starts idle threads if there are none. Returns false if threads cannot be started. */
bool burst_pool_ready(struct burst *b);
/* Starts draining everything logged so far. Returns false if there are no threads. */
bool burst_pool_begin(struct burst *b);
/* Sets *written to whether this process has written everything up to `serial`. Returns
 * the error of a thread that failed. */
int burst_pool_test(struct burst *b, int64_t serial, bool *written);
/* Waits until no thread is writing, and blocks the threads until burst_pool_resume. */
void burst_pool_pause(struct burst_pool *p);
void burst_pool_resume(struct burst_pool *p);
/* Adds the threads' work to the dataset's statistics. */
void burst_pool_report(struct burst_pool *p);
/* Acquire and release the lock that protects the list of logged writes. Releasing it
 * wakes a thread that waits for something to be logged. The pool must not be NULL. */
void burst_pool_lock(struct burst_pool *p);
void burst_pool_unlock(struct burst_pool *p);

#endif
