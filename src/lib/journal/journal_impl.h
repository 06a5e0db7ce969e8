/* Declarations shared by this module's files: trust, identity, comparison of the first
 * bytes, and the owner's record. */
#ifndef JOURNAL_IMPL_H
#define JOURNAL_IMPL_H

#include <sys/stat.h>

#include "base_lock.h"
#include "journal.h"

enum { JOURNAL_STATE_PAGE = 1, JOURNAL_RECORD_PAGE = 3 };

/* ---- journal_format.c ---- */

/* Returns whether these first 7 bytes identify a journal of any version. */
bool journal_is_named(const char *first);

/* ---- journal_open.c ---- */

/* Sets the identity, permissions, size and header offset of the dataset open as j->file.
 * NC_EFILE, NC_EREAD. */
int journal_describe_dataset(struct journal *j);

/* Opens the journal's file if it can be trusted. Otherwise returns -1, sets *why to the
 * reason, and sets errno as open does. `dataset` is the status of the dataset's file. */
int journal_open_trusted(const char *path, int flags, const struct stat *dataset,
                         const char **why);

/* ---- journal_facts.c ---- */

/* Reads the first page of a journal. Returns NULL, or a message that describes what is
 * wrong with it. Sets *size to the file's size, or to -1 if the page cannot be read. */
const char *journal_read_facts(int fd, struct journal_facts *f, int64_t *size);

/* Returns whether the facts and the status describe the same file. */
bool journal_same_file(const struct journal_facts *a, const struct journal_facts *b);

/* Reads the journal's first page and its owner's record. Returns whether both are valid
 * and belong to the file that `j` has open. */
bool journal_belongs(struct journal *j);

/* ---- journal_head.c ---- */

enum journal_head {
    JOURNAL_HEAD_OTHER,  /* a header or mark that this journal does not know */
    JOURNAL_HEAD_OURS,   /* the old or the new header */
    JOURNAL_HEAD_MARK,   /* the journal's mark */
    JOURNAL_HEAD_TORN,   /* a mixture, left by an interrupted write */
    JOURNAL_HEAD_UNSURE, /* a mixture, or a header with more records */
};

/* Reads the dataset's first bytes into j->head and compares them with the journal, whose
 * facts and owner have been read. Sets j->state to the state that the mark names or, if
 * the bytes are torn, to the latest valid state. Its phase is JOURNAL_NONE if no state is
 * intact. NC_EREAD, NC_ENOMEM. */
int journal_examine_head(struct journal *j, enum journal_head *is);

/* ---- journal_record.c ---- */

/* Writes the owner's record and flushes it. */
int journal_write_record(struct journal *j);

/* Reads the current owner's record, which another process may have written. Returns false
 * if there is none or it is torn. */
bool journal_read_record(int fd, struct journal_record *h);

/* Tries to lock the dataset's layout through the guard, exclusively (`alone`) or shared.
 */
enum base_locked journal_lock(const struct journal *j, bool alone);

/* Gives up the claim. If another process must finish the redefinition, records this in
 * the journal. */
void journal_release(struct journal *j);

#endif
