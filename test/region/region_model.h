/* The obvious model that regions are tested against: the list of all their bytes. */
#ifndef REGION_MODEL_H
#define REGION_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "region.h"

struct model {
    int64_t *at; /* the offset of every byte, in order */
    size_t n, room;
};

/* Random numbers from a seed that is printed; NCMPI_TEST_SEED repeats a run. */
void model_seed(void);
int64_t model_random(int64_t low, int64_t high); /* both included */

void model_add(struct model *m, int64_t offset, int64_t length);
/* Adds copies of all of `from`, moved by `shift`. */
void model_copy(struct model *m, const struct model *from, int64_t shift);
void model_free(struct model *m);

/* A random composition of all constructors, a few levels deep, and its model. */
struct region *model_region(int depth, struct model *m);

/* Checks that the strip is the model's bytes from number `at`; returns how many it has.
 */
size_t model_check_strip(const struct region_strip *s, const struct model *m, size_t at);

/* The same for the blocks of a list that come next below limit, if any. */
size_t model_check_blocks(struct region_cursor *c, int64_t limit, const struct model *m,
                          size_t at);

/* Walks r in random cuts, from beginning to end, and checks every strip. The region's
 * answers about itself must fit too. */
void model_check(const struct region *r, const struct model *m);

#endif
