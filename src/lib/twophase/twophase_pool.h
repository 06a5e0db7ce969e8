/* Windows kept from one dataset to the next: to make one takes several collective calls
 * and finds all its pages anew. They are freed when MPI ends. */
#ifndef TWOPHASE_POOL_H
#define TWOPHASE_POOL_H

#include "twophase_window.h"

/* Takes the window of the same processes, hints and stripes that was kept last; false
 * if there is none. Its room is held. Local: the others may have found another. */
bool twophase_pool_take(struct twophase_window *w, const struct dataset *ds,
                        int64_t unit);

/* Is there room for the window, one that is worth keeping? Then it is held. Local. */
bool twophase_pool_hold(const struct twophase_window *w);

/* What is held is used, all processes having held it, or is free. */
void twophase_pool_keep(const struct twophase_window *w);
void twophase_pool_let_go(void);

/* A number that no window of this process had before; what all agreed on is noted. */
int64_t twophase_pool_number(void);
void twophase_pool_note(int64_t number);

#endif
