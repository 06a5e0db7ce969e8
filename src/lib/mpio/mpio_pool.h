/* Windows kept from one dataset to the next: to make one takes several collective calls
 * and finds all its pages anew. They are freed when MPI ends. */
#ifndef MPIO_POOL_H
#define MPIO_POOL_H

#include "mpio_window.h"

/* Takes the window of the same processes, hints and stripes that was kept last; false
 * if there is none. Its room is held. Local: the others may have found another. */
bool mpio_pool_take(struct mpio_window *w, const struct dataset *ds, int64_t unit);

/* Is there room for the window, one that is worth keeping? Then it is held. Local. */
bool mpio_pool_hold(const struct mpio_window *w);

/* What is held is used, all processes having held it, or is free. */
void mpio_pool_keep(const struct mpio_window *w);
void mpio_pool_let_go(void);

/* A number that no window of this process had before; what all agreed on is noted. */
int64_t mpio_pool_number(void);
void mpio_pool_note(int64_t number);

#endif
