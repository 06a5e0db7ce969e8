/* Returns whether logs in the test's directory are written through mapped pages, which
 * cannot fail, rather than by write calls, which can. */
#ifndef BURST_STORED_H
#define BURST_STORED_H

#include <fcntl.h>
#include <unistd.h>

#include "base_fs.h"
#include "check.h"

static inline bool logs_are_stored(void)
{
    int fd = open(check_path(""), O_RDONLY);
    bool stored = fd >= 0 && base_fs_can_map(fd);
    if (fd >= 0) (void)close(fd);
    return stored;
}

#endif
