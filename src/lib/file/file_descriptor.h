/* One open of the file for several who read and write it: the processes of a node, and
 * the layers of a dataset. A parallel file system passes each open through a server of
 * its own; a descriptor that is passed on costs nothing there. */
#ifndef FILE_DESCRIPTOR_H
#define FILE_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "dataset.h"

/* A descriptor of the file. The system tells once for each open, to one of those who have
 * it, that what was written did not get to the device. `errors`, a file without a name
 * that they share, too, has how many times that was. */
struct file_descriptor {
    int fd;
    int errors;   /* -1: nobody else has this open */
    int64_t told; /* of those errors */
};

#define FILE_NO_DESCRIPTOR ((struct file_descriptor){.fd = -1, .errors = -1})

/* What was written is on the device; an error is told to all who share the open, each by
 * its own next call of this. NC_EWRITE, NC_ENO_SPACE ... */
int file_descriptor_sync(struct file_descriptor *d, const char *path);

/* A call that writes no values (asking for a size, making room) lies between these, on a
 * file for which base_fs_late is true. Was it told that something is lost that was put
 * before, by whichever process? Then it is as if a sync had failed: the next one of each
 * who shares the open tells that. */
void file_descriptor_hold(const struct file_descriptor *d);
void file_descriptor_held(struct file_descriptor *d, bool lost);

/* All who share the open have just been told, by a collective call, of what failed until
 * now: what this process has written since its last sync is not said to be on the device.
 */
void file_descriptor_told(struct file_descriptor *d);

/* NC_EFILE; it is closed in any case. */
int file_descriptor_close(struct file_descriptor *d, const char *path);

/* Another one of the same open, for this process; false: none, and nothing is changed. */
bool file_descriptor_copy(struct file_descriptor *d, struct file_descriptor *copy);

/* Where a process of the same host can bring a descriptor: a socket, -1 if there is none,
 * and its name for the others, 0 if there is none. */
int file_descriptor_listen(int64_t *name);

/* Passes it to the one who listens under that name. It does not wait. False: not passed,
 * and who listens has to open the file. */
bool file_descriptor_pass(struct file_descriptor *d, int64_t name);

/* Takes one that was passed before, if it is of the dataset's file and for what the
 * dataset may do. It does not wait. */
bool file_descriptor_take(const struct dataset *ds, int socket,
                          struct file_descriptor *d);

#endif
