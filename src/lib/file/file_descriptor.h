/* Shares one open file description among several users: the processes on a node, and the
 * layers of a dataset. On a parallel file system each open is a request to a server;
 * passing a descriptor needs none. */
#ifndef FILE_DESCRIPTOR_H
#define FILE_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "dataset.h"

/* A descriptor of the file. The system reports only once per open file description, to
 * one of its users, that written bytes did not reach the device. `errors` is an anonymous
 * file, shared by these users, that contains the number of such errors. */
struct file_descriptor {
    int fd;
    int errors;              /* descriptor of the error counter; -1 if not shared */
    int64_t reported_errors; /* number of errors that this user has already reported */
};

#define FILE_NO_DESCRIPTOR ((struct file_descriptor){.fd = -1, .errors = -1})

/* Flushes written data to the device. If that fails for one user of a shared descriptor,
 * the other users report the error at their next call. Returns NC_EWRITE, NC_ENO_SPACE
 * ... */
int file_descriptor_sync(struct file_descriptor *d, const char *path);

/* Enclose a system call that writes no values (such as fstat or fallocate) on a file for
 * which base_fs_may_be_stale is true. `lost` is true if the call reported the loss of
 * bytes that any process wrote earlier. The loss counts as a failed sync, which each
 * process that shares the descriptor reports at its next sync. */
void file_descriptor_lock_errors(const struct file_descriptor *d);
void file_descriptor_unlock_errors(struct file_descriptor *d, bool lost);

/* Marks all errors so far as reported, because a collective call has just reported them
 * to all users of the descriptor. Bytes that this process has written since its last sync
 * may still not be on the device. */
void file_descriptor_mark_reported(struct file_descriptor *d);

/* Closes the descriptor, even if it returns an error. NC_EFILE. */
int file_descriptor_close(struct file_descriptor *d, const char *path);

/* Duplicates the descriptor for this process. Returns false on failure. */
bool file_descriptor_copy(struct file_descriptor *d, struct file_descriptor *copy);

/* Creates the error counter for a descriptor that will be shared. Returns false on
 * failure. */
bool file_descriptor_count(struct file_descriptor *d);

/* Returns the number of errors so far; `errors` is the member of struct
 * file_descriptor. */
int64_t file_descriptor_errors(int errors);

/* ---- file_socket.c ---- */

/* Creates a socket to which a process on the same host can send a descriptor. Returns -1
 * on failure. Sets *name to the socket's name for other processes, or to 0 on failure. */
int file_descriptor_listen(int64_t *name);

/* Sends the descriptor, without waiting, to the process that listens under `name`.
 * Returns false on failure; the listener must then open the file itself. */
bool file_descriptor_pass(struct file_descriptor *d, int64_t name);

/* Receives a descriptor that was already sent; does not wait. Accepts it only if it
 * refers to the dataset's file and has the dataset's access mode. */
bool file_descriptor_take(const struct dataset *ds, int socket,
                          struct file_descriptor *d);

#endif
