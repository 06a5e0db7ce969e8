/* What is lost of a file on a mount that writes late is told to all who share an open of
 * it, whichever of them is told by the system, and by which call.
 *
 *     lost FILE
 *
 * where there is room for less than a megabyte. */
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

/* By one descriptor, and the other one asks. */
static void lose(const struct file_descriptor *puts, struct file_descriptor *asks)
{
    static char bytes[MUCH];
    memset(bytes, 'a', sizeof bytes);
    expect(pwrite(puts->fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes,
           "the mount keeps what is written");
    file_descriptor_hold(asks);
    bool lost = !base_fs_refresh(asks->fd);
    file_descriptor_held(asks, lost);
    expect(lost, "who asks is told that it is lost");
}

static void expect_told_once(struct file_descriptor *d)
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
    expect(d.fd >= 0 && base_fs_late(d.fd), "the file is on such a mount");
    lose(&d, &d);
    expect_told_once(&d);
    expect(file_descriptor_copy(&d, &copy), "the open is shared");
    lose(&d, &copy);
    expect_told_once(&d);
    expect_told_once(&copy);
    expect(file_descriptor_close(&copy, path) == NC_NOERR, "closing");
    expect(file_descriptor_close(&d, path) == NC_NOERR, "closing");
    return failures > 0;
}
