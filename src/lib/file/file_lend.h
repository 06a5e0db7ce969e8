/* One process of each node opens the file for all of it. */
#ifndef FILE_LEND_H
#define FILE_LEND_H

#include <stdbool.h>

#include "file_descriptor.h"
#include "node.h"

/* Part of struct file. All zero: everybody opens the file. */
struct file_lend {
    struct node_board board; /* where the processes of a node find each other; its state
                              * NULL: not begun */
    bool first;              /* this process is the one to open it */
    bool other;              /* ... or another one that had it open from before */
    int socket;              /* a descriptor may come here; -1: none will be taken */
};

/* From here on the process that is the first to want the file opens it, and passes its
 * descriptor to all of its node that listen. Who has it open already passes that, here.
 * Collective, of the board's processes; once a dataset. */
enum file_lending { FILE_LEND_LISTEN, FILE_LEND_HAVE, FILE_LEND_NEITHER };
void file_lend_begin_all(struct file_lend *s, struct node_board board,
                         enum file_lending how, struct file_descriptor *d);

/* A descriptor from the one who is to open the file. Waits until that has done so. False:
 * this process is to open the file, and then to say what came of it. */
bool file_lend_take(struct file_lend *s, const struct dataset *ds,
                    struct file_descriptor *d);

/* Takes what has come, if anything has, so that it does not lie there for ever. */
bool file_lend_settle(struct file_lend *s, const struct dataset *ds,
                      struct file_descriptor *d);

/* This process has opened the file, or could not (d is NULL). Who was not the first to
 * want it may say so, too. */
void file_lend_pass(struct file_lend *s, struct file_descriptor *d);

void file_lend_end(struct file_lend *s);

#endif
