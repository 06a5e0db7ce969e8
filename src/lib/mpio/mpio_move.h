/* What moves data between layouts: see journal_rounds.c. */
#ifndef MPIO_MOVE_H
#define MPIO_MOVE_H

#include "journal.h"
#include "mpio.h"

struct mpio_mover {
    struct journal_crew crew;
    struct mpio *m;
    int64_t chunk;               /* bytes that a process has in memory at a time */
    struct journal_state round;  /* the one that is carried; areas are filled from its
                                  * end ... */
    enum journal_place from, to; /* ... and which way */
    struct cdf_vacancy vacancy;  /* what is left behind */
    int64_t kept_low, kept_high; /* places whose bytes are in memory */
    struct access_tile old, new; /* the same bytes where they were, and will be */
};

/* Local. NC_ENOMEM: it is to be freed all the same. */
int mpio_mover_init(struct mpio_mover *v, struct mpio *m, struct journal *j,
                    const struct cdf_header *before, const struct cdf_header *after);
void mpio_mover_free(struct mpio_mover *v);

/* All know of process 0's journal what they need to use it. Agreed. */
int mpio_share_journal_all(struct mpio *m, struct journal *j);

#endif
