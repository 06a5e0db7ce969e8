/* The variables of a subfile, and their decompositions. */
#ifndef SUBFILE_OPEN_H
#define SUBFILE_OPEN_H

#include "subfile_foreign.h"

/* Finds the log of frames, and the subfile's variable for each variable of the master,
 * after the header was read or changed. A subfile without a header has no variables.
 * NC_ENOMEM, NC_ENOTNC with a message; the previous result is then still valid. */
int subfile_list(struct subfile *s);

/* Frees what this module has allocated for a subfile. */
void subfile_free(struct subfile *s);

/* Begin, extend and free a struct subfile_tally. */
int subfile_tally_begin(struct subfile_tally *t, const struct subfile_foreign *f,
                        int nvars);
void subfile_tally_add(struct subfile_tally *t, const struct subfile *s);
void subfile_tally_free(struct subfile_tally *t);

/* Returns the number of the decomposition that variable `id` of the master has in all
 * subfiles; 0 if it has none, so its values are in the master. If subfiles differ, sets
 * *err to NC_ENOTNC and a message. */
int subfile_tally_number(const struct subfile_tally *t, const char *path,
                         const struct cdf_header *master, int id, int *err);

/* Finds the decomposition of variable `varid` of the master in a subfile. NC_ENOTNC with
 * a message. */
int subfile_find_decomp(struct subfile *s, int number, int varid,
                        struct subfile_decomp *d);

#endif
