/* Buffers output to a descriptor or to memory. The buffer is written when it is full. */
#ifndef UTIL_OUT_H
#define UTIL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { UTIL_OUT_SIZE = 1 << 18, UTIL_OUT_PIECE = 1 << 12 };

struct util_out {
    int fd;     /* descriptor, or -1 for output to memory */
    char *text; /* output to memory, to be freed with base_free */
    size_t length;
    int error;   /* errno of the first failed write, which stops output; 0 if none */
    size_t used; /* bytes in the buffer */
    char bytes[UTIL_OUT_SIZE];
};

void util_out_init(struct util_out *out, int fd);

/* Starts output to memory. util_out_flush appends the buffer and a NUL to `text`, and
 * sets `length`. */
void util_out_init_memory(struct util_out *out);

/* Flushes the buffer. Returns 0, or the errno of the first write that failed. */
int util_out_flush(struct util_out *out);

/* Returns whether to use colours: true if the output is a terminal that supports them and
 * NO_COLOR is not set. */
bool util_out_colours(const struct util_out *out);

/* Returns space for UTIL_OUT_PIECE bytes. The caller passes the number of bytes used to
 * util_out_advance. */
static inline char *util_out_room(struct util_out *out)
{
    if (UTIL_OUT_SIZE - out->used < UTIL_OUT_PIECE) util_out_flush(out);
    return out->bytes + out->used;
}

static inline void util_out_advance(struct util_out *out, size_t length)
{
    out->used += length;
}

void util_out_bytes(struct util_out *out, const void *bytes, size_t length);
void util_out_text(struct util_out *out, const char *text);

/* Same as printf, but truncates the output to UTIL_OUT_PIECE - 1 bytes. */
__attribute__((format(printf, 2, 3))) void util_out_print(struct util_out *out,
                                                          const char *format, ...);

#endif
