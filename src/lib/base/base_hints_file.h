/* Hints from a file, in the form of E10's MPIWRAP: JSON with a list `File`, of which each
 * entry has a `Path` and hints for the datasets that this names, and `Guardnames` of
 * those whose close may be deferred. No MPI. */
#ifndef BASE_HINTS_FILE_H
#define BASE_HINTS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_arena.h"

enum { BASE_HINTS_FILE_MOST = 4 << 20 }; /* bytes; a larger file is not read */

/* Columns count characters, and both from 1. */
struct base_file_place {
    int line, column;
};

struct base_file_pair {
    const char *key, *value;
    struct base_file_place place; /* of the key */
};

struct base_file_entry {
    const char *path;
    struct base_file_place place; /* of the path */
    struct base_file_pair *pairs;
    int npairs;
    bool guard; /* one of Guardnames: of what it names the close is deferred */
};

struct base_hints_file {
    struct base_arena arena;
    const char *name;                /* of the file */
    struct base_file_entry *entries; /* those of Guardnames come first */
    int nentries, nguards;
    const char **guards; /* their names */
    struct base_file_place guarded;
    /* Told of what is passed over in a file that is taken, nwarned things so far; NULL:
     * nobody wants to know. */
    void (*warn)(const struct base_hints_file *f, struct base_file_place place,
                 const char *words);
    int nwarned;
    void *of; /* passed to warn */
};

/* Reads a file; name, and warn and of, are set, all else is zero. What is no regular
 * file, too large, no JSON or not of the form is NC_EINVAL, with words that tell file,
 * line and column; so is every file where jansson is lacking, which reads JSON.
 * NC_ENOMEM. In any case base_hints_file_free is due. */
int base_hints_file_read(struct base_hints_file *f);

/* The same for bytes that were read. */
int base_hints_file_parse(struct base_hints_file *f, const char *text, size_t length);

void base_hints_file_free(struct base_hints_file *f);

/* Does the entry name this dataset, whose path is from the root? A guard also names what
 * its last name begins with. */
bool base_file_entry_names(const struct base_file_entry *e, const char *full);

#endif
