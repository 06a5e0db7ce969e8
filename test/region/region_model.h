/* A simple model against which the tests compare regions: a list of the offsets of all
 * bytes in a region. */
#ifndef REGION_MODEL_H
#define REGION_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "region.h"

struct model {
    int64_t *at; /* offsets of all bytes, in order */
    size_t n, room;
};

/* model_seed chooses the seed and prints it; NCMPI_TEST_SEED=N repeats the run with seed
 * N. model_random returns a random number. */
void model_seed(void);
int64_t model_random(int64_t low, int64_t high); /* inclusive limits */

void model_add(struct model *m, int64_t offset, int64_t length);
/* Adds a copy of the model `from`, shifted by `shift` bytes. */
void model_copy(struct model *m, const struct model *from, int64_t shift);
void model_free(struct model *m);

/* Returns a random region and stores its model in *m. Constructors are nested up to
 * `depth` levels deep. */
struct region *model_region(int depth, struct model *m);

/* Checks that a strip consists of the model's bytes, starting with the one at index `at`.
 * Returns the number of bytes in the strip. */
size_t model_check_strip(const struct region_strip *s, const struct model *m, size_t at);

/* Same as model_check_strip, but checks those of the next blocks of a list that are below
 * `limit`. */
size_t model_check_blocks(struct region_cursor *c, int64_t limit, const struct model *m,
                          size_t at);

/* Walks through `r` from beginning to end in steps of random length and checks every
 * strip. Also checks the properties that the region reports. */
void model_check(const struct region *r, const struct model *m);

#endif
