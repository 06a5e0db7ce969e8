/* Lets the processes on a node share one open file description (see file_fdpass.c). */
#ifndef FILE_FDPASS_H
#define FILE_FDPASS_H

#include <stdbool.h>

#include "file_descriptor.h"
#include "node.h"

/* A member of struct file. If it is all zeros, every process opens the file itself. */
struct file_fdpass {
    struct node_board board; /* the processes' socket names; state is initially NULL */
    bool first;              /* this process must open the file for the others */
    bool other;              /* another process already had the file open */
    int socket;              /* socket that receives a descriptor; -1 if not used */
};

/* Starts sharing a descriptor among the processes on a node. The first process that then
 * needs the file opens it and passes the descriptor to all listening processes. A process
 * that already has the file open (FILE_FDPASS_HAVE) passes its descriptor now. Collective
 * over the board's processes; once per dataset. */
enum file_fdpass_role { FILE_FDPASS_LISTEN, FILE_FDPASS_HAVE, FILE_FDPASS_NEITHER };
void file_fdpass_begin_all(struct file_fdpass *s, struct node_board board,
                           enum file_fdpass_role how, struct file_descriptor *d);

/* Waits for the process that opens the file, and receives its descriptor. Returns false
 * if this process must open the file itself and then call file_fdpass_send. */
bool file_fdpass_receive(struct file_fdpass *s, const struct dataset *ds,
                         struct file_descriptor *d);

/* Receives a descriptor that has already arrived, to remove it from the socket. */
bool file_fdpass_drain(struct file_fdpass *s, const struct dataset *ds,
                       struct file_descriptor *d);

/* Passes the file's descriptor to the listening processes, or if d is NULL, reports that
 * this process could not open the file. Any process may call this, not only the first to
 * need the file. */
void file_fdpass_send(struct file_fdpass *s, struct file_descriptor *d);

void file_fdpass_end(struct file_fdpass *s);

#endif
