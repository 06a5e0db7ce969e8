/* Simulated open file descriptions, descriptors and locks. Shared by sim_system.c,
 * sim_files.c and sim_sockets.c. */
#ifndef SIM_FILES_H
#define SIM_FILES_H

#include <errno.h>

#include "sim.h"

/* Sets errno and returns -1. */
static inline int fails(int error)
{
    errno = error;
    return -1;
}

/* Smallest simulated descriptor. The real process that runs the simulation has no
 * descriptors this large. */
enum { SIM_FIRST_FD = 100000 };

struct sim_socket;

struct sim_open {
    struct sim_file *file;     /* NULL if this is a directory or socket */
    struct sim_socket *socket; /* socket or pipe end; NULL for files */
    int flags, refs;
    int64_t at;
    char path[256];
};

struct sim_open *sim_open_of(int fd);   /* returns NULL if fd is not simulated */
int sim_descriptor(struct sim_open *o); /* returns a new descriptor for o */
void sim_descriptor_close(int fd);
/* Drops a reference. `lost` is true if the process died because its node failed. */
void sim_open_drop(struct sim_open *o, bool lost);

/* Find, acquire and release locks on byte ranges. A lock on the whole file (flock) has -2
 * as its first and last byte. */
const struct sim_lock *sim_lock_in_the_way(const struct sim_file *f,
                                           const struct sim_lock *wanted);
bool sim_lock_take(struct sim_file *f, const struct sim_lock *wanted);
void sim_lock_drop(struct sim_file *f, const struct sim_lock *range);

#endif
