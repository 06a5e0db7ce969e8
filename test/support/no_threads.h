/* For a test program that may have no threads. One source file of it includes this,
 * with _GNU_SOURCE defined before everything else. */
#ifndef TEST_NO_THREADS_H
#define TEST_NO_THREADS_H

#ifndef __SANITIZE_THREAD__ /* whose library stands before pthread_create itself */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

static bool no_threads; /* from now on */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                   void *arg)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return no_threads ? EAGAIN : next(thread, attr, run, arg);
}
#endif

#endif
