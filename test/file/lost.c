/* Tests a mount with delayed writes, where bytes may be lost after write() has returned.
 * If bytes are lost, all processes that share the open file must return the error, no
 * matter which process and which call the system reports it to.
 *
 *   lost FILE
 *
 * FILE must be on such a mount, with less than a megabyte of free space. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base_fs.h"
#include "base_io.h"
#include "file_descriptor.h"

enum { MUCH = 1 << 20 };
static const char *path;
static int failures;

static void expect(bool right, const char *what)
{
    if (right) return;
    printf("not so: %s\n", what);
    failures++;
}

/* Writes more bytes than fit, through one descriptor. A call on the other descriptor must
 * report the loss. */
static void lose(const struct file_descriptor *puts, struct file_descriptor *asks)
{
    static char bytes[MUCH];
    memset(bytes, 'a', sizeof bytes);
    expect(pwrite(puts->fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes,
           "the mount keeps what is written");
    file_descriptor_lock_errors(asks);
    bool lost = !base_fs_refresh(asks->fd);
    file_descriptor_unlock_errors(asks, lost);
    expect(lost, "who asks is told that it is lost");
}

static void expect_one_error(struct file_descriptor *d)
{
    expect(file_descriptor_sync(d, path) != NC_NOERR, "the next sync tells of it");
    expect(file_descriptor_sync(d, path) == NC_NOERR, "and the one behind that does not");
}

int main(int argc, char **argv)
{
    struct file_descriptor d = FILE_NO_DESCRIPTOR, copy = d;
    if (argc != 2) return 2;
    path = argv[1];
    d.fd = base_open(path, O_RDWR | O_CREAT | O_EXCL);
    expect(d.fd >= 0 && base_fs_may_be_stale(d.fd), "the file is on such a mount");
    lose(&d, &d);
    expect_one_error(&d);
    expect(file_descriptor_copy(&d, &copy), "the open is shared");
    lose(&d, &copy);
    expect_one_error(&d);
    expect_one_error(&copy);
    expect(file_descriptor_close(&copy, path) == NC_NOERR, "closing");
    expect(file_descriptor_close(&d, path) == NC_NOERR, "closing");
    return failures > 0;
}
