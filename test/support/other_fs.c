/* Preloaded into a program to make all files appear to be on a different type of file
 * system, which NCMPI_TEST_FS selects:
 *
 *   btrfs   does not reserve space for stores into mapped pages; the default
 *   lustre  stripes of 64 KiB on 4 servers, each of which locks its part as a whole
 *
 * Creates the file that NCMPI_TEST_FS_USED names as soon as a program asks. */
#define _GNU_SOURCE /* RTLD_NEXT, fstatfs64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { BTRFS = 0x9123683e, LUSTRE = 0x0bd00bd0 };

static bool is_lustre(void)
{
    const char *name = getenv("NCMPI_TEST_FS");
    return name != NULL && strcmp(name, "lustre") == 0;
}

static int asked(const char *name, int fd, void *fs)
{
    int (*next)(int, void *);
    const char *used = getenv("NCMPI_TEST_FS_USED");
    if (used != NULL) (void)close(open(used, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    *(void **)&next = dlsym(RTLD_NEXT, name);
    return next(fd, fs);
}

__attribute__((visibility("default"))) int fstatfs(int fd, struct statfs *fs)
{
    int failed = asked("fstatfs", fd, fs);
    if (failed == 0) fs->f_type = is_lustre() ? LUSTRE : BTRFS;
    return failed;
}

__attribute__((visibility("default"))) int fstatfs64(int fd, struct statfs64 *fs)
{
    int failed = asked("fstatfs64", fd, fs);
    if (failed == 0) fs->f_type = is_lustre() ? LUSTRE : BTRFS;
    return failed;
}

/* Returns a file's stripe layout as a little-endian struct lov_user_md_v1. */
__attribute__((visibility("default"))) ssize_t fgetxattr(int fd, const char *name,
                                                         void *value, size_t size);
ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    static const unsigned char layout[32] = {
        0xd0,     0x0b, 0xd1, 0x0b, [26] = 1, /* magic; stripe size of 65536 bytes */
        [28] = 4,                             /* number of servers */
    };
    (void)fd;
    if (!is_lustre() || strcmp(name, "lustre.lov") != 0 || size < sizeof layout) {
        errno = ENODATA;
        return -1;
    }
    memcpy(value, layout, sizeof layout);
    return sizeof layout;
}
