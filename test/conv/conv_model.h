/* A model of conversion, which converts elements one by one in the simplest way. Also
 * generates test values. */
#ifndef CONV_MODEL_H
#define CONV_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conv.h"

/* A pair of types, and the direction of the conversion. External types have the same
 * names as types in memory. The external type is `to` for a put and `from` for a get. */
struct conv_model_pair {
    bool put;
    enum conv_type from, to;
};

/* Advances to the next pair of numeric types. Must be called with a zeroed pair first.
 * Returns false if there are no more pairs. */
bool conv_model_next(struct conv_model_pair *pair);

const char *conv_model_name(struct conv_model_pair pair);

/* Returns the external type with the same values as the given type in memory. */
int conv_model_xtype(enum conv_type type);

/* Converts one element. If its value is out of range, copies `fill`, which has the
 * target's representation, to *to and returns false. */
bool conv_model_convert(struct conv_model_pair pair, void *to, const void *from,
                        const void *fill);

/* Converts n elements. Returns the code that conv_put or conv_get must return for
 * them. */
int conv_model_run(struct conv_model_pair pair, void *to, const void *from, size_t n,
                   const void *fill);

/* Calls the function under test, conv_put or conv_get. `fill` is used only for a put. */
int conv_model_call(struct conv_model_pair pair, void *to, const void *from, size_t n,
                    const void *fill);

/* Stores a fill value for the target type in *fill. For a put, it is a value that changes
 * if its bytes are swapped. For a get, it is the default fill value of the type in
 * memory. */
void conv_model_fill(struct conv_model_pair pair, void *fill);

/* Returns test values in the source's representation. The caller must free them. For
 * 8-bit and 16-bit types, these are all possible values; for other types, values near the
 * limits of every type, and random values. */
void *conv_model_values(struct conv_model_pair pair, size_t *n);

/* conv_model_seed chooses the seed, which is CONV_SEED if that is set, and prints it.
 * conv_model_random returns a random number. */
void conv_model_seed(void);
uint64_t conv_model_random(void);

#endif
