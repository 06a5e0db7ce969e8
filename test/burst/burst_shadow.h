/* Simulates the contents of a device after a power cut. The directory BURST_SHADOW
 * contains an image of the synced contents of each file, named by its inode, and a list
 * of the names in BURST_CALLS_DIR at the directory's last sync. Unsynced pages are
 * written at random times (BURST_SHADOW_SEED), as an operating system might do. */
#ifndef BURST_SHADOW_H
#define BURST_SHADOW_H

#include <stddef.h>

/* Report that a file or the directory was synced, that a range of a file was written with
 * O_SYNC, or that mapped memory was synced. */
void burst_shadow_sync(int fd);
void burst_shadow_range(int fd, long at, size_t length); /* rounded to whole pages */
void burst_shadow_msync(const void *address, size_t length);

/* Writes random pages of random files to the device. */
void burst_shadow_write_back(int call);

/* Restores the files in `directory` after the power cut: replaces the files that a killed
 * program left with the device's contents. If the seed is not 0, these contents may
 * include unsynced pages and names. The shadow then contains the restored files, ready
 * for the next power cut. Returns 0, or 1 after printing a message. */
int burst_shadow_restore(const char *shadow, const char *directory, unsigned seed);

#endif
