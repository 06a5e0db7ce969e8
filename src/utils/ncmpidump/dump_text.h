/* Prints characters as CDL strings. The text may arrive in pieces of any length. */
#ifndef DUMP_TEXT_H
#define DUMP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "util_out.h"

struct dump_text {
    struct util_out *out;
    const char *indent; /* indentation of the new string that starts after each newline;
                         * NULL to keep one string */
    bool escape_high;   /* write bytes beyond ASCII as octal escapes */
    size_t nuls;        /* NULs read but not yet printed; those at the end of the text are
                         * dropped */
};

/* Prints one text: call begin, then piece any number of times, then end. */
void dump_text_begin(struct dump_text *t);
void dump_text_piece(struct dump_text *t, const void *bytes, size_t length);
void dump_text_end(struct dump_text *t);

#endif
