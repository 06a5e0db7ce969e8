/* Where the dataset's file and its logs are. A program may change its directory and give
 * the file another name while it is open: nothing here goes by what the caller said once
 * create or open has returned. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_path.h"
#include "burst.h"

/* Is it the file that MPI-IO opened? Process 0 knows. */
static bool is_ours(const struct burst *b, int fd)
{
    const struct driver_dataset *ds = b->base.ds;
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           (ds->inode == 0 ||
            ((uint64_t)st.st_dev == ds->device && (uint64_t)st.st_ino == ds->inode));
}

int burst_find_file(struct burst *b)
{
    const struct driver_dataset *ds = b->base.ds;
    char *known = realpath(ds->path, NULL);
    b->path = base_strdup(known == NULL ? ds->full : known);
    free(known);
    b->dir = base_path_absolute(ds->hints.burst_dirname);
    b->fd = open(ds->path, (ds->writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
    if (b->fd >= 0 && !is_ours(b, b->fd)) {
        close(b->fd);
        b->fd = -1; /* no log, no threads */
    }
    return b->path == NULL || b->dir == NULL ? NC_ENOMEM : NC_NOERR;
}

void burst_forget_file(struct burst *b)
{
    if (b->fd >= 0) close(b->fd);
    b->fd = -1;
    base_free(b->path);
    base_free(b->dir);
}

void burst_file_identity(const struct burst *b, uint64_t *device, uint64_t *inode)
{
    struct stat st;
    *device = *inode = 0;
    if (b->fd < 0 || fstat(b->fd, &st) != 0) return;
    *device = (uint64_t)st.st_dev;
    *inode = (uint64_t)st.st_ino;
}

bool burst_file_coherent(const struct burst *b)
{
    enum { NFS = 0x6969, SMB = 0x517b, SMB2 = 0xfe534d42, CIFS = 0xff534d42 };
    struct statfs fs;
    if (b->fd < 0 || fstatfs(b->fd, &fs) != 0) return false;
    unsigned type = (unsigned)fs.f_type;
    return type != NFS && type != SMB && type != (unsigned)SMB2 &&
           type != (unsigned)CIFS && type != 0x65735546 /* FUSE: whoever it is */;
}
