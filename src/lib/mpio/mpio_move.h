/* State of a process that moves data between layouts (see journal_rounds.c). */
#ifndef MPIO_MOVE_H
#define MPIO_MOVE_H

#include "journal.h"
#include "mpio.h"

struct mpio_mover {
    struct journal_movers movers;
    struct mpio *m;
    int64_t chunk;               /* maximum number of bytes in memory at a time */
    struct journal_state round;  /* current round; its area stores the last bytes first */
    enum journal_place from, to; /* places between which bytes move */
    struct cdf_gap gap;          /* space that the data have vacated */
    int64_t loaded_low, loaded_high; /* positions of the bytes in memory */
    struct access_tile old, new;     /* the same bytes at their old and new offsets */
};

/* Initializes a mover. It must be freed even after NC_ENOMEM. Local. */
int mpio_mover_init(struct mpio_mover *v, struct mpio *m, struct journal *j,
                    const struct cdf_header *before, const struct cdf_header *after);
void mpio_mover_free(struct mpio_mover *v);

/* On process 0, locks the dataset for a change of its layout, checks that nobody has
 * changed the definitions, and cuts the file to the size that they imply. Local. */
int mpio_lock_layout(struct mpio *m, struct journal *j, const struct cdf_header *before);

/* Lets all processes use process 0's journal. All processes get the same result. */
int mpio_share_journal_all(struct mpio *m, struct journal *j);

#endif
