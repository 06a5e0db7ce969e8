/* Descriptors on their way between processes, over sockets of the system's own name
 * space: no file has to be made for them, and none is left behind. Both sides look who
 * the other one is, and who takes a descriptor looks which file it is of: a stranger can
 * neither get one nor bring one. Linux has all that; elsewhere everybody opens the file.
 */
#define _GNU_SOURCE /* accept4, memfd_create, struct ucred */
#include "file_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base_io.h"
#include "base_lock.h"
#include "base_mpi.h"
#include "file_identity.h"

/* ---- errors that one is told for all ---- */

static int64_t errors_so_far(int fd)
{
    int64_t n = 0;
    return fd >= 0 && pread(fd, &n, sizeof n, 0) == (ssize_t)sizeof n ? n : 0;
}

/* So many now; false: that is told to nobody else. */
static bool set_errors(int fd, int64_t n)
{
    return fd >= 0 && pwrite(fd, &n, sizeof n, 0) == (ssize_t)sizeof n;
}

/* Those who share an open sync one after the other, so that none looks at the count
 * between another's error and its being counted. The system takes the lock from a process
 * that ends. Without it, too, the own error is told. */
void file_descriptor_hold(const struct file_descriptor *d)
{
    if (d->errors >= 0) (void)base_lock_bytes(d->errors, 0, 0);
}

static void release(const struct file_descriptor *d)
{
    if (d->errors >= 0) (void)base_unlock_bytes(d->errors, 0, 0);
}

/* What this process has to tell itself is one that it was not told of. */
void file_descriptor_held(struct file_descriptor *d, bool lost)
{
    if (lost && !set_errors(d->errors, errors_so_far(d->errors) + 1)) d->told--;
    release(d);
}

int file_descriptor_sync(struct file_descriptor *d, const char *path)
{
    file_descriptor_hold(d);
    int err = base_sync_data(d->fd, path);
    int64_t n = errors_so_far(d->errors);
    if (err != NC_NOERR)
        n += set_errors(d->errors, n + 1);
    else if (n != d->told)
        err = base_error_set(NC_EWRITE,
                             "%s: not all that processes of this host wrote got to the "
                             "device",
                             path);
    d->told = n;
    release(d);
    return err;
}

void file_descriptor_told(struct file_descriptor *d)
{
    if (d->errors >= 0) d->told = errors_so_far(d->errors);
}

int file_descriptor_close(struct file_descriptor *d, const char *path)
{
    int err = NC_NOERR;
    if (d->fd >= 0 && close(d->fd) != 0 && errno != EINTR)
        err = base_error_system(NC_EFILE, "closing", path);
    if (d->errors >= 0) (void)close(d->errors);
    *d = FILE_NO_DESCRIPTOR;
    return err;
}

#ifdef __linux__

/* Before the first other one has it. */
static bool count_errors(struct file_descriptor *d)
{
    if (d->errors >= 0) return true;
    int fd = memfd_create("ncmpi", MFD_CLOEXEC);
    if (fd < 0) return false;
    if (!set_errors(fd, 0)) {
        (void)close(fd);
        return false;
    }
    d->errors = fd;
    return true;
}

bool file_descriptor_copy(struct file_descriptor *d, struct file_descriptor *copy)
{
    if (!count_errors(d)) return false;
    int fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 0);
    int errors = fcntl(d->errors, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0 && errors >= 0) {
        *copy = (struct file_descriptor){fd, errors, errors_so_far(errors)};
        return true;
    }
    if (fd >= 0) (void)close(fd);
    if (errors >= 0) (void)close(errors);
    return false;
}

/* ---- sockets ---- */

/* The system's names are a zero byte and five hexadecimal digits. */
enum { DIGITS = 5, LENGTH = offsetof(struct sockaddr_un, sun_path) + 1 + DIGITS };

static int64_t name_of_socket(int socket)
{
    struct sockaddr_un address;
    socklen_t length = sizeof address;
    char digits[DIGITS + 1] = "";
    char *end;
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return 0;
    if (length != LENGTH) return 0;
    memcpy(digits, address.sun_path + 1, DIGITS);
    int64_t n = (int64_t)strtoul(digits, &end, 16);
    return *end == '\0' ? n + 1 : 0;
}

int file_descriptor_listen(int64_t *name)
{
    enum { FEW = 4 };
    struct sockaddr_un any = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    *name = 0;
    if (s < 0) return -1;
    if (bind(s, (struct sockaddr *)&any, sizeof any.sun_family) == 0 &&
        listen(s, FEW) == 0)
        *name = name_of_socket(s);
    if (*name != 0) return s;
    (void)close(s);
    return -1;
}

/* Is at the other end the same user? */
static bool is_known_socket(int socket)
{
    struct ucred who;
    socklen_t length = sizeof who;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
           who.uid == geteuid();
}

/* A message of one byte, with the two descriptors beside it. */
struct message {
    _Alignas(struct cmsghdr) char beside[CMSG_SPACE(2 * sizeof(int))];
    char byte;
    struct iovec bytes;
    struct msghdr message;
};

static void address(struct message *l)
{
    memset(l, 0, sizeof *l);
    l->bytes = (struct iovec){&l->byte, 1};
    l->message = (struct msghdr){.msg_iov = &l->bytes,
                                 .msg_iovlen = 1,
                                 .msg_control = l->beside,
                                 .msg_controllen = sizeof l->beside};
}

bool file_descriptor_pass(struct file_descriptor *d, int64_t name)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char digits[DIGITS + 1];
    struct message l;
    if (name <= 0 || !count_errors(d)) return false;
    snprintf(digits, sizeof digits, "%05x", (unsigned)(name - 1));
    memcpy(to.sun_path + 1, digits, DIGITS);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return false;

    address(&l);
    struct cmsghdr *head = CMSG_FIRSTHDR(&l.message);
    *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(2 * sizeof(int)),
                             .cmsg_level = SOL_SOCKET,
                             .cmsg_type = SCM_RIGHTS};
    int both[2] = {d->fd, d->errors};
    memcpy(CMSG_DATA(head), both, sizeof both);
    bool passed = connect(s, (struct sockaddr *)&to, LENGTH) == 0 && is_known_socket(s) &&
                  sendmsg(s, &l.message, MSG_NOSIGNAL) == 1;
    (void)close(s);
    return passed;
}

/* Two descriptors, or none. */
static bool receive(int socket, int both[2])
{
    struct message l;
    address(&l);
    if (recvmsg(socket, &l.message, MSG_CMSG_CLOEXEC) < 0) return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&l.message);
    if (head == NULL || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return false;
    memcpy(both, CMSG_DATA(head), sizeof(int));
    if (head->cmsg_len == CMSG_LEN(2 * sizeof(int))) {
        memcpy(both, CMSG_DATA(head), 2 * sizeof(int));
        return true;
    }
    (void)close(both[0]);
    return false;
}

bool file_descriptor_take(const struct dataset *ds, int socket, struct file_descriptor *d)
{
    int s, both[2];
    while ((s = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        bool got = is_known_socket(s) && receive(s, both);
        (void)close(s);
        if (!got) continue;
        if (file_is(ds, both[0])) {
            *d = (struct file_descriptor){both[0], both[1], errors_so_far(both[1])};
            return true;
        }
        (void)close(both[0]);
        (void)close(both[1]);
    }
    return false;
}

#else

bool file_descriptor_copy(struct file_descriptor *d, struct file_descriptor *copy)
{
    (void)d, (void)copy;
    return false;
}

int file_descriptor_listen(int64_t *name)
{
    *name = 0;
    return -1;
}

bool file_descriptor_pass(struct file_descriptor *d, int64_t name)
{
    (void)d, (void)name;
    return false;
}

bool file_descriptor_take(const struct dataset *ds, int socket, struct file_descriptor *d)
{
    (void)ds, (void)socket, (void)d;
    return false;
}

#endif
