/* What sim_system.c, sim_files.c and sim_sockets.c share. */
#ifndef SIM_FILES_H
#define SIM_FILES_H

#include <errno.h>

#include "sim.h"

/* What a call of the system returns that fails. */
static inline int fails(int error)
{
    errno = error;
    return -1;
}

/* Descriptors from there on are the simulation's; the process that runs it has none so
 * high. */
enum { SIM_FIRST_FD = 100000 };

struct sim_socket;

struct sim_open {
    struct sim_file *file;     /* NULL: a directory, or ... */
    struct sim_socket *socket; /* ... a socket, or an end of a pipe */
    int flags, refs;
    int64_t at;
    char path[256];
};

struct sim_open *sim_open_of(int fd);   /* NULL: none of the simulation's */
int sim_descriptor(struct sim_open *o); /* another one of it */
void sim_descriptor_close(int fd);
/* One reference less. lost: of a process whose node is. */
void sim_open_drop(struct sim_open *o, bool lost);

/* Of ranges that are given; a lock of the whole file (flock) has -2 as first and last. */
const struct sim_lock *sim_lock_in_the_way(const struct sim_file *f,
                                           const struct sim_lock *wanted);
bool sim_lock_take(struct sim_file *f, const struct sim_lock *wanted);
void sim_lock_drop(struct sim_file *f, const struct sim_lock *range);

#endif
