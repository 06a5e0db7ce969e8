/* One process of each node opens the file for all of it. */
#ifndef MPIO_SHARE_H
#define MPIO_SHARE_H

#include <stdbool.h>

#include "driver_share.h"
#include "mpio_window.h"

/* Part of mpio_file. All zero: everybody opens the file. */
struct mpio_share {
    struct mpio_window *window; /* where the processes of a node find each other; NULL:
                                 * not begun */
    bool first;                 /* this process is the one to open it */
    bool other;                 /* ... or another one that had it open from before */
    int socket;                 /* a descriptor may come here; -1: none will be taken */
};

/* From here on the process that is the first to want the file opens it, and passes its
 * descriptor to all of its node that listen. Who has it open already passes that, here.
 * Collective, of the window's processes; once a dataset. */
enum mpio_sharing { MPIO_SHARE_LISTEN, MPIO_SHARE_HAVE, MPIO_SHARE_NEITHER };
void mpio_share_begin_all(struct mpio_share *s, struct mpio_window *w,
                          enum mpio_sharing how, struct driver_descriptor *d);

/* A descriptor from the one who is to open the file. Waits until that has done so. False:
 * this process is to open the file, and then to say what came of it. */
bool mpio_share_take(struct mpio_share *s, const struct dataset *ds,
                     struct driver_descriptor *d);

/* Takes what has come, if anything has, so that it does not lie there for ever. */
bool mpio_share_settle(struct mpio_share *s, const struct dataset *ds,
                       struct driver_descriptor *d);

/* This process has opened the file, or could not (d is NULL). Who was not the first to
 * want it may say so, too. */
void mpio_share_pass(struct mpio_share *s, struct driver_descriptor *d);

void mpio_share_end(struct mpio_share *s);

#endif
