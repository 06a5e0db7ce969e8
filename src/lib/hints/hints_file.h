/* Hints from a file in the format of E10's MPIWRAP: JSON with a list `File`, whose
 * entries have a `Path` and hints for datasets that match the path, and a list
 * `Guardnames` of datasets whose close may be deferred. Does not use MPI. */
#ifndef HINTS_FILE_H
#define HINTS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_arena.h"

enum { HINTS_FILE_MOST = 4 << 20 }; /* maximum size in bytes; a larger file is not read */

/* Position in the file. Lines and columns start at 1, and columns count characters. */
struct hints_file_place {
    int line, column;
};

struct hints_file_pair {
    const char *key, *value;
    struct hints_file_place place; /* position of the key */
};

struct hints_file_entry {
    const char *path;
    struct hints_file_place place; /* position of the path */
    struct hints_file_pair *pairs;
    int npairs;
    bool guard; /* from Guardnames: matching datasets use deferred close */
};

struct hints_file {
    struct base_arena arena;
    const char *name;                 /* path of the file */
    struct hints_file_entry *entries; /* those from Guardnames come first */
    int nentries, nguards;
    const char **guards; /* names in Guardnames */
    struct hints_file_place guarded;
    /* Called for each ignored part. May be NULL. nwarned counts these parts. */
    void (*warn)(const struct hints_file *f, struct hints_file_place place,
                 const char *words);
    int nwarned;
    void *of; /* first argument of warn */
};

/* Reads a file. The caller sets name, warn and of; all other members are zero. NC_EINVAL,
 * with a message that contains file, line and column: the file is not regular, is too
 * large, is not valid JSON or does not have this format, or the library was built without
 * jansson. NC_ENOMEM. The caller must call hints_file_free in any case. */
int hints_file_read(struct hints_file *f);

/* Parses the text of a hints file. */
int hints_file_parse(struct hints_file *f, const char *text, size_t length);

void hints_file_free(struct hints_file *f);

/* Returns whether the entry matches the dataset with this absolute path. An entry from
 * Guardnames also matches if its path is a prefix of the last path component. */
bool hints_file_entry_matches(const struct hints_file_entry *e, const char *full);

#endif
