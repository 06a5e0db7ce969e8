/* Random puts and gets of a random program, in every way there is. */
#ifndef RANDOM_ACCESS_H
#define RANDOM_ACCESS_H

#include "random_model.h"

/* All processes put their shares of a random slab of a random variable, which becomes
 * known in the model; `mirror` is told of the whole slab. The dataset is in collective
 * mode. */
typedef void put_mirror(void *to, int varid, const struct model_var *v,
                        const struct slab *s, int write);
void random_put(int ncid, struct model *m, put_mirror *mirror, void *to);

/* All processes get random slabs of their own and compare them with the model. */
void random_get(int ncid, const struct model *m);

#endif
