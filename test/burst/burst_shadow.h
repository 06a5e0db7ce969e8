/* What is on the device, for a simulated power cut. In the directory BURST_SHADOW lie an
 * image of each file as far as it was synced, by its inode, and a list of the names in
 * BURST_CALLS_DIR as of that directory's last sync. Pages that nobody synced get there at
 * random times, as the system pleases (BURST_SHADOW_SEED). */
#ifndef BURST_SHADOW_H
#define BURST_SHADOW_H

#include <stddef.h>

/* A file, or the directory, was synced; or what is mapped at an address. */
void burst_shadow_sync(int fd);
void burst_shadow_range(int fd, long at, size_t length); /* whole pages */
void burst_shadow_msync(const void *address, size_t length);

/* Some pages of some files reach the device. */
void burst_shadow_write_back(int call);

/* The power is back: makes of the files in `directory`, as a killed program left them,
 * what the device has. With a seed other than 0, pages and names that were not synced may
 * be there as well. The shadow is then that of these files, for the next cut. 0, or 1 and
 * a message. */
int burst_shadow_restore(const char *shadow, const char *directory, unsigned seed);

#endif
