/* Interposes the C library's functions for sockets, pipes and threads. Makes calls by
 * this library fail, but not calls by MPI. This library is linked statically, so its
 * calls can be recognized: they come from the program's own code. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fault.h"

/* Returns whether the call comes from the program itself. Other libraries also create
 * threads and sockets, but their calls must not fail. The lookup acquires a lock in the
 * dynamic loader. */
static bool is_ours(const void *caller)
{
    Dl_info one, other;
    return dladdr(caller, &one) != 0 && dladdr((void *)fault_cuts, &other) != 0 &&
           one.dli_fbase == other.dli_fbase;
}

#define EXPORT __attribute__((visibility("default")))
#define NEXT(name)                                                                       \
    __typeof__(&name) next;                                                              \
    *(void **)&next = dlsym(RTLD_NEXT, #name)
#define FAILS(op)  (is_ours(__builtin_return_address(0)) && fault_cuts(op, "", NULL))
#define CUT(op, n) (is_ours(__builtin_return_address(0)) && fault_cuts(op, "", &(n)))

EXPORT int socket(int domain, int type, int protocol)
{
    NEXT(socket);
    return FAILS("socket") ? -1 : next(domain, type, protocol);
}

EXPORT int bind(int fd, const struct sockaddr *to, socklen_t n)
{
    NEXT(bind);
    return FAILS("bind") ? -1 : next(fd, to, n);
}

EXPORT int listen(int fd, int n)
{
    NEXT(listen);
    return FAILS("listen") ? -1 : next(fd, n);
}

EXPORT int connect(int fd, const struct sockaddr *to, socklen_t n)
{
    NEXT(connect);
    return FAILS("connect") ? -1 : next(fd, to, n);
}

EXPORT int accept(int fd, struct sockaddr *from, socklen_t *n)
{
    NEXT(accept);
    return FAILS("accept") ? -1 : next(fd, from, n);
}

EXPORT int accept4(int fd, struct sockaddr *from, socklen_t *n, int flags)
{
    NEXT(accept4);
    return FAILS("accept") ? -1 : next(fd, from, n, flags);
}

EXPORT int getsockname(int fd, struct sockaddr *name, socklen_t *n)
{
    NEXT(getsockname);
    return FAILS("name") ? -1 : next(fd, name, n);
}

EXPORT int getsockopt(int fd, int level, int option, void *value, socklen_t *n)
{
    NEXT(getsockopt);
    return FAILS("option") ? -1 : next(fd, level, option, value, n);
}

EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t n)
{
    NEXT(setsockopt);
    return FAILS("option") ? -1 : next(fd, level, option, value, n);
}

EXPORT ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    NEXT(send);
    return CUT("send", n) ? -1 : next(fd, bytes, n, flags);
}

EXPORT ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
    NEXT(recv);
    return CUT("recv", n) ? -1 : next(fd, bytes, n, flags);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    NEXT(sendmsg);
    return FAILS("send") ? -1 : next(fd, message, flags);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    NEXT(recvmsg);
    return FAILS("recv") ? -1 : next(fd, message, flags);
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    NEXT(poll);
    return FAILS("poll") ? -1 : next(fds, n, timeout);
}

EXPORT int pipe(int both[2])
{
    NEXT(pipe);
    return FAILS("pipe") ? -1 : next(both);
}

/* pthread_create returns an error code and does not set errno. */
EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *how,
                          void *(*run)(void *), void *arg)
{
    NEXT(pthread_create);
    return FAILS("thread") ? errno : next(thread, how, run, arg);
}
