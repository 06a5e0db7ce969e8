/* Two-phase exchange: values of many processes to and from large blocks of the file. */
#ifndef TWOPHASE_H
#define TWOPHASE_H

#include "twophase_domain.h"
#include "access_walk.h"

/* Puts, or gets, what the walk, begun or empty, is about: all of it lies in `mine`.
 * Collective, after twophase_window_ready_all; nobody returns before all that is put is
 * written. The result is this process's own error; *io is the worst that the file or
 * messages gave anybody, the same everywhere. */
int twophase_all(struct twophase *t, struct access_walk *walk,
                 const struct access_survey *mine, const struct twophase_domains *d,
                 int *io);

/* ---- twophase_cover.c ---- */

/* Writes the bytes [low, high) of the block that are marked, and clears their marks. What
 * lies between them in the file stays. low is a multiple of 1 << shift. */
int twophase_cover_write(struct twophase *t, const struct access_block *b, int64_t low,
                         int64_t high);

#endif
