/* Declares the simulated functions. The linker replaces the library's calls to NAME with
 * calls to __wrap_NAME; the names are listed in `wrapped`. */
#ifndef SIM_WRAPPED_H
#define SIM_WRAPPED_H

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

struct ifaddrs;
struct iovec;
struct msghdr;
struct pollfd;
struct sockaddr;
struct stat;
struct statx;
struct statfs;
struct statvfs;

pid_t __wrap_getpid(void);
int __wrap_gethostname(char *name, size_t n);
char *__wrap_getenv(const char *name);
int __wrap_unsetenv(const char *name);
int __wrap_kill(pid_t pid, int signal);
int __wrap_clock_gettime(clockid_t which, struct timespec *t);
time_t __wrap_time(time_t *t);
ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t n);
int __wrap_open(const char *path, int flags, ...);
FILE *__wrap_fopen(const char *path, const char *how);
int __wrap_mkostemp(char *template, int flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_close(int fd);
ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_read(int fd, void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_preadv(int fd, const struct iovec *v, int n, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *v, int n, off_t at);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_fallocate(int fd, int mode, off_t at, off_t n);
int __wrap_posix_fallocate(int fd, off_t at, off_t n);
off_t __wrap_lseek(int fd, off_t at, int whence);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_sync_file_range(int fd, off_t at, off_t n, unsigned how);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_statx(int dir, const char *path, int flags, unsigned mask, struct statx *st);
int __wrap_access(const char *path, int how);
char *__wrap_realpath(const char *path, char *to);
int __wrap_statfs(const char *path, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);
int __wrap_statvfs(const char *path, struct statvfs *fs);
long __wrap_pathconf(const char *path, int what);
int __wrap_ioctl(int fd, unsigned long what, void *argument);
ssize_t __wrap_fgetxattr(int fd, const char *name, void *value, size_t n);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t n, int flags);
int __wrap_fremovexattr(int fd, const char *name);
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_fchown(int fd, uid_t user, gid_t group);
int __wrap_futimens(int fd, const struct timespec t[2]);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
DIR *__wrap_opendir(const char *path);
struct dirent *__wrap_readdir(DIR *d);
int __wrap_dirfd(DIR *d);
int __wrap_closedir(DIR *d);
void *__wrap_mmap(void *at, size_t n, int how, int flags, int fd, off_t from);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_flock(int fd, int what);
int __wrap_getentropy(void *bytes, size_t n);
int __wrap_socket(int family, int type, int protocol);
int __wrap_pipe(int fds[2]);
int __wrap_bind(int fd, const struct sockaddr *at, unsigned length);
int __wrap_listen(int fd, int backlog);
int __wrap_getsockname(int fd, struct sockaddr *at, unsigned *length);
int __wrap_setsockopt(int fd, int level, int name, const void *value, unsigned length);
int __wrap_getsockopt(int fd, int level, int name, void *value, unsigned *length);
int __wrap_connect(int fd, const struct sockaddr *to, unsigned length);
int __wrap_accept(int fd, struct sockaddr *from, unsigned *length);
int __wrap_accept4(int fd, struct sockaddr *from, unsigned *length, int flags);
int __wrap_shutdown(int fd, int how);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t n, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
int __wrap_poll(struct pollfd *fds, unsigned long n, int ms);
int __wrap_getifaddrs(struct ifaddrs **all);
void __wrap_freeifaddrs(struct ifaddrs *all);
long __wrap_syscall(long number, ...);
int __wrap_sched_yield(void);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
/* Implements __wrap_pthread_create. The program itself must define it, because the linker
 * would otherwise find the function of the same name in libgcc. */
int sim_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*run)(void *), void *argument);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a);
int __wrap_pthread_cond_destroy(pthread_cond_t *c);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *time);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c);

#endif
