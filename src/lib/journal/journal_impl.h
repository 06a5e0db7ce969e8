/* What the files of this module share. */
#ifndef JOURNAL_IMPL_H
#define JOURNAL_IMPL_H

#include <sys/stat.h>

#include "journal.h"

enum { JOURNAL_STATE_PAGE = 1, JOURNAL_HOLDER_PAGE = 3 };

/* ---- journal_format.c ---- */

/* Does a file that begins with these 7 bytes claim to be a journal, of any version? */
bool journal_is_named(const char *first);

/* ---- journal_find.c ---- */

/* The journal's file, if it may be trusted; errno as of open. `dataset` is of the
 * dataset's file. */
int journal_open_trusted(const char *path, int flags, const struct stat *dataset,
                         const char **why);

/* Reads the state that the dataset's mark names. False: there is none; the phase is
 * JOURNAL_NONE still if none is whole. */
bool journal_read_state(struct journal *j);

/* ---- journal_owner.c ---- */

/* Writes down who works on it; on the device when it returns. */
int journal_write_holder(struct journal *j);

/* Gives the claim back. What is left to the next is said to be so. */
void journal_release(struct journal *j);

#endif
