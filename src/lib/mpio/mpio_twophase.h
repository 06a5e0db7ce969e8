/* Two-phase exchange: values of many processes to and from large blocks of the file. */
#ifndef MPIO_TWOPHASE_H
#define MPIO_TWOPHASE_H

#include "mpio_domain.h"
#include "access_walk.h"

/* Puts, or gets, what the walk, begun or empty, is about: all of it lies in `mine`.
 * Collective, after mpio_window_ready_all; nobody returns before all that is put is
 * written. The result is this process's own error; *io is the worst that the file or
 * messages gave anybody, the same everywhere. */
int mpio_twophase_all(struct mpio *m, struct access_walk *walk,
                      const struct access_survey *mine, const struct mpio_domains *d,
                      int *io);

/* ---- mpio_cover.c ---- */

/* Writes the bytes [low, high) of the block that are marked, and clears their marks. What
 * lies between them in the file stays. low is a multiple of 1 << shift. */
int mpio_cover_write(struct mpio *m, const struct access_block *b, int64_t low,
                     int64_t high);

#endif
