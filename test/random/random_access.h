/* Random puts and gets of a random program, in every way there is. */
#ifndef RANDOM_ACCESS_H
#define RANDOM_ACCESS_H

#include "random_model.h"

/* Something goes wrong on one process: a call of the system or an allocation fails, once
 * or from then on. Draws what, and where; it begins and ends there. */
struct trouble {
    bool any;
    int who, plan;
    long nth;
};
struct trouble random_trouble(void);
void trouble_begin(const struct trouble *t);

/* Was it met, by anybody? Collective. */
bool trouble_end_all(const struct trouble *t);

/* Does this hold on any process? Collective. */
bool any_process(bool here);

/* Do puts meet trouble now and then, or mistakes of one process? */
extern bool random_troubles;

/* All processes put their shares of a random slab of a random variable, which becomes
 * known in the model; `mirror` is told of the whole slab. The dataset is in collective
 * mode. */
typedef void put_mirror(void *to, int varid, const struct model_var *v,
                        const struct slab *s, int write);
void random_put(int ncid, struct model *m, put_mirror *mirror, void *to);

/* All processes get random slabs of their own and compare them with the model. */
void random_get(int ncid, const struct model *m);

/* In independent mode processes take turns at a random variable, mostly at one place.
 * Each says that it is done, in one of several ways, and all wait at a barrier: the next
 * one's values hold. Now and then one looks. The dataset is in collective mode before and
 * behind that. In random_turns.c. */
void random_turns(int ncid, struct model *m, put_mirror *mirror, void *to);

#endif
