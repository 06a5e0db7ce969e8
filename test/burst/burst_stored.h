/* Are logs that lie in the directory of a test stored into mapped pages, which cannot
 * fail? Else they are written: that takes more calls, and any of them may. */
#ifndef BURST_STORED_H
#define BURST_STORED_H

#include <fcntl.h>
#include <unistd.h>

#include "base_fs.h"
#include "check.h"

static inline bool logs_are_stored(void)
{
    int fd = open(check_path(""), O_RDONLY);
    bool stored = fd >= 0 && base_fs_maps(fd);
    if (fd >= 0) (void)close(fd);
    return stored;
}

#endif
