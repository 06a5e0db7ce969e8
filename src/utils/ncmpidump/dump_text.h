/* Characters as CDL strings, given in pieces of any length. */
#ifndef DUMP_TEXT_H
#define DUMP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "util_out.h"

struct dump_text {
    struct util_out *out;
    const char *indent; /* of the string begun after a newline; NULL: none is */
    bool escape_high;   /* write bytes beyond ASCII as octal numbers */
    size_t nuls;        /* seen and not written: those at the end are dropped */
};

/* One text: begin, pieces, end. */
void dump_text_begin(struct dump_text *t);
void dump_text_piece(struct dump_text *t, const void *bytes, size_t length);
void dump_text_end(struct dump_text *t);

#endif
