/* Functions shared by this module's tests. They create random datasets in memory and
 * encode headers. */
#ifndef CDF_RANDOM_H
#define CDF_RANDOM_H

#include "cdf.h"
#include "pnetcdf_constants.h"

/* Sets the seed from NCMPI_TEST_SEED or the clock, and prints it as a TAP comment. */
void random_start(void);

/* Returns a random number in [low, high]. */
int64_t random_of(int64_t low, int64_t high);

/* Adds a random number of dimensions, variables and attributes to `h`, up to the given
 * limits. */
void random_definitions(struct cdf_header *h, int dims, int vars, int atts);

/* Creates a header with random definitions and computes its layout. */
void random_header(struct cdf_header *h, int format);

/* Returns an encoded header. The caller must free it. */
unsigned char *encoded(const struct cdf_header *h, size_t *length);

/* Returns 0 if the headers agree in everything that a file stores, including the layout,
 * and nonzero otherwise. */
int headers_differ(const struct cdf_header *a, const struct cdf_header *b);

extern const struct cdf_padding plain_room;

#endif
