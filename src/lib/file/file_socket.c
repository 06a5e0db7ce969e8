/* Passes descriptors between processes on a host, over sockets in Linux's abstract
 * namespace: no file is created for them, and none remains. Both sides check the user at
 * the other end, and the receiver checks that the descriptor refers to the right file, so
 * no other user can obtain or inject a descriptor. Linux only; on other systems every
 * process opens the file itself. */
#define _GNU_SOURCE /* accept4, struct ucred */
#include "file_identity.h"

#ifdef __linux__
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* System-assigned names consist of a NUL byte and five hexadecimal digits. */
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

/* Returns whether the process at the other end belongs to the same user. */
static bool is_known_socket(int socket)
{
    struct ucred who;
    socklen_t length = sizeof who;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
           who.uid == geteuid();
}

/* A message consists of one byte, with the two descriptors as ancillary data. */
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
    if (name <= 0 || !file_descriptor_count(d)) return false;
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

/* Receives both descriptors, or none. */
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
        if (file_is_dataset_fd(ds, both[0])) {
            *d = (struct file_descriptor){both[0], both[1],
                                          file_descriptor_errors(both[1])};
            return true;
        }
        (void)close(both[0]);
        (void)close(both[1]);
    }
    return false;
}

#else

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
