/* One open of the file for several who read and write it: the processes of a node, and
 * the layers of a dataset. A parallel file system passes each open through a server of
 * its own; a descriptor that is passed on costs nothing there. */
#ifndef DRIVER_SHARE_H
#define DRIVER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "driver.h"

/* A descriptor of the file. The system tells once for each open, to one of those who have
 * it, that what was written did not get to the device. `errors`, a file without a name
 * that they share, too, has how many times that was. */
struct driver_descriptor {
    int fd;
    int errors;   /* -1: nobody else has this open */
    int64_t told; /* of those errors */
};

#define DRIVER_NO_DESCRIPTOR ((struct driver_descriptor){.fd = -1, .errors = -1})

/* What was written is on the device; an error is told to all who share the open, each by
 * its own next call of this. NC_EWRITE, NC_ENO_SPACE ... */
int driver_descriptor_sync(struct driver_descriptor *d, const char *path);

/* All who share the open have just been told, by a collective call, of what failed until
 * now: what this process has written since its last sync is not said to be on the device.
 */
void driver_descriptor_told(struct driver_descriptor *d);

/* NC_EFILE; it is closed in any case. */
int driver_descriptor_close(struct driver_descriptor *d, const char *path);

/* Another one of the same open, for this process; false: none, and nothing is changed. */
bool driver_descriptor_copy(struct driver_descriptor *d, struct driver_descriptor *copy);

/* The processes of this node, or with the hint nc_node_procs that many of them at most;
 * this one's rank, and how many they are. *node is MPI_COMM_NULL where there is none: it
 * cannot be freed then, which takes all. The error is this process's; not agreed.
 * NC_EMPI. */
int driver_node_all(struct dataset *ds, MPI_Comm *node, int *rank, int *nprocs);

/* Where a process of the same host can bring a descriptor: a socket, -1 if there is none,
 * and its name for the others, 0 if there is none. */
int driver_share_listen(int64_t *name);

/* Passes it to the one who listens under that name. It does not wait. False: not passed,
 * and who listens has to open the file. */
bool driver_share_pass(struct driver_descriptor *d, int64_t name);

/* Takes one that was passed before, if it is of the dataset's file and for what the
 * dataset may do. It does not wait. */
bool driver_share_take(const struct dataset *ds, int socket, struct driver_descriptor *d);

#endif
