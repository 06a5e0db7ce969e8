/* See old_notes.h. */
#include "config.h"

#include "old_notes.h"

#ifdef NCMPI_BURST

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burst_format.h"

/* Position and size of the time within a note. */
enum { ADDED_AT = 48, ADDED = BURST_SLOT_BYTES - ADDED_AT };

/* For each process, the log has two copies of a commit record, followed by two copies of
 * a note. */
static bool clear_log(const char *path)
{
    static const unsigned char none[ADDED];
    static unsigned char head[1 << 16];
    struct burst_header *h = malloc(sizeof *h);
    int fd = open(path, O_RDWR);
    ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
    bool cleared = h != NULL && n > 0 && burst_decode_header(h, head, (size_t)n) == 0;
    for (int64_t i = 0; cleared && i < 2 * h->nslots; i++) {
        int64_t at = h->slots_begin + i / 2 * BURST_SLOT_STRIDE +
                     (BURST_SLOT_COPIES + i % 2) * BURST_SLOT_BYTES + ADDED_AT;
        cleared = pwrite(fd, none, sizeof none, at) == (ssize_t)sizeof none;
    }
    if (fd >= 0) (void)close(fd);
    free(h);
    return cleared;
}

int old_notes(const char *directory)
{
    char path[4096];
    const struct dirent *e;
    int cleared = 0;
    DIR *d = opendir(directory);
    while (d != NULL && (e = readdir(d)) != NULL) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 5, ".meta") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        cleared += clear_log(path);
    }
    if (d != NULL) (void)closedir(d);
    return cleared;
}
#else
int old_notes(const char *directory)
{
    (void)directory;
    return 0;
}
#endif
