/* Output in big chunks: text collects in a buffer that is written when it is full. */
#ifndef UTIL_OUT_H
#define UTIL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { UTIL_OUT_SIZE = 1 << 18, UTIL_OUT_PIECE = 1 << 12 };

struct util_out {
    int fd;     /* -1: text collects in memory */
    char *text; /* ... there, for base_free */
    size_t length;
    int error; /* errno of the first write that failed, or 0; nothing is written after */
    size_t used; /* bytes that wait in the buffer */
    char bytes[UTIL_OUT_SIZE];
};

void util_out_init(struct util_out *out, int fd);

/* For what is not written: util_out_flush brings it to text, with a NUL behind it, and
 * length. */
void util_out_init_memory(struct util_out *out);

/* Writes what waits. 0, or the errno of the first write that failed since the start. */
int util_out_flush(struct util_out *out);

/* Does it go to a terminal that has colours, and is nobody against them (NO_COLOR)? */
bool util_out_colours(const struct util_out *out);

/* Room for at most UTIL_OUT_PIECE bytes; util_out_advance tells how many were used. */
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

/* As printf does; at most UTIL_OUT_PIECE - 1 bytes, the rest is cut off. */
__attribute__((format(printf, 2, 3))) void util_out_print(struct util_out *out,
                                                          const char *format, ...);

#endif
