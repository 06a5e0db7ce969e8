/* What conversion has to do, an element at a time and in the plainest way; and values
 * to try it with. */
#ifndef CONV_MODEL_H
#define CONV_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conv.h"

/* A direction and two types, both by their name in memory. For put, `to` is the
 * external one, for get, `from` is. */
struct conv_model_pair {
    bool put;
    enum conv_type from, to;
};

/* Enumerates all pairs of numbers, from a zeroed one on. */
bool conv_model_next(struct conv_model_pair *pair);

const char *conv_model_name(struct conv_model_pair pair);

/* The external type with the same values. */
int conv_model_xtype(enum conv_type type);

/* Element *from, of the pair's first type, becomes *to; false if it is out of range,
 * and then *to is `fill`, as bytes of the target. */
bool conv_model_convert(struct conv_model_pair pair, void *to, const void *from,
                        const void *fill);

/* The same for n elements; the result that conv_put or conv_get has to have. */
int conv_model_run(struct conv_model_pair pair, void *to, const void *from, size_t n,
                   const void *fill);

/* The function under test; fill counts for put only. */
int conv_model_call(struct conv_model_pair pair, void *to, const void *from, size_t n,
                    const void *fill);

/* The fill value that holds for the target: for put some value that is no palindrome of
 * bytes, for get the default of the type in memory. */
void conv_model_fill(struct conv_model_pair pair, void *fill);

/* Values of a pair's first type: all where that is 8 or 16 bits wide; else those next to
 * all limits of other types, and random ones. As the source has them; free it. */
void *conv_model_values(struct conv_model_pair pair, size_t *n);

/* Random numbers from a seed that is printed, or taken from CONV_SEED. */
void conv_model_seed(void);
uint64_t conv_model_random(void);

#endif
