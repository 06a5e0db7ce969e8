/* What the tests of this room share: random datasets, encoding into fresh memory. */
#ifndef CDF_RANDOM_H
#define CDF_RANDOM_H

#include "cdf.h"
#include "pnetcdf_constants.h"

/* The seed in use, from NCMPI_TEST_SEED or the clock; printed as a TAP comment. */
void random_start(void);

/* A number of low ... high. */
int64_t random_of(int64_t low, int64_t high);

/* Adds up to so many dimensions, variables and attributes of any kind to h. */
void random_definitions(struct cdf_header *h, int dims, int vars, int atts);

/* A dataset with a layout. */
void random_header(struct cdf_header *h, int format);

/* The bytes of a header, in memory to be freed. */
unsigned char *encoded(const struct cdf_header *h, size_t *length);

/* 0 if both are the same in all that a file tells, layout included. */
int headers_differ(const struct cdf_header *a, const struct cdf_header *b);

extern const struct cdf_room plain_room;

#endif
