/* Makes random puts and gets of every kind for random programs, and injects faults into
 * them. All functions are collective. */
#ifndef RANDOM_ACCESS_H
#define RANDOM_ACCESS_H

#include "access.h"
#include "random_model.h"

/* A fault, if `any` is set. On process `who`, the nth system call that matches `plan`, or
 * the nth allocation, fails; with some plans, all later ones also fail. random_trouble
 * returns a random fault, and trouble_begin arms it. */
struct trouble {
    bool any;
    int who, plan;
    long nth;
};
struct trouble random_trouble(void);
void trouble_begin(const struct trouble *t);

/* Disarms the fault. Returns whether it made a call fail. */
bool trouble_end_all(const struct trouble *t);

/* Returns whether `here` is true on any process. */
bool any_process(bool here);

/* Whether to inject faults into some puts, and to make some puts with a wrong argument on
 * one process. */
extern bool random_troubles;

/* All processes put their shares of a random slab of a random variable and record the
 * values in the model. Calls `mirror` for each share that was put, so that the caller can
 * repeat the put elsewhere. The dataset must be in collective mode. */
typedef void put_mirror(void *to, int varid, const struct model_var *v,
                        const struct plan_slab *s);
void random_put(int ncid, struct model *m, put_mirror *mirror, void *to);

/* Gets a random slab and compares its values with the model. Either each process gets its
 * share, or each process gets the whole slab. */
void random_get(int ncid, const struct model *m);

/* Processes take turns in independent mode to put to a random variable, mostly to the
 * same slab. Each turn ends with one of several calls that complete the put, followed by
 * a barrier, so the next turn's values must overwrite those of the current turn. Some
 * turns are followed by a get. The dataset is in collective mode before and after the
 * turns. This function is in random_turns.c. */
void random_turns(int ncid, struct model *m, put_mirror *mirror, void *to);

/* ---- parts of these functions ---- */

/* Chooses the kind of call and the type in memory for a put or get of a slab, at random
 * and in the same way on all processes. `indep` is true if the dataset is in independent
 * mode. The caller then narrows the slab, sets `values` and calls access_run. */
struct access random_call(int ncid, const struct model *m, int varid, bool put,
                          const struct plan_slab *s, bool indep);

/* Sets the values that put number `write` stores. */
void random_set_values(const struct access *a, const struct model_var *v, int write);

/* Checks the result of a get. An element that was never written may have any value, so
 * the get may return NC_ERANGE. */
void random_check_values(const struct access *a, const struct model_var *v, int err);

/* Returns the path of a dataset as a single file. Joins its subfiles, if there are any,
 * in the file `joined`. */
const char *random_join(const char *path, const char *joined);

#endif
