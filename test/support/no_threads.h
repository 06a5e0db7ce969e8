/* Lets a test program make thread creation fail. Include this header in only one source
 * file, and define _GNU_SOURCE there first. */
#ifndef TEST_NO_THREADS_H
#define TEST_NO_THREADS_H

#ifndef __SANITIZE_THREAD__ /* ThreadSanitizer itself interposes pthread_create */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

static bool no_threads; /* whether pthread_create must fail */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                   void *arg)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return no_threads ? EAGAIN : next(thread, attr, run, arg);
}
#endif

#endif
